// What a block of a shape is: its spelling, its links, its routes, its distances, and what a process group has of it.
//
// A new block is one file in src/topology/shapes/ that defines a BlockRule, and an entry of the table there. Others ask
// the rule of a Block and never which block it is. Positions are those of NPUs along the dimension, 0 .. size-1.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tenex/topology/shape.hpp"

namespace tenex {

struct Dimension;
class TopologyBuilder;

/// Where the members of a process group lie along a dimension: `members` positions, `stride` apart, of `extent`.
struct LinePart {
  std::uint32_t extent = 1;
  std::uint32_t members = 1;
  std::uint32_t stride = 1;
};

/// What such a group has to itself, groups like it having the rest: a block of its members.
struct BlockPart {
  Block block;
  std::uint32_t hops = 1;   ///< of the dimension between neighbours in `block`; so many groups share each link
  std::uint32_t paths = 1;  ///< of the dimension for each link of `block`
  std::uint32_t links = 1;  ///< of the dimension that every member can use for a collective: those of the worst placed
};

/// All that others ask of a block. What is `for products` is null of a block that is no factor of a product.
struct BlockRule {
  std::string_view name;         ///< as written before the parenthesis; empty: no block of its own is written
  std::string_view description;  ///< for lists
  /// Adds the links (and switches) of the dimension, in increasing order of their NPUs.
  void (*add_links)(const Dimension& dimension, TopologyBuilder& builder);
  /// Number of directed links of the dimension; below 2^62, as a shape has at most 2^31 NPUs.
  std::uint64_t (*count_links)(const Dimension& dimension);
  /// Number of switches of the dimension; null: none.
  std::uint64_t (*count_switches)(const Dimension& dimension) = nullptr;
  /// Over how many out-links an NPU's bandwidth of this dimension is divided (`npu_bandwidth`). `stride`: the product
  /// of the sizes before, on which it does not depend in products.
  std::uint32_t (*bandwidth_shares)(std::uint32_t size, std::size_t stride);
  /// Hops between two positions, a switch's link up and down being two; the most there can be where they vary.
  std::uint32_t (*hops)(std::uint32_t from, std::uint32_t to, std::uint32_t size);
  /// Hops between two positions drawn at random, which may be the same, on average.
  double (*mean_hops)(std::uint32_t size);

  /// For products: out-links of an NPU in the middle, which has the most.
  std::uint32_t (*degree)(std::uint32_t size) = nullptr;
  /// For products: hops between the two positions farthest apart.
  std::uint32_t (*diameter_hops)(std::uint32_t size) = nullptr;
  /// For products: hops between all ordered pairs of positions, summed.
  std::int64_t (*total_hops)(std::uint32_t size) = nullptr;
  /// For products: position after one step of the dimension-order route; a switch counts as one step here.
  std::uint32_t (*step_toward)(std::uint32_t from, std::uint32_t to, std::uint32_t size) = nullptr;
  /// For products: what a group has of a dimension.
  BlockPart (*part)(const LinePart& part) = nullptr;
  /// For products: whether two groups of several members, `closer` having the smaller stride, use one link of their
  /// dimension whatever their schedules are, so long as messages keep to shortest paths (of a switch: as it stands).
  bool (*parts_share)(const LinePart& closer, const LinePart& wider) = nullptr;
  /// The steps by which an NPU's links lead on, modulo the size, where they are the same from every position and each
  /// has one that leads back; in the order of the links at position 0. Empty elsewhere; null: of no size.
  std::vector<std::uint32_t> (*translations)(std::uint32_t size) = nullptr;
  /// Where the links in the middle carry more than others: how many there are for each that leads across one way; null
  /// elsewhere.
  std::uint32_t (*links_per_middle_link)(std::uint32_t size) = nullptr;

  bool through_switch = false;  ///< steps go through a switch, one per line
  bool all_neighbours = false;  ///< every position has a link of its own to every other one, in order of position
  /// Links lead from a position to the next ones alone, perhaps from the last to the first. Routes go the shorter way,
  /// ties toward increasing positions.
  bool stepwise = false;
};

/// All blocks, one line each.
[[nodiscard]] std::span<const BlockRule* const> block_rules();

}  // namespace tenex
