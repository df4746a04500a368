// The hierarchy of switches inside one dimension, as arithmetic: SW(512,8:2,64) (LIBRA, Fig. 4b).
//
// A line of k NPUs stands below one top switch. Level 0 has switches over l_0 consecutive positions each, level 1 over
// l_1, and so on; the top switch over k. Every size divides the next. All links of the dimension are alike, as the
// ports of switches of one generation are: a switch of level j has u_j of them up to its switch of level j+1, and as
// many down, each with the alpha and the bandwidth of an NPU's link. With an oversubscription of o_j,
//
//   u_0 = l_0 / o_0, and u_j = (l_j / l_(j-1)) u_(j-1) / o_j: what comes from below, divided by o_j, which must be
//   whole.
//
// So with o = 1 a switch can pass on all that its NPUs send (non-blocking), and in general the NPUs below a switch of
// level j share 1 / (o_0 .. o_j) of what they have. The bandwidth up is a bundle of links and not one fast link because
// a chunk that cuts through a switch is no faster on the next link: it would keep a fast link as long as a slow one.
// Messages find their links of a bundle by the position to which they go (topology/lanes.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/topology/shape.hpp"

namespace tenex {

/// One line's tree. Levels count from the leaves, 0 .. top(); all switches of a line are numbered level by level.
class SwitchTree {
 public:
  SwitchTree(std::uint32_t size, const std::vector<SwitchLevel>& levels) {
    std::uint32_t below = 1;  // NPUs under a switch of the level below
    std::uint32_t lanes = 1;  // links up of such a switch; an NPU has one
    for (const SwitchLevel& level : levels) {
      lanes = level.npus / below * lanes / level.oversubscription;
      lanes_.push_back(lanes);
      below = level.npus;
      below_.push_back(below);
    }
    below_.push_back(size);
    first_.push_back(0);
    for (const std::uint32_t npus : below_) first_.push_back(first_.back() + size / npus);
  }

  [[nodiscard]] std::size_t top() const { return lanes_.size(); }
  /// NPUs below each switch of a level.
  [[nodiscard]] std::uint32_t npus_below(std::size_t level) const { return below_[level]; }
  /// Links up of each switch of a level below the top.
  [[nodiscard]] std::uint32_t lanes(std::size_t level) const { return lanes_[level]; }
  /// Switches of a level.
  [[nodiscard]] std::uint32_t switches(std::size_t level) const { return first_[level + 1] - first_[level]; }
  /// Switches of the line.
  [[nodiscard]] std::uint32_t switches() const { return first_.back(); }
  /// The number of the first switch of a level.
  [[nodiscard]] std::uint32_t first(std::size_t level) const { return first_[level]; }
  /// The level of a switch.
  [[nodiscard]] std::size_t level_of(std::uint32_t number) const {
    std::size_t level = 0;
    while (number >= first_[level + 1]) ++level;
    return level;
  }
  /// The switch of a level above a position.
  [[nodiscard]] std::uint32_t above(std::size_t level, std::uint32_t position) const {
    return first_[level] + position / below_[level];
  }
  /// The lowest level with one switch above both positions.
  [[nodiscard]] std::size_t meeting(std::uint32_t a, std::uint32_t b) const {
    std::size_t level = 0;
    while (a / below_[level] != b / below_[level]) ++level;
    return level;
  }

 private:
  std::vector<std::uint32_t> below_;  // by level
  std::vector<std::uint32_t> lanes_;  // by level below the top
  std::vector<std::uint32_t> first_;  // by level, and the number of all
};

}  // namespace tenex
