// Whole chunks that links can carry in a time, and switches removed from between: edges between NPUs, each over a path
// of links, that can carry as much from every root to every NPU as before.
//
// Roots have chunks for all NPUs. Out-trees for all of them can be packed into edges between NPUs exactly if a flow of
// all chunks reaches each NPU (Edmonds, "Edge-disjoint branchings", 1973): no set of vertices that lacks an NPU has
// less capacity out of it than chunks inside. A switch that only passes chunks on is removed by splitting: an edge into
// it and one out of it become one edge, for as many chunks as leave that condition intact. Where every vertex has as
// much capacity in as out, all that is needed can be split off (Bang-Jensen, Frank and Jackson, "Preserving and
// increasing local edge-connectivity in mixed graphs", 1995; used for collectives by ForestColl, arXiv:2402.06787).
// Elsewhere it may not, which the check at the end tells.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "synthesis/trees/tree_network.hpp"

namespace tenex {

/// How many chunks an NPU has for all others, per NPU.
using RootChunks = std::vector<std::int64_t>;

/// An edge between NPUs, and the chunks that it can carry.
struct CapacityEdge {
  WayId way;
  std::int64_t chunks = 0;
};

/// How long each link is to be idle; empty: never.
using LinkIdleTimes = std::vector<SimTime>;

/// The least time in which links can carry the chunks of all roots to all NPUs: whole chunks, no latency but `room`.
/// All NPUs must reach each other. O(log(time) * npus) flows.
[[nodiscard]] SimTime least_rate_time(const TreeNetwork& network, const RootChunks& roots, const LinkIdleTimes& room);

/// The edges between NPUs into which out-trees of all roots can be packed.
struct SwitchSplit {
  std::optional<std::vector<CapacityEdge>> edges;  ///< nullopt where splitting did not keep enough, or gave up
  bool gave_up = false;  ///< flows looked at more than 10^8 edges: switches have many links to many others
};

/// Splits all switches, each link carrying what it can within `time` less its room. O(npus) flows for each pair of
/// links of a switch, at worst; half a second before it gives up.
[[nodiscard]] SwitchSplit split_switches(TreeNetwork& network, const RootChunks& roots, const LinkIdleTimes& room,
                                         SimTime time);

}  // namespace tenex
