// Where the vertices of a network stand in a drawing, by its shape.
//
// - Products of blocks: lines and rings are the rows and columns of a grid (a torus is flat, its links around are
// bent);
//   a ring alone, a fully connected block and a box of NPUs on one switch are circles, with the switch in the middle;
//   switches of other dimensions stand in rows above.
// - Networks of switches (fat trees, leaves and spines, machines): by level, each switch over what hangs below it.
// - Dragonflies: a circle of groups, each a circle of NPUs.
// - Other networks: a circle where they are small, else by forces between linked vertices (Fruchterman and Reingold,
//   "Graph drawing by force-directed placement", 1991).
#pragma once

#include <string_view>
#include <vector>

#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// A position in a drawing; x to the right, y down. Neighbours of a grid are 1 apart.
struct Spot {
  double x = 0;
  double y = 0;
};

struct VertexLayout {
  std::string_view form;     ///< "grid", "circle", "levels", "groups" or "forces"
  std::vector<Spot> at;      ///< per vertex
  std::vector<float> bends;  ///< per link: how far its middle stands to the left of the straight line; 0: straight
};

/// Lays the network out. `shape`: that of the network, where it has one (a topology with faults has forgotten its own);
/// nullptr: none. Deterministic. O(links * vertices) at most, for links that might pass over vertices.
[[nodiscard]] VertexLayout lay_out(const Topology& topology, const Shape* shape);

}  // namespace tenex
