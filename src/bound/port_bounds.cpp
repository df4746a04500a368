// Ejection and injection: all data that enters or leaves an NPU passes its own links, each of which delivers a floor
// count by T.
//
// Idea: for every NPU, the least T at which its in-links (out-links) can have delivered what it must receive (send) by
// demand.hpp; the bound is the largest over all NPUs. A send over an out-link has to arrive, so T counts arrivals on
// both sides. Process groups are taken one by one: traffic of the other groups only delays. The bound holds whatever is
// behind the links, also switches. Encoding: NPUs with the same demand, chunk size and links per class need one search;
// 40,000 NPUs of a mesh have a few such kinds. Source: the floor counts are this project's; the forms without floors
// are in LIBRA (arXiv:2109.11762) and TACOS (arXiv:2304.05301).
#include <algorithm>
#include <set>
#include <vector>

#include "bound/capacity.hpp"
#include "bound/demand.hpp"
#include "bound/methods.hpp"

namespace tenex {

namespace {

enum class Side { in, out };

std::optional<SimTime> port_bound(const BoundProblem& problem, Side side) {
  const auto& topology = problem.topology;
  const auto& collective = problem.collective;
  std::set<std::vector<std::int64_t>> seen;  // demand, chunk size class, links of each class
  SimTime bound = SimTime::zero();
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto& members = collective.groups()[g].members;
    const ChunkId first = collective.first_chunk(GroupId::at(g));
    for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
      const NpuDemand demand = npu_demand(collective, GroupId::at(g), rank);
      const std::int64_t chunks = side == Side::in ? demand.receive : demand.send;
      if (chunks == 0) continue;
      std::vector<std::int64_t> kind(2 + topology.classes().size(), 0);
      kind[0] = chunks;
      kind[1] = collective.chunk_bytes(first).count();
      const VertexId vertex = vertex_of(members[rank]);
      for (const LinkId link : side == Side::in ? topology.in_links(vertex) : topology.out_links(vertex))
        ++kind[2U + topology.class_of(link)];
      const auto [entry, fresh] = seen.insert(std::move(kind));
      if (!fresh) continue;
      bound = std::max(bound, least_time(problem, std::span(*entry).subspan(2), collective.chunk_bytes(first), chunks));
    }
  }
  return bound;
}

}  // namespace

std::optional<SimTime> ejection_bound(const BoundProblem& problem) { return port_bound(problem, Side::in); }

std::optional<SimTime> injection_bound(const BoundProblem& problem) { return port_bound(problem, Side::out); }

}  // namespace tenex
