// Spanning trees that share the links of a network: the packing whose rate is the strength.
//
// Idea: each tree is a minimum spanning tree under weights that grow with what the trees before it have put on each
// pair of opposite links (multiplicative weights). As the number of trees grows, the most loaded link approaches the
// least possible (Plotkin, Shmoys, Tardos; the dual of the strength, Tutte and Nash-Williams). Among links of equal
// weight, those nearest to the root are taken first, so that trees are shallow. Where links have no opposites, an
// in-tree and an out-tree with a common root are grown in the same way, without that guarantee.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

/// A tree up which sums go to the root, and one down which copies go from it. Where links have opposites, both are the
/// same spanning tree.
struct SpanningTree {
  NpuId root;
  std::vector<LinkId> up;       ///< from each NPU to its parent; none at the root
  std::vector<LinkId> down;     ///< to each NPU from its parent; none at the root
  std::vector<NpuId> up_order;  ///< from the root outwards
  std::vector<NpuId> down_order;
};

/// The links of a network, and how long a chunk keeps each busy.
struct TreeLinks {
  std::vector<LinkId> opposite;  ///< per link; empty: some link has no equal one the other way
  std::vector<HopTime> hop;      ///< per link, for a chunk of the collective
};

/// Why no tree can be packed for this collective, for the user; nullopt if it can. O(npus).
[[nodiscard]] std::optional<std::string> packing_unsuitable(const SynthesisProblem& problem);

/// The links of a problem that suits.
[[nodiscard]] TreeLinks tree_links(const SynthesisProblem& problem);

struct PackingOptions {
  std::uint32_t trees = 1;
  double depth_weight = 0;  ///< what a hop of distance from the root adds, as a share of a chunk on a link
};

/// Packs trees. The topology must be strongly connected and have no switches. Draws no random numbers.
/// O(trees * links * log links).
[[nodiscard]] std::vector<SpanningTree> pack_trees(const Instance& instance, const TreeLinks& links,
                                                   const PackingOptions& options);

/// The least time in which every link carries its trees' chunks, one each: the period at which they can be repeated.
[[nodiscard]] SimTime packing_period(const TreeLinks& links, const std::vector<SpanningTree>& trees);

}  // namespace tenex
