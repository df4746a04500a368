// Shortest times: breadth-first where all hops take the same time, else Dijkstra with a binary heap.
#include "tenex/topology/distance.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "tenex/base/bitset.hpp"
#include "topology/dimensions.hpp"

namespace tenex {

namespace {

std::vector<SimTime> breadth_first(const Topology& topology, VertexId source, SimTime hop) {
  std::vector<SimTime> arrival(topology.vertices(), SimTime::max());
  Bitset reached(topology.vertices());  // SimTime::max() cannot mark unreached vertices: a long path saturates there
  std::vector<VertexId> queue{source};
  arrival[source.index()] = SimTime::zero();
  reached.set(source.index());
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const SimTime next = saturating_sum(arrival[queue[head].index()], hop);
    for (const LinkId link : topology.out_links(queue[head])) {
      const VertexId there = topology.target(link);
      if (!reached.insert(there.index())) continue;
      arrival[there.index()] = next;
      queue.push_back(there);
    }
  }
  return arrival;
}

std::vector<SimTime> dijkstra(const Topology& topology, VertexId source, const std::vector<SimTime>& hop_of_class) {
  std::vector<SimTime> arrival(topology.vertices(), SimTime::max());
  using Entry = std::pair<SimTime, VertexId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  arrival[source.index()] = SimTime::zero();
  open.emplace(SimTime::zero(), source);
  while (!open.empty()) {
    const auto [time, at] = open.top();
    open.pop();
    if (time > arrival[at.index()]) continue;
    for (const LinkId link : topology.out_links(at)) {
      const SimTime next = saturating_sum(time, hop_of_class[topology.class_of(link)]);
      SimTime& there = arrival[topology.target(link).index()];
      if (next >= there) continue;
      there = next;
      open.emplace(next, topology.target(link));
    }
  }
  return arrival;
}

/// Distances add over the dimensions of a Cartesian product.
std::optional<SimTime> diameter_by_dimension(const Topology& topology) {
  const auto alphas = uniform_alphas(topology);
  if (!alphas) return std::nullopt;
  SimTime total;
  for (std::size_t i = 0; i < alphas->size(); ++i) {
    const Block& block = topology.shape()->blocks[i];
    const auto hops = static_cast<std::int64_t>(block.rule->diameter_hops(block.size));
    for (std::int64_t hop = 0; hop < hops; ++hop) total = saturating_sum(total, (*alphas)[i]);
  }
  return total;
}

/// Whether all links inside groups have one alpha and all links between groups have one. Then group G can be renamed G
/// + 1.
bool is_uniform_dragonfly(const Topology& topology) {
  const auto& shape = topology.shape();
  if (!shape || shape->is_product()) return false;
  const std::size_t per_group = shape->blocks[0].size;
  std::optional<SimTime> inside;
  std::optional<SimTime> between;
  for (std::size_t i = 0; i < topology.links(); ++i) {
    const LinkId link = LinkId::at(i);
    const bool local = topology.source(link).index() / per_group == topology.target(link).index() / per_group;
    auto& alpha = local ? inside : between;
    if (!alpha) alpha = topology.alpha(link);
    if (*alpha != topology.alpha(link)) return false;
  }
  return true;
}

/// The greatest distance from one of the first `searches` NPUs to any NPU.
SimTime farthest_from_first(const Topology& topology, std::size_t searches) {
  SimTime farthest;
  for (std::size_t npu = 0; npu < searches; ++npu) {
    const auto arrival = arrival_times(topology, VertexId::at(npu), Bytes::zero());
    const auto last = arrival.begin() + static_cast<std::ptrdiff_t>(topology.npus());
    farthest = std::max(farthest, *std::max_element(arrival.begin(), last));
  }
  return farthest;
}

}  // namespace

std::vector<SimTime> arrival_times(const Topology& topology, VertexId source, Bytes size) {
  std::vector<SimTime> hop_of_class;
  for (const LinkClass& link : topology.classes()) {
    hop_of_class.push_back(hop_time(link, size, Occupancy::serialization).latency);
  }
  const bool alike =
      std::all_of(hop_of_class.begin(), hop_of_class.end(), [&](SimTime hop) { return hop == hop_of_class.front(); });
  if (alike) return breadth_first(topology, source, hop_of_class.empty() ? SimTime::zero() : hop_of_class.front());
  return dijkstra(topology, source, hop_of_class);
}

std::optional<SimTime> latency_diameter_within(const Topology& topology, std::uint64_t link_visits) {
  if (const auto known = diameter_by_dimension(topology)) return *known;
  // The groups of a dragonfly are alike, so the searches from the first group's NPUs suffice.
  const std::size_t searches = is_uniform_dragonfly(topology) ? topology.shape()->blocks[0].size : topology.npus();
  if (topology.links() > link_visits / std::max<std::size_t>(1, searches)) return std::nullopt;
  return farthest_from_first(topology, searches);
}

SimTime latency_diameter(const Topology& topology) {
  return *latency_diameter_within(topology, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace tenex
