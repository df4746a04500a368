// Choices of levels take turns, and with them paces and rarity.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/relays.hpp"
#include "synthesis/tacos/event_driven/event_driven.hpp"
#include "synthesis/tacos/event_driven/gather_engine.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {
namespace {

// Levels of links by the dimensions of a shape, for networks in which cost does not tell which links should bring
// chunks to the others.
//
// Idea: along a long dimension a chunk travels far, and each hop is made by few links. If these carry chunks that the
// target's neighbours in a short dimension hold already, the short dimension soon runs out of chunks to spread: a line
// of 11 fully connected blocks of 14 was measured at 0.69 of its bound. So links of a long dimension are treated as
// slow ones (cost_levels.hpp): they leave to the short dimensions what these can deliver.
//
// Orders of dimensions.

/// Far more than the factor between two levels of CostLevels.
constexpr unsigned kBitsPerLevel = 2;
constexpr std::size_t kMostDimensions = 6;

struct SpannedDimension {
  std::uint32_t size = 1;
  std::uint32_t stride = 1;
  std::int64_t farthest_hops = 1;
  std::int64_t latency = 0;  ///< of its first link
};

/// The dimensions of several NPUs; empty where the topology is no product of blocks.
std::vector<SpannedDimension> dimensions_of(const Topology& topology) {
  const auto& unwound = topology.unwound_shape();
  const Shape* shape = topology.shape() ? &*topology.shape() : nullptr;
  if (unwound) shape = &unwound->shape;
  std::vector<SpannedDimension> dimensions;
  if (shape == nullptr || !shape->is_product() || !topology.direct()) return dimensions;
  std::uint32_t stride = 1;
  for (const Block& block : shape->blocks) {
    if (block.size > 1) {
      std::int64_t hops = block.rule->diameter_hops(block);
      if (unwound && block.rule->through_switch) {
        const std::int64_t degree = std::min(unwound->degree, block.size - 1);
        hops = (block.size - 2 + degree) / degree;
      }
      dimensions.push_back({block.size, stride, hops});
    }
    stride *= block.size;
  }
  return dimensions;
}

/// The dimension along which a link leads: the only one in which its ends differ.
std::size_t dimension_of(const Topology& topology, LinkId link, const std::vector<SpannedDimension>& dimensions) {
  const std::uint32_t from = topology.source(link).value();
  const std::uint32_t to = topology.target(link).value();
  for (std::size_t i = 0; i + 1 < dimensions.size(); ++i)
    if (from / dimensions[i].stride % dimensions[i].size != to / dimensions[i].stride % dimensions[i].size) return i;
  return dimensions.size() - 1;
}

/// The rank of each dimension among the distinct keys.
template <class Key>
std::vector<std::uint32_t> ranks_by(const std::vector<SpannedDimension>& dimensions, const Key& key) {
  std::vector<std::uint32_t> ranks;
  for (const auto& one : dimensions) {
    std::vector<decltype(key(one))> less;
    for (const auto& other : dimensions)
      if (key(other) < key(one)) less.push_back(key(other));
    std::sort(less.begin(), less.end());
    less.erase(std::unique(less.begin(), less.end()), less.end());
    ranks.push_back(static_cast<std::uint32_t>(less.size()));
  }
  return ranks;
}

/// One dimension above all others, in turn from the longest.
void add_single_ones(const std::vector<SpannedDimension>& dimensions, std::vector<std::vector<std::uint32_t>>& orders) {
  const auto longest = ranks_by(dimensions, [](const SpannedDimension& each) { return -each.farthest_hops; });
  for (std::uint32_t rank = 0; rank < dimensions.size(); ++rank)
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      if (longest[i] != rank) continue;
      orders.emplace_back(dimensions.size(), 0);
      orders.back()[i] = 1;
    }
}

