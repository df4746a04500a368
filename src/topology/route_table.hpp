// Given routes (tenex/topology/given_routes.hpp), checked: what they say of a message at a vertex.
//
// Encoding: routes and next hops stay ranges (npu_ranges.hpp); rows are the NPUs from which routes lead, and the
// vertices of next hops. A link is named by its place among those between the same vertices in the topology without
// faults, whose ids are kept with those of today. So ranges name no links, and a fault changes no range.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tenex/base/bitset.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/topology/given_routes.hpp"
#include "tenex/topology/topology.hpp"
#include "topology/links_by_target.hpp"
#include "topology/npu_ranges.hpp"

namespace tenex {

/// Immutable, and shared by the copies of a topology.
class RouteTable {
 public:
  /// Errors: those of with_routes().
  [[nodiscard]] static Result<std::shared_ptr<const RouteTable>> make(const Topology& topology,
                                                                      const GivenRoutes& given);

  /// The parallel links of which a message takes one at a vertex that is not its destination; empty where nothing is
  /// given. O(log routes + links of the route).
  [[nodiscard]] std::span<const LinkId> next(VertexId at, NpuId source, NpuId destination) const;
  /// The same of next hops alone.
  [[nodiscard]] std::span<const LinkId> next_of_hops(VertexId at, NpuId destination) const;
  /// Whether next() depends on the source.
  [[nodiscard]] bool has_pairs() const { return !rules_->pairs.empty(); }
  /// The table of the topology without the links for which `drop` is set. `kept`: that topology, without a table.
  /// O(links), with next hops as with_routes().
  [[nodiscard]] std::shared_ptr<const RouteTable> without(const std::vector<bool>& drop, const Topology& kept) const;

 private:
  friend class HopCheck;
  static constexpr std::uint32_t kAnyLink = std::numeric_limits<std::uint32_t>::max();

  /// A route: where its vertices and its links stand in the lists of all.
  struct Way {
    std::size_t first_vertex = 0;
    std::size_t first_link = 0;
    std::uint32_t vertices = 0;
    bool names_links = false;
  };
  struct Hop {
    VertexId next;
    std::uint32_t link = kAnyLink;
  };
  struct Rules {
    std::vector<Way> ways;
    std::vector<VertexId> vertices;
    std::vector<std::uint32_t> links;
    std::vector<Hop> hops;
    NpuRanges pairs;      // by NPU from which routes lead: number of a way
    NpuRanges next_hops;  // by vertex: number of a hop
    LinksByTarget first;  // of the topology without faults
  };

  [[nodiscard]] std::span<const LinkId> links_of(const Hop& hop, VertexId at) const;
  [[nodiscard]] std::span<const LinkId> links_of(const Way& way, std::size_t hop, NpuId source,
                                                 NpuId destination) const;
  [[nodiscard]] bool is_whole(const Way& way, NpuId source, NpuId destination) const;
  void forget_broken_hops(const Topology& topology);

  std::shared_ptr<const Rules> rules_;
  std::shared_ptr<const LinksByTarget> links_;  // of today
  std::vector<LinkId> now_;                     // by link of the topology without faults; empty: the same
  Bitset forgotten_;                            // NPUs to which next hops count no more; empty: none
};

}  // namespace tenex
