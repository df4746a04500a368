// Spanning trees of capped depth, one after another over the links that carry least: for large networks of direct
// links.
//
// Idea: Prim's algorithm under loads. A tree takes, of the links that lead out of it, one that carries the fewest trees
// so far. Loads are small whole numbers, so that the links wait in buckets and a tree takes O(links). Of equal links a
// drawn one is taken. Only the order of weights matters to a spanning tree, so that trees balance each other as under
// the exponential weights of packing.hpp. An NPU joins at most `slack` links farther from the root than its distance.
// Its neighbour on a shortest path has joined no farther, so that no tree ever gets stuck. Too little slack loads the
// links around holes and corners; more than enough makes trees deep. Roots are NPUs in the middle, in turn.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "synthesis/trees/tree_network.hpp"

namespace tenex {

/// A tree by the links from its root outwards. Where links have opposites, sums go back over these.
struct CappedTree {
  NpuId root;
  std::vector<LinkId> above;         ///< of each NPU: the link from its parent; none at the root
  std::vector<NpuId> order;          ///< from the root outwards: parents before children
  std::vector<std::uint16_t> depth;  ///< of each NPU, in links
};

/// An NPU in the middle of the network, and how many links away all NPUs are.
struct TreeRoot {
  NpuId npu;
  std::vector<std::uint32_t> hops;  ///< to each NPU
};

/// How far away the farthest NPU is from an NPU in the middle, in links. All NPUs must reach each other. O(links) for a
/// few searches.
[[nodiscard]] std::uint32_t radius(const Topology& topology);

/// Up to 64 NPUs from which the farthest NPU is nearest, or one link farther. All NPUs must reach each other.
/// O(links).
[[nodiscard]] std::vector<TreeRoot> central_roots(const Topology& topology);

/// Grows trees on a network of NPUs alone whose links have opposites. Both arguments must outlive it.
///
/// Encoding: links have places in the order of the NPUs that they leave, so that those of an NPU that joins are read
/// one after another.
class CappedTrees {
 public:
  CappedTrees(const TreeNetwork& network, const std::vector<TreeRoot>& roots, std::uint32_t slack);

  /// The next tree. Draws its random numbers from a fixed seed. O(links).
  void grow(CappedTree& tree);
  /// The time of the busiest link with a chunk on each tree so far, one way up and one way down, without latency.
  [[nodiscard]] SimTime rate_time() const;

 private:
  /// The place of a link.
  using Place = std::uint32_t;
  static constexpr Place kNoPlace = std::numeric_limits<Place>::max();

  /// A link where it is read: its end, and how many trees it is on, either way.
  struct Outlet {
    std::uint32_t to = 0;
    std::uint32_t load = 0;
  };

  void join(CappedTree& tree, std::uint32_t npu, Place from_parent, std::size_t depth);
  Place take();

  const TreeNetwork& network_;
  const Topology& topology_;
  const std::vector<TreeRoot>& roots_;
  std::uint32_t slack_;
  std::vector<Place> first_;  ///< of each NPU, and one more: all links
  std::vector<Outlet> outlets_;
  std::vector<LinkId> links_;
  std::vector<std::uint32_t> from_;
  std::vector<Place> opposite_;
  std::vector<double> steps_;  ///< buckets of a tree on each link; empty: one
  std::vector<std::vector<Place>> buckets_;
  std::size_t lowest_ = 0;  ///< no bucket before it has any link
  std::uint64_t draws_ = 0;
  std::size_t trees_ = 0;
};

/// The time of the busiest link with a chunk on each of the first trees of this slack. O(trees * links).
[[nodiscard]] SimTime rate_of(const TreeNetwork& network, const std::vector<TreeRoot>& roots, std::uint32_t trees,
                              std::uint32_t slack);

/// The least slack, up to a factor of two, whose trees load the busiest link hardly more than trees of any depth do.
/// O(trees * links) for each slack tried.
[[nodiscard]] std::uint32_t enough_slack(const TreeNetwork& network, const std::vector<TreeRoot>& roots,
                                         std::uint32_t trees);

}  // namespace tenex