/// A level cost for every link, by dimension; several choices, the most promising first. Empty unless the topology is
/// an intact product of two dimensions or more, perhaps with its switches unwound. O(links * choices).
std::vector<std::vector<std::int64_t>> dimension_levels(const SynthesisProblem& problem) {
  const Topology& topology = problem.topology;
  auto dimensions = dimensions_of(topology);
  if (dimensions.size() < 2 || dimensions.size() > kMostDimensions) return {};
  std::vector<std::size_t> along(topology.links());
  for (std::size_t link = topology.links(); link-- > 0;) {
    along[link] = dimension_of(topology, LinkId::at(link), dimensions);
    dimensions[along[link]].latency = hop_time(topology.classes()[topology.class_of(LinkId::at(link))],
                                               problem.collective.chunk_sizes()[0], problem.occupancy)
                                          .latency.count();
  }
  std::vector<std::vector<std::uint32_t>> orders;
  orders.push_back(ranks_by(dimensions, [](const SpannedDimension& each) { return each.farthest_hops; }));
  orders.push_back(
      ranks_by(dimensions, [](const SpannedDimension& each) { return std::pair(each.latency, each.farthest_hops); }));
  orders.push_back(
      ranks_by(dimensions, [](const SpannedDimension& each) { return each.latency * each.farthest_hops; }));
  add_single_ones(dimensions, orders);
  std::vector<std::vector<std::int64_t>> levels;
  for (const auto& order : orders) {
    if (*std::max_element(order.begin(), order.end()) == 0) continue;
    std::vector<std::int64_t> costs;
    for (const std::size_t dimension : along) costs.push_back(std::int64_t{1} << (kBitsPerLevel * order[dimension]));
    if (std::find(levels.begin(), levels.end(), costs) == levels.end()) levels.push_back(std::move(costs));
  }
  return levels;
}

/// The settings of an attempt: levels turn fastest, then rarity.
struct Turn {
  std::size_t levels = 0;
  Pace pace = Pace::as_it_is;
  bool rare_first = false;
};

Turn turn_of(const SynthesisProblem& problem, std::size_t levels, std::uint32_t attempt) {
  const std::size_t round = attempt / levels;
  Turn turn{attempt % levels, Pace::as_it_is, round % 2 == 1};
  // Where alpha lets sends overlap, steps in lockstep often fit together better.
  if (problem.occupancy == Occupancy::serialization && attempt % 2 == 0) turn.pace = Pace::until_arrival;
  return turn;
}

}  // namespace

std::string by_dimension_unsuitable(const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_gather) return "one chunk has no other to leave links to";
  if (dimension_levels(problem).empty()) return "the topology is no product of unlike dimensions";
  return {};
}

Result<Gathered> gather_by_dimension(const SynthesisProblem& problem) {
  auto participants = find_participants(problem.topology, problem.collective);
  if (!participants) return participants.errors();
  const auto levels = dimension_levels(problem);
  const GatherSetup as_it_is(problem, *participants);
  const SimTime bound = best_cheap_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  const Digest key = synthesis_key(problem);
  Gathered best;
  best.time = SimTime::max();
  std::vector<TentativeSend> best_sends;
  for (std::uint32_t attempt = 0; attempt < std::max(1U, problem.attempts) && best.time > bound; ++attempt) {
    const Turn turn = turn_of(problem, levels.size(), attempt);
    const GatherSetup setup(problem, *participants, as_it_is.relays ? Pace::as_it_is : turn.pace, levels[turn.levels]);
    GatherEngine engine(setup);
    SimTime time = engine.run(attempt_stream(problem.seed, key, attempt), Reach::cluster, turn.rare_first);
    if (turn.pace != Pace::as_it_is && !as_it_is.relays) time = replay_sends(as_it_is, engine.sends());
    if (time >= best.time) continue;
    best.time = time;
    best.best_attempt = attempt;
    best_sends.swap(engine.sends());
  }
  best.schedule = make_list_schedule(to_sends(std::move(best_sends)));
  if (!as_it_is.relays) return best;
  Gathered pruned = without_waste(problem, best.schedule);
  pruned.best_attempt = best.best_attempt;
  return pruned;
}

std::size_t by_dimension_bytes(const SynthesisProblem& problem) {
  // Links have levels, so lists of sends grow beyond the deliveries, and both setups are held.
  constexpr double kMoreBytesPerSend = 32;
  constexpr double kMoreMatrices = 10;
  const double bits =
      static_cast<double>(BitMatrix::bytes_for(problem.topology.vertices(), problem.collective.chunks()));
  return event_driven_bytes(problem) +
         static_cast<std::size_t>(sends_of_one_pass(problem.collective) * kMoreBytesPerSend + kMoreMatrices * bits);
}

Work by_dimension_work(const SynthesisProblem& problem) {
  if (!problem.topology.homogeneous()) return event_driven_work(problem);
  const double passes = problem.collective.kind() == CollectiveKind::all_reduce ? 2 : 1;
  return event_driven_work(problem) +
         Work(WorkUnit::event_send_by_levels, passes * problem.attempts * sends_of_one_pass(problem.collective));
}

}  // namespace tenex
