// Strong connectivity by two breadth-first searches from vertex 0, one along the links and one against them: vertex 0
// reaches every vertex and every vertex reaches vertex 0.
#include "tenex/base/bitset.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

namespace {

/// The first vertex that is not reached from vertex 0, along the links or against them; none() when all are.
VertexId first_unreached(const Topology& topology, bool along) {
  Bitset reached(topology.vertices());
  std::vector<VertexId> queue{VertexId(0)};
  reached.set(0);
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const VertexId at = queue[head];
    for (const LinkId link : along ? topology.out_links(at) : topology.in_links(at)) {
      const VertexId next = along ? topology.target(link) : topology.source(link);
      if (reached.insert(next.index())) queue.push_back(next);
    }
  }
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

}  // namespace tenex
