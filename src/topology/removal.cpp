// Removal of the links between given pairs of vertices, as a study's `without` asks, and of vertices without links.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "tenex/base/contract.hpp"
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

Topology keep_vertices(const Topology& topology, const std::vector<VertexId>& kept) {
  std::vector<VertexId> name(topology.vertices(), VertexId::none());
  for (std::size_t v = 0; v < kept.size(); ++v) name[kept[v].index()] = VertexId::at(v);
  const auto npus = std::ranges::count_if(kept, [&](VertexId vertex) { return topology.is_npu(vertex); });
  TopologyBuilder builder(static_cast<std::size_t>(npus));
  for (const VertexId vertex : std::span(kept).subspan(static_cast<std::size_t>(npus)))
    builder.add_switch(topology.switch_properties(vertex));
  for (std::size_t l = 0; l < topology.links(); ++l) {
    Link link = topology.link(LinkId::at(l));
    link.source = name[link.source.index()];
    link.target = name[link.target.index()];
    ensure(link.source.exists() && link.target.exists(), "a vertex with links is kept");
    builder.add_link(link);
  }
  Topology made = std::move(builder).build().value();
  for (std::size_t l = 0; l < topology.links(); ++l)
    ensure(made.source(LinkId::at(l)) == name[topology.source(LinkId::at(l)).index()], "links keep their ids");
  return made;
}

}  // namespace tenex
