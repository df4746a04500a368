// The checker of flow certificates. It shares no code with the search: whole-number distances from every member by an
// ordered set of vertices.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "bound/checked_time.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/bound/flow.hpp"

namespace tenex {

namespace {

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

}  // namespace

SimTime check_flow(const BoundProblem& problem, std::span<const std::uint32_t> weights) {
  ensure(weights.size() == problem.topology.links(), "a certificate has one weight per link");
  const auto& collective = problem.collective;
  if (collective.kind() != CollectiveKind::all_to_all) return SimTime::zero();
  CheckedSum needed = 0;
  for (const auto& group : collective.groups())
    for (const auto from : group.members) {
      const auto distance = distances_from(problem.topology, weights, from);
      for (const auto to : group.members) {
        if (distance[to.index()] == kUnreached) return SimTime::max();
        needed += static_cast<CheckedSum>(distance[to.index()]) * collective.chunks_per_npu();
      }
    }
  Bytes size = collective.chunk_sizes().front();
  for (const auto each : collective.chunk_sizes()) size = std::min(size, each);
  return checked_time(problem, weights, size, needed);
}

}  // namespace tenex
