// Rooted collectives along one tree of each group: Broadcast and Scatter down, Reduce and Gather up, All-Reduce up to
// rank 0 and down again.
//
// Ranks count from the root on. An NPU sends up when all of its children have sent to it, and down when it has
// received. In Gather and Scatter a message carries the chunks of a whole subtree. The chunks with the same k are one
// slice; slices are pipelined.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithm/forest.hpp"
#include "algorithm/textbook.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex {

/// The edges of a tree over ranks 0 .. members - 1 with root 0; children of a parent in the order in which it serves
/// them.
using TreeEdges = std::function<std::vector<Tree::Edge>(std::uint32_t members)>;

/// The program of a rooted collective or an All-Reduce along the tree that `edges` makes for each size of group.
[[nodiscard]] ProgramResult make_rooted_trees(const Collective& collective, const TreeEdges& edges);

}  // namespace tenex
