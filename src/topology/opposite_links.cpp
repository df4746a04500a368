// Pairs of links that lead to and fro.
//
// Idea: the out-links of each vertex wait in one chain per target, until an in-link from that target takes the first of
// its class.
#include <optional>
#include <utility>
#include <vector>

#include "tenex/topology/transform.hpp"

namespace tenex {

std::optional<std::vector<LinkId>> opposite_links(const Topology& topology) {
  std::vector<LinkId> opposite(topology.links());
  std::vector<LinkId> next(topology.links());
  std::vector<LinkId> first(topology.vertices());  // of the chain per target
  for (std::size_t v = 0; v < topology.vertices(); ++v) {
    const auto vertex = VertexId::at(v);
    for (const LinkId out : topology.out_links(vertex)) first[topology.target(out).index()] = LinkId::none();
    for (const LinkId in : topology.in_links(vertex)) first[topology.source(in).index()] = LinkId::none();
    const auto outs = topology.out_links(vertex);
    for (auto out = outs.rbegin(); out != outs.rend(); ++out)
      next[out->index()] = std::exchange(first[topology.target(*out).index()], *out);
    for (const LinkId in : topology.in_links(vertex)) {
      LinkId* place = &first[topology.source(in).index()];
      while (place->exists() && topology.class_of(*place) != topology.class_of(in)) place = &next[place->index()];
      if (!place->exists()) return std::nullopt;
      opposite[in.index()] = *place;
      *place = next[place->index()];
    }
  }
  return opposite;
}

}  // namespace tenex
