// Strong connectivity by two breadth-first searches from one vertex, one along the links and one against them: the
// vertex reaches every other one and every other one reaches it.
#include "tenex/base/bitset.hpp"
#include "tenex/topology/faults.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

namespace {

/// The vertices that are reached from a vertex along the links, or against them.
Bitset reached_from(const Topology& topology, VertexId start, bool along) {
  Bitset reached(topology.vertices());
  std::vector<VertexId> queue{start};
  reached.set(start.index());
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const VertexId at = queue[head];
    for (const LinkId link : along ? topology.out_links(at) : topology.in_links(at)) {
      const VertexId next = along ? topology.target(link) : topology.source(link);
      if (reached.insert(next.index())) queue.push_back(next);
    }
  }
  return reached;
}

/// The first vertex that is not reached from vertex 0, along the links or against them; none() when all are.
VertexId first_unreached(const Topology& topology, bool along) {
  const Bitset reached = reached_from(topology, VertexId(0), along);
  for (std::size_t v = 0; v < topology.vertices(); ++v) {
    if (!reached.test(v)) return VertexId::at(v);
  }
  return VertexId::none();
}

}  // namespace

std::optional<std::pair<VertexId, VertexId>> find_disconnected_pair(const Topology& topology) {
  const VertexId unreached = first_unreached(topology, true);
  if (unreached.exists()) return std::pair(VertexId(0), unreached);
  const VertexId stuck = first_unreached(topology, false);
  if (stuck.exists()) return std::pair(stuck, VertexId(0));
  return std::nullopt;
}

// No path leaves the vertices that the first member reaches, and none enters those that reach it from outside.
std::optional<DisconnectedNpus> find_cut_between(const Topology& topology, std::span<const NpuId> members) {
  if (members.empty()) return std::nullopt;
  for (const bool along : {true, false}) {
    const Bitset reached = reached_from(topology, vertex_of(members.front()), along);
    DisconnectedNpus cut;
    for (const NpuId member : members) (reached.test(member.index()) == along ? cut.from : cut.to).push_back(member);
    if (!(along ? cut.to : cut.from).empty()) return cut;
  }
  return std::nullopt;
}

}  // namespace tenex
