#include "synthesis/pccl/balanced/balanced.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "synthesis/compose.hpp"
#include "synthesis/pccl/balanced/balanced_routes.hpp"
#include "synthesis/pccl/balanced/way_play.hpp"
#include "synthesis/pccl/paths/network.hpp"
#include "synthesis/pccl/paths/order.hpp"
#include "synthesis/pccl/paths/paths.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/topology/distance.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostVertices = std::size_t{1} << 16U;  ///< numbers of links to go have 16 bits
constexpr std::size_t kMostSends = std::size_t{1} << 32U;     ///< places on ways, and their order, have 32 bits
/// A schedule that is longer than the busiest link's time by less than this share is not justified.
constexpr std::int64_t kGoodEnough = 500;
constexpr std::uint64_t kMostSendsOfTwoRounds = std::uint64_t{1} << 22U;
constexpr std::uint64_t kMostSendsOfOneRound = std::uint64_t{1} << 26U;
constexpr double kDetours = 1.1;  ///< links of a way, over those of a shortest one
// Ways twice while they are balanced, or ways and the schedules of two plays; where plays are justified also two
// orders.
constexpr std::size_t kBytesPerSend = 30;
constexpr std::size_t kBytesPerJustifiedSend = 46;
constexpr std::size_t kBytesPerUnicast = 72;
constexpr std::size_t kBytesPerLink = 150;
constexpr std::size_t kBytesPerLane = 1200;  ///< two queues of events

int rounds_of(std::uint64_t sends) {
  return sends <= kMostSendsOfTwoRounds ? 2 : sends <= kMostSendsOfOneRound ? 1 : 0;
}

/// Links to the destinations of stored conditions: the mean over those of some sources.
double hops_of_conditions(const SynthesisProblem& problem, GroupId group) {
  constexpr std::size_t kSources = 8;
  const auto& members = problem.collective.groups()[group.index()].members;
  const auto conditions = problem.collective.conditions(group);
  double hops = 0;
  double counted = 0;
  for (std::size_t i = 0; i < kSources; ++i) {
    const auto source = conditions[i * conditions.size() / kSources].source;
    const auto row = hops_from(problem.topology, vertex_of(members[source]));
    auto each = std::ranges::lower_bound(conditions, source, {}, &Condition::source);
    for (; each != conditions.end() && each->source == source; ++each) {
      const auto distance = row[members[each->destinations.front()].index()];
      if (distance == kNoHops) continue;
      hops += distance;
      ++counted;
    }
  }
  return std::max(1.0, hops / std::max(1.0, counted));
}

double expected_sends(const SynthesisProblem& problem) {
  const auto& collective = problem.collective;
  const double hops = mean_hops(problem.topology);
  double sends = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto group = GroupId::at(g);
    const bool stored = !collective.conditions(group).empty();
    sends += static_cast<double>(collective.chunks_in(group)) * (stored ? hops_of_conditions(problem, group) : hops);
  }
  return sends * kDetours;
}

bool has_only_conditions(const Collective& collective) {
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    if (!stores_conditions(collective.kind(GroupId::at(g)))) return false;
  return true;
}

/// The chunks that have to go anywhere.
std::vector<Unicast> unicasts_of(const Collective& collective) {
  std::vector<Unicast> unicasts;
  for (std::size_t c = 0; c < collective.chunks(); ++c) {
    const ChunkId chunk = ChunkId::at(c);
    const NpuId from = collective.source(chunk);
    const NpuId to = collective.destination(chunk);
    if (from != to)
      unicasts.push_back(
          {chunk, vertex_of(from), vertex_of(to), static_cast<std::uint32_t>(collective.size_class(chunk))});
  }
  return unicasts;
}

}  // namespace

std::optional<std::string> balanced_unsuitable(const SynthesisProblem& problem) {
  if (!problem.collective.is_unicast()) return "it takes only chunks with one destination each, and makes no sums";
  if (problem.topology.switches() > 0 && !has_only_conditions(problem.collective))
    return "over switches it takes conditions alone, such as those of an all_to_allv";
  if (limits_buffers(problem.topology)) return "it does not limit buffers";
  if (problem.topology.vertices() > kMostVertices) return "it takes up to 65,536 vertices";
  if (problem.topology.wires() != nullptr) return "it does not send over switches that cut through";
  if (problem.topology.varies()) return "it has no bandwidth that varies";
  return std::nullopt;
}

Result<Gathered> balance_unicasts(const SynthesisProblem& problem) {
  if (auto reason = balanced_unsuitable(problem))
    return input_error({}, "the engine `balanced` cannot make this schedule", *std::move(reason),
                       "leave the engine to `auto`");
  const auto unicasts = unicasts_of(problem.collective);
  const SizedHops hops(problem);
  const auto routes = balance_routes(problem.topology, hops, unicasts, best_cheap_bound({problem, true}).time);
  // What cannot be reached is told as by the search that finds each way by itself.
  if (!routes) return order_conditions(problem, PathNetwork(problem), {}).errors();
  if (routes->ways.links.size() >= kMostSends)
    return resource_error(fmt::format("{} sends", routes->ways.links.size()),
                          fmt::format("the engine `balanced` counts up to {}", kMostSends),
                          "choose another engine, or fewer chunks");
  const WayPlays plays{routes->most + routes->most / kGoodEnough, rounds_of(routes->ways.links.size())};
  auto played = play_ways(problem.topology, hops, unicasts, routes->ways, plays);
  Gathered made;
  made.schedule = std::move(played.schedule);
  made.time = played.time;
  made.engine = "balanced";
  made.rate_time = routes->most;
  return made;
}

std::size_t balanced_bytes(const SynthesisProblem& problem) {
  const double sends = expected_sends(problem);
  // What all leaves or reaches one NPU waits there alone, and is not justified.
  const auto kind = problem.collective.kind();
  const bool rooted = kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
  const std::size_t sizes = problem.topology.classes().size() * problem.collective.chunk_sizes().size();
  const bool justified = !rooted && rounds_of(static_cast<std::uint64_t>(sends)) > 0;
  return static_cast<std::size_t>(sends) * (justified ? kBytesPerJustifiedSend : kBytesPerSend) +
         problem.collective.chunks() * kBytesPerUnicast + problem.topology.links() * kBytesPerLink +
         sizes * sizeof(HopTime) + std::min(sizes, problem.topology.links()) * kBytesPerLane + (std::size_t{1} << 20U);
}

Work balanced_work(const SynthesisProblem& problem) {
  const double sends = expected_sends(problem);
  const int plays = 1 + 2 * rounds_of(static_cast<std::uint64_t>(sends));
  return Work(WorkUnit::balanced_hop, sends * plays);
}

}  // namespace tenex
