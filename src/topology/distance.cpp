// Shortest times: breadth-first where all hops take the same time, else Dijkstra. Over cut-through switches the
// serialization time of a path's slowest link counts once, so there the search keeps, per vertex, every pair of a time
// and a slowest link that no other pair is as good as. With virtual cut-through an early head that comes over a slow
// link and a late one that comes over a fast link are not better one than the other: the search keeps both.
#include "tenex/topology/distance.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "tenex/base/bitset.hpp"
#include "tenex/base/graph/shortest_paths.hpp"
#include "tenex/topology/family.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/wires.hpp"
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
  BestPaths<SimTime> paths(arrival);
  paths.reach(source.value(), SimTime::zero());
  while (const auto at = paths.next())
    for (const LinkId link : topology.out_links(VertexId(at->vertex)))
      paths.reach(topology.target(link).value(), saturating_sum(at->cost, hop_of_class[topology.class_of(link)]));
  return arrival;
}

/// A message at a vertex, at a time. In a cut-through switch: its first part, which has come over links of this
/// bandwidth or more since the holder before.
struct Reached {
  SimTime time;
  VertexId at;
  Bandwidth slowest;
  bool operator<(const Reached& other) const { return std::pair(time, at) < std::pair(other.time, other.at); }
};

std::vector<SimTime> search_through(const Topology& topology, VertexId source, Bytes size) {
  std::vector<SimTime> arrival(topology.vertices(), SimTime::max());
  std::vector<Bandwidth> passed(topology.vertices(), Bandwidth::zero());  // the best so far; times only grow
  LeastFirst<Reached> open;
  const auto reach = [&](SimTime time, VertexId vertex, Bandwidth slowest) {
    const bool passes = cuts_through(topology, vertex);
    if (!passes) time = saturating_sum(time, serialization_time(size, slowest));
    SimTime& known = arrival[vertex.index()];
    if (passes ? slowest <= passed[vertex.index()] : time >= known) return;
    known = std::min(known, time);
    open.push({time, vertex, slowest});
  };
  arrival[source.index()] = SimTime::zero();
  open.push({SimTime::zero(), source, Bandwidth::max()});
  while (!open.empty()) {
    const auto [time, at, slowest] = open.pop();
    const bool passes = cuts_through(topology, at);
    if (passes ? slowest <= passed[at.index()] : time > arrival[at.index()]) continue;
    passed[at.index()] = slowest;
    for (const LinkId link : topology.out_links(at)) {
      const Bandwidth own = topology.bandwidth(link);
      reach(saturating_sum(time, topology.alpha(link)), topology.target(link), passes ? std::min(slowest, own) : own);
    }
  }
  return arrival;
}

/// A message whose first part is at a vertex at `head`, and all of it at `arrival`; both are the same but in switches
/// with virtual cut-through.
struct Early {
  SimTime arrival;
  SimTime head;
  VertexId at;
  bool operator<(const Early& other) const {
    return std::tuple(arrival, head, at) < std::tuple(other.arrival, other.head, other.at);
  }
};

/// Arrivals never fall along a path. So of the states at a vertex, in order of arrival, those count whose head comes
/// before all others: each vertex has a front of (head, arrival).
std::vector<SimTime> search_early(const Topology& topology, VertexId source, Bytes size) {
  std::vector<SimTime> serialization;
  for (const LinkClass& link : topology.classes()) serialization.push_back(serialization_time(size, link));
  std::vector<SimTime> arrival(topology.vertices(), SimTime::max());
  std::vector<SimTime> first_head(topology.vertices(), SimTime::max());
  std::vector<bool> reached(topology.vertices());
  LeastFirst<Early> open;
  open.push({SimTime::zero(), SimTime::zero(), source});
  while (!open.empty()) {
    const Early state = open.pop();
    const auto at = state.at.index();
    if (reached[at] && state.head >= first_head[at]) continue;
    arrival[at] = std::min(arrival[at], state.arrival);
    first_head[at] = state.head;
    reached[at] = true;
    for (const LinkId link : topology.out_links(state.at)) {
      const SimTime own = serialization[topology.class_of(link)];
      const SimTime start = std::max(state.head, state.arrival - own);
      const SimTime head = saturating_sum(start, topology.alpha(link));
      const SimTime whole = saturating_sum(head, own);
      const VertexId next = topology.target(link);
      open.push({whole, passes_on_early(topology, next) ? head : whole, next});
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
    const auto hops = static_cast<std::int64_t>(block.rule->diameter_hops(block));
    for (std::int64_t hop = 0; hop < hops; ++hop) total = saturating_sum(total, (*alphas)[i]);
  }
  return total;
}

/// Whether the links of each level of a family have one alpha. They are ordered by level.
bool levels_are_uniform(const Topology& topology) {
  std::size_t next = 0;
  for (const FamilyLevel& level : topology.shape()->family->levels(topology.shape()->arguments)) {
    const std::size_t first = next;
    const std::size_t end = next + static_cast<std::size_t>(level.links);
    if (end > topology.links()) return false;
    for (; next < end; ++next)
      if (topology.alpha(LinkId::at(next)) != topology.alpha(LinkId::at(first))) return false;
  }
  return true;
}

/// NPUs that represent all: those of a family whose levels have one alpha each, elsewhere every NPU.
std::vector<std::uint32_t> representatives(const Topology& topology) {
  const auto& shape = topology.shape();
  if (shape && !shape->is_product() && levels_are_uniform(topology))
    return shape->family->representatives(shape->arguments);
  std::vector<std::uint32_t> all(topology.npus());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

/// The greatest distance from one of these NPUs to any NPU. NPUs without links, which have failed, do not count.
SimTime farthest_from(const Topology& topology, const std::vector<std::uint32_t>& npus) {
  SimTime farthest;
  for (const std::uint32_t npu : npus) {
    if (is_isolated(topology, VertexId(npu))) continue;
    const auto arrival = arrival_times(topology, VertexId(npu), Bytes::zero());
    for (std::size_t other = 0; other < topology.npus(); ++other)
      if (!is_isolated(topology, VertexId::at(other))) farthest = std::max(farthest, arrival[other]);
  }
  return farthest;
}

}  // namespace

std::vector<SimTime> arrival_times(const Topology& topology, VertexId source, Bytes size) {
  if (any_cuts_through(topology)) return search_through(topology, source, size);
  if (any_passes_on_early(topology)) return search_early(topology, source, size);
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
  const auto npus = representatives(topology);
  if (topology.links() > link_visits / std::max<std::size_t>(1, npus.size())) return std::nullopt;
  return farthest_from(topology, npus);
}

SimTime latency_diameter(const Topology& topology) {
  return *latency_diameter_within(topology, std::numeric_limits<std::uint64_t>::max());
}

std::vector<std::uint32_t> hops_from(const Topology& topology, VertexId source) {
  std::vector<std::uint32_t> hops(topology.vertices(), kNoHops);
  std::vector<VertexId> queue{source};
  hops[source.index()] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head)
    for (const LinkId link : topology.out_links(queue[head])) {
      const VertexId next = topology.target(link);
      if (hops[next.index()] != kNoHops) continue;
      hops[next.index()] = hops[queue[head].index()] + 1;
      queue.push_back(next);
    }
  return hops;
}

std::vector<std::uint32_t> links_to_nearest_npu(const Topology& topology) {
  constexpr auto kFar = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> links(topology.vertices(), kFar);
  std::vector<VertexId> queue;
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    links[npu] = 0;
    queue.push_back(VertexId::at(npu));
  }
  for (std::size_t head = 0; head < queue.size(); ++head)
    for (const LinkId link : topology.in_links(queue[head])) {
      std::uint32_t& known = links[topology.source(link).index()];
      if (known != kFar) continue;
      known = links[queue[head].index()] + 1;
      queue.push_back(topology.source(link));
    }
  return links;
}

}  // namespace tenex
