// Sorts directions into lanes, and finds the lower bound.
#include "synthesis/orbit/orbit_setup.hpp"

#include <algorithm>
#include <utility>

#include "synthesis/orbit/weak_orders.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

namespace {

constexpr std::uint32_t kMuchLonger = 2;

}  // namespace

OrbitSetup::OrbitSetup(const SynthesisProblem& problem, const TranslationGroup& symmetries)
    : group(symmetries),
      offsets(group),
      chunks(static_cast<std::uint32_t>(problem.collective.chunks_per_npu())),
      required((group.npus() - 1) * std::uint64_t{chunks}),
      ports(orbit_ports(problem, group)) {
  std::vector<OrbitLane> lane_of_port;
  for (const OrbitPort& port : ports.all) lane_of_port.push_back({port.hop.busy.count(), port.hop.latency.count()});
  for (const auto& direction : group.directions()) steps.push_back(offsets.step(direction));
  lanes = lane_of_port;
  std::sort(lanes.begin(), lanes.end(), [](const OrbitLane& a, const OrbitLane& b) {
    return a.latency != b.latency ? a.latency < b.latency : a.busy < b.busy;
  });
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  for (const auto& lane : lane_of_port)
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
    by_speed.push_back(lane_of[ports.port_of[dimension.first_direction]]);
    by_length.emplace_back(by_speed.back(), dimension.farthest_hops);
    for (const auto& other : group.dimensions())
      uneven = uneven || (lane_of[ports.port_of[other.first_direction]] == by_speed.back() &&
                          other.farthest_hops > kMuchLonger * dimension.farthest_hops);
  }
  if (uneven) add_ranking(dense_ranks(by_length));
  add_ranking(by_speed);
  add_ranking(dense_ranks(by_length));
  add_ranking(std::vector<std::uint32_t>(by_speed.size(), 0));
  promising_rankings = rankings.size();
  if (lanes.size() > 1) add_other_rankings();
}

void OrbitSetup::add_other_rankings() {
  for (const auto& order : weak_orders(group.dimensions().size())) add_ranking(order);
}

void OrbitSetup::add_ranking(const std::vector<std::uint32_t>& rank_of_dimension) {
  Ranking ranking;
  const std::uint32_t ranks = 1 + *std::max_element(rank_of_dimension.begin(), rank_of_dimension.end());
  ranking.own_fields.assign(ranks, ~std::uint64_t{0});
  for (std::size_t i = 0; i < rank_of_dimension.size(); ++i)
    for (std::uint32_t rank = rank_of_dimension[i] + 1; rank < ranks; ++rank) {
      ranking.own_fields[rank] &= ~offsets.field(i);
      if (group.dimensions()[i].carry > 0) ranking.own_fields[rank] &= ~offsets.field(rank_of_dimension.size() - 1);
    }
  for (const OrbitPort& port : ports.all)
    ranking.rank_of.push_back(rank_of_dimension[group.directions()[port.first_direction].dimension]);
  if (std::find(rankings.begin(), rankings.end(), ranking) == rankings.end()) rankings.push_back(std::move(ranking));
}

/// The strongest of the bounds on one NPU, where all NPUs see the same network.
void OrbitSetup::set_bound(const SynthesisProblem& problem) {
  if (problem.topology.wires() != nullptr) {
    bound = bound_of_ports();
    return;
  }
  bound = largest_bound_with(&BoundMethod::one_for_all, {{problem.topology, problem.collective, problem.occupancy}})
              .count();
}

/// The bound `relay` for ports (until something arrives anywhere, a port carries chunks of neighbours only), and that
/// of positions: each chunk enters every other position along a dimension over the ports of that dimension.
std::int64_t OrbitSetup::bound_of_ports() const {
  std::int64_t first_arrival = lanes.front().latency;
  for (const OrbitLane& lane : lanes) first_arrival = std::min(first_arrival, lane.latency);
  std::int64_t low = 0;  // too short: every hop takes time
  std::int64_t high = 1;
  while (!may_deliver_all(high, first_arrival)) high *= 2;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (may_deliver_all(middle, first_arrival) ? high : low) = middle;
  }
  for (const auto& dimension : group.dimensions()) {
    const OrbitPort& port = ports.all[ports.port_of[dimension.first_direction]];
    const std::int64_t side_by_side = dimension.directions / port.directions;
    const std::int64_t entries = std::int64_t{dimension.size - 1} * chunks;
    const std::int64_t most = (entries + side_by_side - 1) / side_by_side;  // of one port
    high = std::max(high, (most - 1) * port.hop.busy.count() + port.hop.latency.count());
  }
  return high;
}

/// Whether the ports could deliver all items by that time if each found one for every send.
bool OrbitSetup::may_deliver_all(std::int64_t time, std::int64_t first_arrival) const {
  const auto all = static_cast<std::int64_t>(required);
  std::int64_t delivered = 0;
  for (const OrbitPort& port : ports.all) {
    const auto count = [&](std::int64_t until) {
      const std::int64_t first = port.hop.latency.count();
      return until < first ? 0 : std::min(all, (until - first) / port.hop.busy.count() + 1);
    };
    const std::int64_t of_neighbours = std::int64_t{port.directions} * chunks;
    delivered = std::min(all, delivered + std::min(count(time), of_neighbours + count(time - first_arrival)));
  }
  return delivered >= all;
}

}  // namespace tenex
