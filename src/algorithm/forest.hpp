// All-Reduce along trees: every chunk is summed up the tree of its owner to the root and then sent down to all. Several
// trees share the data. The c chunks of an NPU are c slices, pipelined: a tree carries its chunks of a slice in one
// message.
//
// All-Gather (down alone) and Reduce-Scatter (up alone) are defined too where every NPU is the root of a tree of its
// own chunks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"

namespace tenex {

/// A rooted tree over the ranks of a group.
struct Tree {
  std::uint32_t root = 0;
  /// Children of a parent are in the order in which it serves them.
  struct Edge {
    std::uint32_t parent;
    std::uint32_t child;
  };
  std::vector<Edge> edges;
};

/// Trees that share the data of a group.
class Forest {
 public:
  /// Tree t carries the chunks of the owners first_owner[t] .. first_owner[t + 1] - 1; `first_owner` has one entry more
  /// than there are trees. Trees that carry nothing are left out.
  Forest(std::uint32_t members, std::vector<Tree> trees, const std::vector<std::uint32_t>& first_owner);

  [[nodiscard]] std::uint32_t members() const { return members_; }
  [[nodiscard]] std::uint32_t trees() const { return static_cast<std::uint32_t>(first_owner_.size()) - 1; }
  [[nodiscard]] std::uint32_t tree_of(std::uint32_t owner) const { return tree_of_owner_[owner]; }
  [[nodiscard]] std::uint32_t first_owner(std::uint32_t tree) const { return first_owner_[tree]; }
  [[nodiscard]] std::uint32_t owners(std::uint32_t tree) const { return first_owner_[tree + 1] - first_owner_[tree]; }
  /// The parent of a rank; the rank itself at the root.
  [[nodiscard]] std::uint32_t parent(std::uint32_t tree, std::uint32_t rank) const {
    return parent_[place(tree, rank)];
  }
  [[nodiscard]] std::span<const std::uint32_t> children(std::uint32_t tree, std::uint32_t rank) const {
    const auto at = place(tree, rank);
    const auto begin = rank == 0 ? 0 : children_end_[at - 1];
    return std::span(children_).subspan(std::size_t{tree} * (members_ - 1) + begin, children_end_[at] - begin);
  }
  /// The index of a rank in a tree.
  [[nodiscard]] std::size_t place(std::uint32_t tree, std::uint32_t rank) const {
    return std::size_t{tree} * members_ + rank;
  }

 private:
  std::uint32_t members_;
  std::vector<std::uint32_t> first_owner_;
  std::vector<std::uint32_t> tree_of_owner_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> children_end_;  ///< index of the end among the tree's children
  std::vector<std::uint32_t> children_;
};

/// The first owner of each of `trees` trees and the end: parts as equal as possible, the larger ones first.
[[nodiscard]] std::vector<std::uint32_t> equal_shares(std::uint32_t members, std::uint32_t trees);

/// One forest per group.
[[nodiscard]] std::shared_ptr<const Program> make_forest(const Collective& collective,
                                                         std::vector<std::shared_ptr<const Forest>> forests);

}  // namespace tenex
