// Shortest times: breadth-first where all hops take the same time, else Dijkstra with a binary heap.
#include "tenex/topology/distance.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "topology/dimensions.hpp"

namespace tenex {

namespace {

std::vector<SimTime> breadth_first(const Topology& topology, VertexId source, SimTime hop) {
  std::vector<SimTime> arrival(topology.vertices(), SimTime::max());
  std::vector<VertexId> queue{source};
  arrival[source.index()] = SimTime::zero();
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const SimTime next = saturating_sum(arrival[queue[head].index()], hop);
    for (const LinkId link : topology.out_links(queue[head])) {
      SimTime& there = arrival[topology.target(link).index()];
      if (there != SimTime::max()) continue;
      there = next;
      queue.push_back(topology.target(link));
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
    const auto hops = static_cast<std::int64_t>(rule_of(block.kind).diameter_hops(block.size));
    for (std::int64_t hop = 0; hop < hops; ++hop) total = saturating_sum(total, (*alphas)[i]);
  }
  return total;
}

}  // namespace

std::vector<SimTime> arrival_times(const Topology& topology, VertexId source, Bytes size) {
  std::vector<SimTime> hop_of_class;
  for (const LinkClass& link : topology.classes()) {
    hop_of_class.push_back(hop_time(link, size, Occupancy::serialization).latency);
  }
  if (topology.homogeneous()) {
    return breadth_first(topology, source, hop_of_class.empty() ? SimTime::zero() : hop_of_class.front());
  }
  return dijkstra(topology, source, hop_of_class);
}

SimTime latency_diameter(const Topology& topology) {
  if (const auto known = diameter_by_dimension(topology)) return *known;
  SimTime farthest;
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    const auto arrival = arrival_times(topology, VertexId::at(npu), Bytes::zero());
    const auto last = arrival.begin() + static_cast<std::ptrdiff_t>(topology.npus());
    farthest = std::max(farthest, *std::max_element(arrival.begin(), last));
  }
  return farthest;
}

}  // namespace tenex
