// Sorts directions into lanes, and finds the lower bound.
#include "synthesis/tacos/symmetric/orbit_setup.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "tenex/bound/bound.hpp"

namespace tenex {

namespace {

constexpr std::uint32_t kMuchLonger = 2;

/// The rank of each value among the distinct ones.
template <class Value>
std::vector<std::uint32_t> ranks_of(const std::vector<Value>& values) {
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::uint32_t> ranks;
  for (const auto& value : values)
    ranks.push_back(static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  return ranks;
}

}  // namespace

OrbitSetup::OrbitSetup(const SynthesisProblem& problem, const TranslationGroup& symmetries)
    : group(symmetries),
      offsets(group),
      chunks(static_cast<std::uint32_t>(problem.collective.chunks_per_npu())),
      required((group.npus() - 1) * std::uint64_t{chunks}) {
  std::vector<OrbitLane> lane_of_direction;
  for (const auto& direction : group.directions()) {
    const auto& link_class = problem.topology.classes()[direction.link_class];
    const HopTime hop = hop_time(link_class, problem.collective.chunk_sizes()[0], problem.occupancy);
    lane_of_direction.push_back({hop.busy.count(), hop.latency.count()});
    steps.push_back(offsets.step(direction));
  }
  lanes = lane_of_direction;
  std::sort(lanes.begin(), lanes.end(), [](const OrbitLane& a, const OrbitLane& b) {
    return a.latency != b.latency ? a.latency < b.latency : a.busy < b.busy;
  });
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  for (const auto& lane : lane_of_direction)
    lane_of.push_back(static_cast<std::uint32_t>(std::find(lanes.begin(), lanes.end(), lane) - lanes.begin()));
  set_rankings();
  set_bound(problem);
}

/// Ranks by speed, because a slow direction should not deliver what a fast one could; then by speed and length, because
/// a short dimension soon runs out of items unless the long ones advance; then all alike.
void OrbitSetup::set_rankings() {
  std::vector<std::uint32_t> by_speed;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> by_length;
  bool uneven = false;
  for (const auto& dimension : group.dimensions()) {
    by_speed.push_back(lane_of[dimension.first_direction]);
    by_length.emplace_back(by_speed.back(), dimension.farthest_hops);
    for (const auto& other : group.dimensions())
      uneven = uneven || (lane_of[other.first_direction] == by_speed.back() &&
                          other.farthest_hops > kMuchLonger * dimension.farthest_hops);
  }
  if (uneven) add_ranking(ranks_of(by_length));
  add_ranking(by_speed);
  add_ranking(ranks_of(by_length));
  add_ranking(std::vector<std::uint32_t>(by_speed.size(), 0));
}

void OrbitSetup::add_ranking(const std::vector<std::uint32_t>& rank_of_dimension) {
  Ranking ranking;
  const std::uint32_t ranks = 1 + *std::max_element(rank_of_dimension.begin(), rank_of_dimension.end());
  ranking.own_fields.assign(ranks, ~std::uint64_t{0});
  for (std::size_t i = 0; i < rank_of_dimension.size(); ++i)
    for (std::uint32_t rank = rank_of_dimension[i] + 1; rank < ranks; ++rank)
      ranking.own_fields[rank] &= ~offsets.field(i);
  for (const auto& direction : group.directions()) ranking.rank_of.push_back(rank_of_dimension[direction.dimension]);
  if (std::find(rankings.begin(), rankings.end(), ranking) == rankings.end()) rankings.push_back(std::move(ranking));
}

/// The strongest of the bounds on one NPU, where all NPUs see the same network (`relay` is never below `ejection`).
void OrbitSetup::set_bound(const SynthesisProblem& problem) {
  constexpr std::array<std::string_view, 4> names = {"relay", "slices", "eccentricity", "pipeline"};
  for (const auto& method : bound_methods())
    if (std::find(names.begin(), names.end(), method.name) != names.end())
      if (const auto time = method.compute({{problem.topology, problem.collective, problem.occupancy}}))
        bound = std::max(bound, time->count());
}

}  // namespace tenex
