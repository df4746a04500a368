// Removal of the links between given pairs of vertices, as a study's `without` asks.
#include "tenex/topology/transform.hpp"
#include "topology/missing_link.hpp"

namespace tenex {

Result<Topology> remove_links(const Topology& topology, const std::vector<std::pair<VertexId, VertexId>>& pairs) {
  std::vector<bool> drop(topology.links(), false);
  Diagnostics errors;
  for (const auto& [a, b] : pairs) {
    const VertexId beyond = a.index() >= topology.vertices() ? a : b;
    if (beyond.index() >= topology.vertices()) {
      errors.push_back(missing_vertex(topology, beyond));
      continue;
    }
    bool found = false;
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      for (const LinkId link : topology.out_links(from)) {
        if (topology.target(link) != to) continue;
        drop[link.index()] = true;
        found = true;
      }
    }
    if (!found) errors.push_back(missing_link(topology, a, b, false, "only existing links are removed"));
  }
  if (!errors.empty()) return errors;
  return topology.without(drop);
}

}  // namespace tenex
