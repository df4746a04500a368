// Out-trees at the rate of the cut, and chunks dealt to them: packings of more and more time.
//
// The least time in which links can carry whole chunks to every NPU follows from minimum cuts; switches are split off
// (edge_splitting.hpp), and out-trees are packed exactly (out_trees.hpp). More time leaves room for shallower trees.
#pragma once

#include <cstddef>
#include <optional>

#include "synthesis/trees/edge_splitting.hpp"
#include "synthesis/trees/player.hpp"

namespace tenex {

inline constexpr std::size_t kMostCutPackingNpus = 256;

/// Expected seconds of one packing.
[[nodiscard]] double cut_packing_seconds(const Topology& topology);

/// Packs again and again. The problem and the network must outlive it.
class CutPacking {
 public:
  /// For an All-Gather or a Broadcast; for an All-Reduce as for the All-Gather in it.
  CutPacking(const SynthesisProblem& problem, TreeNetwork& network);

  /// Out-trees for the chunks of every owner, which are dealt in turn; every owner's i-th chunk has rank i. Each time
  /// with more time for the links. nullopt where no packing is left to try: splitting switches off may fail unless
  /// every vertex has equal bandwidth in and out.
  [[nodiscard]] std::optional<DealtTrees> next();

 private:
  const SynthesisProblem& problem_;
  TreeNetwork& network_;
  RootChunks roots_;
  SimTime least_;
  std::size_t tried_ = 0;
};

}  // namespace tenex
