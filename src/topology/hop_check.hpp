// Whether next hops lead to their destinations, with what per_destination adds where none is given.
//
// To one NPU all vertices together have one next link each: a graph in which every way ends at the NPU, at a vertex
// without a next link, or in a loop. (At a switch the next vertex does not depend on where a message comes from.)
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/topology.hpp"
#include "topology/route_table.hpp"

namespace tenex {

/// Follows next hops, to one NPU after another. Keeps references.
class HopCheck {
 public:
  /// `topology`: that of the table, without a table.
  HopCheck(const Topology& topology, const RouteTable& table);

  /// The NPUs to which some next hop leads, in order. O(NPUs + hops).
  [[nodiscard]] std::vector<NpuId> destinations() const;

  /// A way that does not end at the NPU.
  struct Flaw {
    std::uint32_t hop = 0;      ///< a next hop on the loop, or one that leads to the end
    std::vector<VertexId> way;  ///< the vertices of the loop, the first one twice; or the one at which it ends
  };
  /// nullopt where every next hop to the NPU has a link and leads to it. O(vertices) next links.
  [[nodiscard]] std::optional<Flaw> flaw(NpuId destination);

 private:
  [[nodiscard]] VertexId next(VertexId at, NpuId destination);
  [[nodiscard]] Flaw describe(VertexId at, NpuId destination);

  const Topology& topology_;
  const RouteTable& table_;
  Router plain_;
  std::vector<std::uint32_t> seen_;  // by vertex: the walk that was there
  std::uint32_t walk_ = 0;
};

}  // namespace tenex
