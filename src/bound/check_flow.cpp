// The checker of flow certificates. It shares no code with the search: whole-number distances from every member by an
// ordered set of vertices, each link by itself, and times in 128 bits.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/bound/flow.hpp"

namespace tenex {

namespace {

__extension__ using Total = __int128;
constexpr std::uint64_t kUnreached = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint64_t> distances_from(const Topology& topology, std::span<const std::uint32_t> weights,
                                          NpuId source) {
  std::vector<std::uint64_t> distance(topology.vertices(), kUnreached);
  std::set<std::pair<std::uint64_t, std::size_t>> open{{0, source.index()}};
  distance[source.index()] = 0;
  while (!open.empty()) {
    const auto [here, vertex] = *open.begin();
    open.erase(open.begin());
    for (const auto link : topology.out_links(VertexId::at(vertex))) {
      const auto next = topology.target(link).index();
      const auto there = here + weights[link.index()];
      if (there >= distance[next]) continue;
      open.erase({distance[next], next});
      distance[next] = there;
      open.emplace(there, next);
    }
  }
  return distance;
}

/// What all links, weighted, can have delivered by a time: chunks, or bytes where sends may carry several chunks.
Total carried(const BoundProblem& problem, std::span<const std::uint32_t> weights, Bytes size, Total time) {
  Total sum = 0;
  for (std::size_t l = 0; l < weights.size(); ++l) {
    const auto& link = problem.topology.classes()[problem.topology.class_of(LinkId::at(l))];
    if (problem.single_chunks) {
      const auto hop = hop_time(link, size, problem.occupancy);
      if (time >= hop.latency.count()) sum += weights[l] * ((time - hop.latency.count()) / hop.busy.count() + 1);
    } else if (time > link.alpha.count()) {
      sum += weights[l] * ((time - link.alpha.count()) * link.effective_bandwidth().count() / 1'000'000'000'000);
    }
  }
  return sum;
}

}  // namespace

SimTime check_flow(const BoundProblem& problem, std::span<const std::uint32_t> weights) {
  ensure(weights.size() == problem.topology.links(), "a certificate has one weight per link");
  const auto& collective = problem.collective;
  if (collective.kind() != CollectiveKind::all_to_all) return SimTime::zero();
  Total needed = 0;
  for (const auto& group : collective.groups())
    for (const auto from : group.members) {
      const auto distance = distances_from(problem.topology, weights, from);
      for (const auto to : group.members) {
        if (distance[to.index()] == kUnreached) return SimTime::max();
        needed += static_cast<Total>(distance[to.index()]) * collective.chunks_per_npu();
      }
    }
  if (needed == 0) return SimTime::zero();
  Bytes size = collective.chunk_sizes().front();
  for (const auto each : collective.chunk_sizes()) size = std::min(size, each);
  if (!problem.single_chunks) needed *= size.count();
  Total low = 0;
  Total high = SimTime::max().count() / 2;
  if (carried(problem, weights, size, high) < needed) return SimTime::max();
  while (high - low > 1) {
    const Total middle = (low + high) / 2;
    (carried(problem, weights, size, middle) < needed ? low : high) = middle;
  }
  return picoseconds(static_cast<std::int64_t>(high));
}

}  // namespace tenex
