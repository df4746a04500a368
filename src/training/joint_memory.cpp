// Bytes of joint replays, from counts of sends.
#include "training/joint_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/simulation/joint_replay.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/plan.hpp"
#include "training/dimension_network.hpp"
#include "training/synthesized_time.hpp"

namespace tenex {
namespace {

constexpr double kMostSends = 1e15;  // no host has the bytes for more, and products stay in range

std::vector<Communication> spanned(const Layer& layer, Phase phase, bool synchronize, const Mapping& mapping) {
  std::vector<Communication> stream;
  for (const auto& communication : layer.at(phase).communications)
    if ((synchronize || !once_per_iteration(phase, communication)) && !mapping.span(communication.scope).shares.empty())
      stream.push_back(communication);
  return stream;
}

Dimensions dimensions_of(const std::vector<Communication>& stream, const Mapping& mapping) {
  Dimensions all;
  for (const auto& communication : stream)
    if (is_collective(communication, mapping)) all = united(all, dimensions_of(mapping.span(communication.scope)));
  return all;
}

std::size_t npus_of(const Shape& shape, const Dimensions& dimensions) {
  std::size_t npus = 1;
  for (const auto dimension : dimensions) npus *= shape.blocks[dimension].size;
  return npus;
}

/// Links of a shortest path between two members of a group, on average over all pairs.
double mean_links(const GroupSpan& span, const Shape& shape, bool switches) {
  double links = 0;
  for (const auto& [dimension, extent, members, stride] : span.shares) {
    const Block& block = shape.blocks[dimension];
    const auto& rule = *block.rule;
    double sum = 0;
    for (std::uint32_t step = 1; step < members; ++step) {
      const auto apart = step * stride;
      const double ways = rule.through_switch && !switches
                              ? 2.0
                              : static_cast<double>(rule.hops(0, apart, block)) + rule.hops(apart, 0, block);
      sum += ways * (members - step);
    }
    links += sum / (static_cast<double>(members) * members);
  }
  const auto members = static_cast<double>(span.members());
  return std::max(1.0, links * members / (members - 1));
}

/// The sends of all groups in one copy of their dimensions.
double sends_of(const DesignPoint& point, const GroupSpan& span, const Shape& shape, double groups, SendCount count) {
  const auto members = static_cast<double>(span.members());
  const double passes = passes_of(point.collective().kind);
  const double deliveries = groups * static_cast<double>(point.chunks) * members * (members - 1) * passes;
  const bool synthesized = find_synthesizer(point.algorithm) != nullptr;
  const double links = mean_links(span, shape, point.topology.unwind == 0);
  const bool by_link = synthesized && !plays_on_switches(point);
  if (count == SendCount::expected) return by_link ? deliveries : deliveries * links;
  if (!sends_single_chunks(point)) return groups * passes * (members - 1);
  const auto* algorithm = find_algorithm(point.algorithm);
  return algorithm != nullptr && algorithm->straight ? deliveries * links * (1 - 1e-9) : deliveries;
}

/// One communication of a stream, in one copy of its dimensions and in all of them.
struct PartCount {
  std::size_t sends = 0;
  std::size_t copies = 1;
  JointPartSizes all;
};

PartCount count_part(const TrainingNetwork& network, const Mapping& mapping, const Communication& communication,
                     const Dimensions& both, SendCount count) {
  const auto& shape = mapping.shape();
  const auto& span = mapping.span(communication.scope);
  const auto inner = dimensions_of(span);
  auto point = synthesized_point(network, inner, communication);
  fit_chunks(point, span.members());
  const auto groups = npus_of(shape, inner) / static_cast<std::size_t>(span.members());
  const auto sends = sends_of(point, span, shape, static_cast<double>(groups), count);
  PartCount part;
  part.copies = npus_of(shape, both) / npus_of(shape, inner);
  part.sends = static_cast<std::size_t>(std::min(sends, kMostSends / static_cast<double>(part.copies)));
  part.all.sends = part.sends * part.copies;
  const bool hops = find_synthesizer(point.algorithm) == nullptr || plays_on_switches(point);
  part.all.messages = count == SendCount::expected && hops;
  part.all.early = point.topology.switches.forwarding == SwitchForwarding::virtual_cut_through;
  const auto members = static_cast<std::size_t>(span.members());
  const auto chunks = npus_of(shape, both) * static_cast<std::size_t>(point.chunks);
  part.all.table_words = chunks * members;
  if (point.collective().kind == CollectiveKind::all_to_all)
    part.all.other_words = part.all.sends - std::min(part.all.sends, chunks * (members - 1));
  return part;
}

struct StreamCount {
  std::vector<JointPartSizes> parts;
  std::size_t spread = 0;
  std::size_t held = 0;
};

/// Whether the same schedule serves both; their scopes may differ in name.
bool are_alike(const Communication& a, const Communication& b, const Mapping& mapping) {
  return a.kind == b.kind && a.size == b.size && mapping.span(a.scope) == mapping.span(b.scope);
}

/// Counts a stream in the way in which the replay builds it: each distinct communication is spread once, while the
/// earlier ones are held.
StreamCount count_stream(const TrainingNetwork& network, const Mapping& mapping,
                         const std::vector<Communication>& stream, const Dimensions& both, SendCount count) {
  constexpr std::size_t kBytesHeld = sizeof(SimTime) + sizeof(LinkId) + sizeof(ChunkId);
  StreamCount total;
  std::vector<Communication> known;
  for (const auto& communication : stream) {
    if (!is_collective(communication, mapping)) continue;
    const auto part = count_part(network, mapping, communication, both, count);
    total.parts.push_back(part.all);
    const auto alike = [&](const Communication& other) { return are_alike(communication, other, mapping); };
    if (std::ranges::any_of(known, alike)) continue;
    known.push_back(communication);
    if (part.copies > 1)
      total.spread = std::max(total.spread, total.held + tenex::spread_bytes(part.sends, 0, part.copies));
    if (part.copies > 1) total.held += part.all.sends * kBytesHeld;
  }
  return total;
}

/// Whether two spans share a link of a dimension (proof in the header). An unwound switch has separate links for some
/// pairs.
bool share_line(const DimensionShare& a, const DimensionShare& b, const BlockRule& rule, std::uint32_t degree) {
  const auto& [closer, wider] = a.stride < b.stride ? std::pair(a, b) : std::pair(b, a);
  return (!rule.through_switch || degree <= 1) &&
         rule.parts_share({closer.extent, closer.members, closer.stride}, {wider.extent, wider.members, wider.stride});
}

bool surely_share(const GroupSpan& a, const GroupSpan& b, const Shape& shape, std::uint32_t degree) {
  std::size_t common = 0;
  bool shared = false;
  for (const auto& left : a.shares)
    for (const auto& right : b.shares) {
      if (left.dimension != right.dimension) continue;
      ++common;
      shared = share_line(left, right, *shape.blocks[left.dimension].rule, degree);
    }
  return common == 1 && shared;
}

}  // namespace

std::vector<JointPair> joint_pairs(const Iteration& iteration, TrainingLoop loop) {
  std::vector<JointPair> pairs;
  if (loop != TrainingLoop::tp_dp_overlap) return pairs;
  const auto& [workload, mapping, rate, batch, memory] = iteration;
  const bool several_turns = workload.microbatches > 1 || mapping.degrees().pipeline > 1;
  for (const auto& block : workload.blocks)
    for (const auto& layer : block.layers)
      for (const bool synchronize : {true, false}) {
        if (!synchronize && !several_turns) continue;
        JointPair pair{spanned(layer, Phase::input_gradient, synchronize, mapping),
                       spanned(layer, Phase::weight_gradient, synchronize, mapping),
                       compute_time(layer.at(Phase::weight_gradient).compute, rate)};
        if (are_disjoint(dimensions_of(pair.first, mapping), dimensions_of(pair.second, mapping))) continue;
        if (std::ranges::find(pairs, pair) == pairs.end()) pairs.push_back(std::move(pair));
      }
  return pairs;
}

std::size_t JointNeed::limit() const {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  const auto spread = spread_bytes > most / 4 ? most : spread_bytes * 4;
  const auto replay = replay_bytes > most / 2 ? most : replay_bytes * 2;
  return std::max(spread, replay);
}

JointNeed joint_need(const TrainingNetwork& network, const Mapping& mapping, const JointPair& pair, SendCount count) {
  const auto both = united(dimensions_of(pair.first, mapping), dimensions_of(pair.second, mapping));
  const auto first = count_stream(network, mapping, pair.first, both, count);
  const auto second = count_stream(network, mapping, pair.second, both, count);
  Shape shape;
  for (const auto dimension : both) shape.blocks.push_back(mapping.shape().blocks[dimension]);
  const auto degree = network.point.topology.unwind;
  JointNeed need;
  need.spread_bytes = std::max(first.spread, second.spread);
  need.replay_bytes =
      joint_replay_bytes(static_cast<std::size_t>(sizes_of(shape, degree).links), first.parts, second.parts);
  need.held_bytes = first.held + second.held;
  for (const auto* stream : {&first, &second})
    for (const auto& part : stream->parts) need.sends += static_cast<double>(part.sends);
  return need;
}

bool may_share(const Mapping& mapping, const JointPair& pair) {
  const auto first = dimensions_of(pair.first, mapping);
  const auto second = dimensions_of(pair.second, mapping);
  return std::ranges::any_of(first, [&](std::size_t dimension) {
    return std::ranges::find(second, dimension) != second.end() &&
           !mapping.shape().blocks[dimension].rule->all_neighbours;
  });
}

bool surely_share(const TrainingNetwork& network, const Mapping& mapping, const JointPair& pair) {
  const auto degree = network.point.topology.unwind;
  for (const auto& a : pair.first)
    for (const auto& b : pair.second)
      if (is_collective(a, mapping) && is_collective(b, mapping) &&
          surely_share(mapping.span(a.scope), mapping.span(b.scope), mapping.shape(), degree))
        return true;
  return false;
}

Status check_joint_memory(const TrainingNetwork& network, const Iteration& iteration, TrainingLoop loop) {
  const auto limit = network.options.memory_limit_bytes;
  const auto& mapping = iteration.mapping;
  for (const auto& pair : joint_pairs(iteration, loop)) {
    const auto need = joint_need(network, mapping, pair, SendCount::fewest);
    if (need.limit() <= limit || !surely_share(network, mapping, pair)) continue;
    return resource_error(
        fmt::format("communications side by side need a limit of at least {} bytes", need.limit()),
        fmt::format("the sends of all groups need {} bytes within a quarter of it, their replay {} bytes within half; "
                    "the limit is {} bytes",
                    need.spread_bytes, need.replay_bytes, limit),
        "raise the limit, run it on a larger host, or use contention = \"none\"");
  }
  return success();
}

}  // namespace tenex
