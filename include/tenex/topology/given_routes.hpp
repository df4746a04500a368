// Routes that a machine states itself: the ways of messages from NPU to NPU, and next hops as the forwarding tables of
// a subnet manager have them.
//
// A given route names the vertices between its NPUs in order. A next hop says to which vertex another one passes on
// what goes to an NPU. The rule per_destination (routes.hpp) takes the route of a pair where there is one, else the
// next hops on the way, and where nothing is given it chooses itself, also among parallel links of which none is named.
// Any other rule leaves given routes aside.
//
// Where a link of a pair's route has failed, the pair is as if it had none. The next hops to an NPU form a tree, as a
// subnet manager makes it: where a link of one of them has failed, or they lead in a loop or nowhere now, all next hops
// to this NPU are as if they had not been given. (Those that remain could form a loop with what replaces the others.)
//
// The routes that a reversed or an unwound topology would have are not defined, so it has none.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The NPUs `first` to `last`.
struct NpuRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool operator==(const NpuRange&) const = default;

  [[nodiscard]] bool contains(VertexId vertex) const { return first <= vertex.value() && vertex.value() <= last; }
};

/// The way of messages from each NPU of a range to each one of another, except to itself.
struct GivenRoute {
  Place place;  ///< for errors
  NpuRange from;
  NpuRange to;
  std::vector<VertexId> through;     ///< the vertices between, in order
  std::vector<std::uint32_t> links;  ///< by hop: which of the parallel links, from 0 in order of id; empty: any
};

/// The vertex to which another one passes on the messages to each NPU of a range.
struct NextHop {
  Place place;  ///< for errors
  VertexId at;
  NpuRange to;
  VertexId next;
  std::optional<std::uint32_t> link;  ///< which of the parallel links, from 0 in order of id; nullopt: any
};

/// All that a machine says of its routes.
struct GivenRoutes {
  std::vector<GivenRoute> routes;
  std::vector<NextHop> hops;

  [[nodiscard]] bool empty() const { return routes.empty() && hops.empty(); }
};

/// The topology with these routes and without its shape, whose own routes they replace. Errors (input, each at its
/// place): a vertex or a link that does not exist; a route from an NPU to itself, one that passes a vertex twice or has
/// another number of links than hops; a next hop that ends at another NPU; a pair of NPUs, or a vertex and an NPU, that
/// is given twice; next hops that lead in a loop or nowhere, alone or with what per_destination adds. Precondition: no
/// wires; ranges are of the topology's NPUs. O(routes + links) memory. O((routes + links) log) time, with next hops
/// O(destinations of hops * (vertices + links)) more.
[[nodiscard]] Result<Topology> with_routes(const Topology& topology, const GivenRoutes& given);

}  // namespace tenex
