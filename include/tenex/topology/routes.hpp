// Deterministic unicast routes: dimension order on intact product shapes, the fewest links elsewhere.
//
// Dimension order corrects dimension 1 first. A ring goes the shorter way, ties toward increasing id. A line has one
// way, a fully connected block takes one hop, a switch takes two. In a tree of switches it climbs to the lowest switch
// above both. Elsewhere (families, files, removed links) a route has the fewest links. Where several of these lead over
// switches alone, a number chooses among them: at a vertex of level l (the distance in links to the nearest NPU) with
// k equal next links in order of id, the route takes link floor(number / divisor) mod k. The divisor is the product of
// the largest such k of all levels below, or 1 where all links lead to one vertex: parallel links restrict nothing that
// comes after them, so that trunks share their messages evenly both up and down. Consecutive numbers stand for all
// routes in turn. In a tree of switches the number chooses in every bundle of parallel links. A RouteChoice says whence
// the number comes:
// - per_destination: from the destination, like the routing called d-mod-k (Zahavi, "Fat-trees routing and node
//   ordering providing contention free traffic for MPI global collectives", IPDPS Workshops 2011). It is the rank of
//   the destination among the NPUs that are attached to switches which are joined with this one: its id where all
//   switches are joined, its box on a rail. All core switches of a fat tree carry equal load then. Among several equal
//   links of one NPU, first or last of a route, it is the sum of the ids of source and destination, and divided by
//   nothing: the destination alone would bring all that an NPU gets over one of its links.
// - single: it is 0, the lowest link at each vertex.
// - hashed: it is a hash of source, destination and draw, as Equal-Cost Multi-Path routing does (RFC 2992).
// - sprayed: a message is cut at its source into as many pieces as there are equal routes, at most kMostPieces. Every
//   equal route has a number, its way: at a vertex the rest of the way chooses a link, and what remains chooses the
//   links further on. Where as many routes lead over each of k links, the rest modulo k chooses, and the rest divided
//   by k remains; elsewhere the first links have the lowest ways. Piece i takes way destination + i, modulo the routes.
// Where a machine gives routes (given_routes.hpp), per_destination takes them; the other rules leave them aside.
// Where every route with the fewest links leads over an NPU, the route takes the lowest link id at each vertex. So it
// does over wires, of which each is a path already (wires.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// How a route is chosen among those with the fewest links over switches.
enum class RouteRule : std::uint8_t { per_destination, single, hashed, sprayed };

/// A rule, and which of its draws.
struct RouteChoice {
  RouteRule rule = RouteRule::per_destination;
  std::uint32_t draw = 0;  ///< of hashed routes, from 1
  bool operator==(const RouteChoice&) const = default;
};
/// "per_destination", "single", "hashed draw 2", "sprayed".
[[nodiscard]] std::string to_string(const RouteChoice& choice);

/// Into so many pieces a message is cut at most.
inline constexpr std::uint32_t kMostPieces = 64;
/// Equal routes beyond these are not told apart.
inline constexpr std::uint32_t kMostRoutes = 65'535;
/// A piece's route among the equal ones of its source and destination, or what is left of it at a vertex further on.
using RouteWay = std::uint16_t;
/// The way of a piece of a message to `destination`, of which there are `routes`. O(1).
[[nodiscard]] inline RouteWay way_of_piece(NpuId destination, std::uint32_t piece, std::uint32_t routes) {
  return static_cast<RouteWay>((std::uint64_t{destination.value()} + piece) % routes);
}

/// Finds the next link of a route. Families answer by arithmetic; elsewhere breadth-first searches are made on first
/// use, one for all destinations that hang on the same switches, and kept in a bounded cache. Not thread-safe (because
/// of its cache): one per thread.
class Router {
 public:
  /// Keeps a reference to `topology`, which must outlive the router.
  explicit Router(const Topology& topology, RouteChoice choice = {});
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  /// The link to take at `at` for a message from `source` to `destination`; none() when at the destination or when it
  /// cannot be reached. Of a sprayed message it is the link of one that takes a single route, as per_destination has
  /// it.
  [[nodiscard]] LinkId next_link(VertexId at, NpuId source, NpuId destination);
  /// The same for a piece on its way; `way` becomes what remains of it. Ways have no meaning unless routes are sprayed.
  [[nodiscard]] LinkId next_link(VertexId at, NpuId source, NpuId destination, RouteWay& way);
  /// The number of equal routes that the pieces of a message take: 1 unless routes are sprayed, 0 where the destination
  /// cannot be reached, at most kMostRoutes. O(hops).
  [[nodiscard]] std::uint32_t equal_routes(NpuId source, NpuId destination);
  /// Whether next_link() at a vertex may depend on a source that is not this vertex. O(links).
  [[nodiscard]] bool depends_on_source() const;
  /// The whole route; empty when source = destination or unreachable. O(hops).
  [[nodiscard]] std::vector<LinkId> route(NpuId source, NpuId destination);
  /// The route of a way.
  [[nodiscard]] std::vector<LinkId> route(NpuId source, NpuId destination, RouteWay way);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenex
