// Given routes over switches that cut through: the paths that must be wires, and the routes in terms of wires.
//
// A message whose route is given changes wires where a vertex holds it. The path between two such vertices becomes a
// wire of its own unless one takes the same links.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/given_routes.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The given routes of a network with cut-through switches. Keeps a reference to it.
class GivenWires {
 public:
  /// O(NPUs^2 * links of a route), as there are wires for all pairs; O(1) where no routes are given.
  explicit GivenWires(const Topology& network);

  /// Paths that begin at a vertex which holds messages and are wires, each once, in order.
  [[nodiscard]] std::span<const std::vector<LinkId>> from(VertexId holder) const;

  /// The network of wires, among which all paths are, with the given routes. `holder_of`: its vertex, by vertex of the
  /// network. O(pairs with given routes * (links + log wires)).
  [[nodiscard]] Topology give_routes(const Topology& wired, const std::vector<VertexId>& holder_of) const;

 private:
  /// A pair of which some link is given.
  struct Pair {
    NpuId source;
    NpuId destination;
    std::vector<LinkId> links;
  };
  [[nodiscard]] std::vector<std::vector<LinkId>> paths_of(const Pair& pair) const;

  const Topology& network_;
  std::vector<Pair> pairs_;
  std::map<VertexId, std::vector<std::vector<LinkId>>> paths_;  // by holder
};

}  // namespace tenex
