// Spanning trees that share the links of a network: the packing whose rate is the strength.
//
// Idea: each tree is a minimum spanning tree under weights that grow with what the trees before it have put on each
// pair of opposite links (multiplicative weights). As the number of trees grows, the most loaded link approaches the
// least possible (Plotkin, Shmoys, Tardos; the dual of the strength, Tutte and Nash-Williams). Among links of equal
// weight, those nearest to the root are taken first, so that trees are shallow. Over switches an edge weighs what its
// links weigh together; the tree is a minimum spanning tree of all such edges, as each NPU is reached over the lightest
// way from any that has been. Where links have no opposites, an in-tree and an out-tree with a common root are grown in
// the same way, without that guarantee.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "synthesis/trees/tree_network.hpp"

namespace tenex {

/// A tree up which sums go to the root, and one down which copies go from it. Where links have opposites, both are the
/// same spanning tree. Of an out-tree alone, `up` and `up_order` are empty.
struct SpanningTree {
  NpuId root;
  std::vector<WayId> up;        ///< from each NPU to its parent; none at the root
  std::vector<WayId> down;      ///< to each NPU from its parent; none at the root
  std::vector<NpuId> up_order;  ///< from the root outwards
  std::vector<NpuId> down_order;
};

/// Whether some links are idle at the beginning and the end, so that PackingOptions::span matters. O(1).
[[nodiscard]] bool has_idle_links(const TreeNetwork& network);

/// Why no tree can be packed for this collective, for the user; nullopt if it can. O(vertices).
[[nodiscard]] std::optional<std::string> packing_unsuitable(const SynthesisProblem& problem);

struct PackingOptions {
  std::uint32_t trees = 1;
  double depth_weight = 0;  ///< what a hop of distance from the root adds, as a share of a chunk on a link
  /// How much faster a weight grows than the load, as a power of e per chunk on the fastest link. Little growth is
  /// better where links differ much in speed.
  double growth = 2;
  /// The root of every tree. None: the middle of each tree, or where links have no opposites, NPUs in turn.
  NpuId root = NpuId::none();
  /// Sums and copies go at different times, so that each link is weighed by what trees put on it one way. Otherwise by
  /// what they put on it in all.
  bool by_direction = false;
  /// NPUs below which no other hangs; below a root one. The others must reach each other and these without them.
  std::span<const NpuId> leaves = {};
  /// How long the links are to be busy in all. A link over switches gets less of it, as it is idle until chunks come to
  /// it and after the last ones have left. Zero: all links alike.
  SimTime span = {};
  /// How much time of the span such a link loses, as a multiple of the least in which a chunk comes and goes: what it
  /// carries first and last also takes its time inside of boxes.
  double idle_times = 2;
};

/// Packs trees. All NPUs must reach each other. Draws no random numbers. O(trees * links * log links).
[[nodiscard]] std::vector<SpanningTree> pack_trees(TreeNetwork& network, const PackingOptions& options);

}  // namespace tenex
