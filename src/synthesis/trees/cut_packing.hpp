// Out-trees at the rate of the cut, and chunks dealt to them: packings of more and more time.
//
// The least time in which links can carry whole chunks to every NPU follows from minimum cuts; switches are split off
// (edge_splitting.hpp), and out-trees are packed exactly (out_trees.hpp). More time leaves room for shallower trees.
// Links over switches begin late and end early. If they get less than others, their chunks come in time.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "synthesis/trees/edge_splitting.hpp"
#include "synthesis/trees/player.hpp"

namespace tenex {

inline constexpr std::size_t kMostCutPackingNpus = 256;

/// Expected work of one packing.
[[nodiscard]] Work cut_packing_work(const Topology& topology);

/// Packs again and again. The problem and the network must outlive it.
class CutPacking {
 public:
  /// For an All-Gather or a Broadcast; for an All-Reduce as for the All-Gather in it.
  /// `leaves_room`: where some links are idle longer than others at the beginning and the end, the first packings leave
  /// them less to carry.
  CutPacking(const SynthesisProblem& problem, TreeNetwork& network, bool leaves_room);

  /// Out-trees for the chunks of every owner, which are dealt in turn; every owner's i-th chunk has rank i. Each time
  /// with more time for the links. nullopt where no packing is left to try: splitting switches off may fail unless
  /// every vertex has equal bandwidth in and out.
  [[nodiscard]] std::optional<DealtTrees> next();
  /// Whether splitting switches off took too much work, so that nothing is left to try.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  const SynthesisProblem& problem_;
  TreeNetwork& network_;
  RootChunks roots_;
  std::vector<LinkIdleTimes>
      rooms_;      ///< in the order in which they are tried; the last one has all shares of extra time
  SimTime least_;  ///< with the room that is tried
  std::size_t room_ = 0;
  std::size_t tried_ = 0;
  bool gave_up_ = false;
};

}  // namespace tenex
