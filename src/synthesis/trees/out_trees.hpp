// Out-trees of all roots packed into edges between NPUs, exactly: each edge carries no more trees than it has room for.
//
// Idea (Tarjan, "A good algorithm for edge-disjoint branching", 1974; Berczi and Frank, "Packing arborescences", 2010,
// for many trees at once): trees grow edge by edge, as batches of equal trees. A batch may take an edge from x to y for
// as many of its trees as leave this true of every set of NPUs: as many edges enter it as there are trees that have no
// NPU in it. That number is a minimum cut between x and y. If only a part of a batch may take the edge, the rest is a
// batch of its own, which is finished later. Edges from NPUs near the root are tried first, so that trees are shallow;
// among equally near ones the first that serves the whole batch, otherwise the one that serves most.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "synthesis/trees/edge_splitting.hpp"
#include "synthesis/trees/packing.hpp"

namespace tenex {

/// Equal trees, one for each of so many chunks.
struct OutTrees {
  SpanningTree tree;  ///< copies alone
  std::int64_t chunks = 0;
};

/// Packs a tree for each chunk of each root. nullopt where the edges have too little room. About npus flows for each
/// tree that differs.
[[nodiscard]] std::optional<std::vector<OutTrees>> pack_out_trees(const TreeNetwork& network,
                                                                  const std::vector<CapacityEdge>& edges,
                                                                  const RootChunks& roots);

}  // namespace tenex
