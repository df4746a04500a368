// The equal next links of routes with the fewest links, found by breadth-first searches (tenex/topology/routes.hpp).
//
// Destinations that the same vertices lead to share a search: routes to them differ in the last link alone. (A route
// over one of these destinations to another one is never shorter.) A search gives each vertex the list of its equal
// next links: those to switches from which the destination is reached over switches alone, if there are any, else the
// lowest link with its parallel ones.
//
// Encoding: lists are kept once per vertex, in one array; a table is the number of a list per vertex. Tables live in a
// fixed number of slots that are reused first in, first out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tenex/base/csr.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"
#include "topology/lanes.hpp"

namespace tenex {

/// What may come next on a route.
struct EqualRoutes {
  std::span<const LinkId> links;  ///< in order of id; empty where the destination cannot be reached
  bool over_npu = false;          ///< each leads over an NPU first: they are one link, or parallel ones
  bool parted = false;            ///< they lead to different vertices: divisor() counts
};

/// Searches on demand. Keeps a reference to `topology`.
class EqualRouteSearch {
 public:
  /// `counts`: routes() is asked for, and parallel links between two NPUs are equal, too.
  explicit EqualRouteSearch(const Topology& topology, bool counts = false);

  /// The links are valid until the next call. O(1) where the table is kept, else O(links).
  [[nodiscard]] EqualRoutes next(VertexId at, NpuId destination);
  /// The number of routes from a vertex that next() leads to, at most kMostRoutes; 1 at the destination, and 0 where it
  /// cannot be reached. O(1) where the table is kept, else O(links).
  [[nodiscard]] std::uint32_t routes(VertexId at, NpuId destination);
  /// What divides the number that chooses at a vertex. The first call on a fabric of several levels searches from all
  /// groups of destinations: O(groups * links).
  [[nodiscard]] std::uint64_t divisor(VertexId at);

 private:
  struct List {
    std::size_t first;
    std::uint32_t count;
    bool over_npu;
    bool parted;
  };

  void group_destinations();
  [[nodiscard]] std::uint32_t slot_of_group(NpuId destination);
  void count_routes(std::uint32_t group, std::uint32_t slot);
  void count_choices();
  std::uint32_t claim_slot(std::uint32_t group);
  void search(std::uint32_t group);
  void choose(VertexId at, std::uint32_t& list);
  [[nodiscard]] std::uint32_t list_of(VertexId at, bool over_npu);

  const Topology& topology_;
  std::vector<std::uint32_t> group_of_;             // by NPU
  std::vector<NpuId> example_;                      // by group: one of its NPUs
  std::vector<std::uint32_t> slot_of_;              // by group
  std::vector<std::uint32_t> tenants_;              // by slot
  std::vector<std::vector<std::uint32_t>> tables_;  // by slot: list by vertex
  std::vector<std::vector<std::uint16_t>> routes_;  // by slot: routes by vertex; empty unless counted
  bool counts_;
  std::size_t capacity_;
  std::size_t oldest_ = 0;
  std::vector<LinkId> pool_;  // of all lists
  std::vector<List> lists_;
  std::vector<std::vector<std::uint32_t>> lists_at_;  // by vertex
  std::vector<std::uint32_t> level_;                  // by vertex; empty until asked for
  std::vector<std::uint64_t> divisor_;                // by level; empty until asked for
  std::vector<std::uint32_t> hops_;                   // scratch: by vertex, of the last search
  std::vector<bool> over_switches_;                   // scratch: likewise
  std::vector<VertexId> queue_;                       // scratch: vertices that reach the group, nearest first
  std::vector<LinkId> links_;                         // scratch: a list to be, or the last links of a route
};

}  // namespace tenex
