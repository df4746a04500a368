// The rules of a shape's blocks: spelling, links, routes, distances, and the part that a process group uses.
//
// A new block is one file in src/topology/shapes/ that defines a BlockRule, and an entry of the table there. Other code
// asks the rule of a Block and never which block it is. Positions count the NPUs along the dimension, 0 .. size-1.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tenex/topology/shape.hpp"

namespace tenex {

struct Dimension;
class TopologyBuilder;

/// The members of a process group along a dimension: `members` positions that are `stride` apart, of `extent`.
struct LinePart {
  std::uint32_t extent = 1;
  std::uint32_t members = 1;
  std::uint32_t stride = 1;
};

/// The part of a dimension that one process group can use while groups like it use the rest: a block of its members.
struct BlockPart {
  Block block;
  std::uint32_t hops = 1;   ///< hops of the dimension between neighbours in `block`; as many groups share each link
  std::uint32_t paths = 1;  ///< paths of the dimension for each link of `block`
  std::uint32_t links = 1;  ///< links of the dimension that every member can use for a collective, counted at the worst
                            ///< placed member
  /// Links of the dimension for each link of `block` on the way up or down where messages climb a tree of switches that
  /// `block` does not have.
  std::uint32_t climb = 1;
  /// NPUs that share what one of them has, on the narrowest level that the group's messages climb and `block` does not
  /// have.
  std::uint32_t oversubscription = 1;
};

/// All that other code asks of a block.
struct BlockRule {
  std::string_view name;         ///< as written before the parenthesis
  std::string_view description;  ///< for lists
  std::string_view long_name;    ///< another spelling, a word: "ring"; texts of shapes never have it
  std::string_view also = {};    ///< what others call it, separated by blanks; messages point from there to the block
  /// Adds the links (and switches) of the dimension, in increasing order of their NPUs.
  void (*add_links)(const Dimension& dimension, TopologyBuilder& builder);
  /// Number of directed links of the dimension; below 2^62, as a shape has at most 2^31 NPUs.
  std::uint64_t (*count_links)(const Dimension& dimension);
  /// Number of switches of the dimension; null: none.
  std::uint64_t (*count_switches)(const Dimension& dimension) = nullptr;
  /// The number of out-links over which `npu_bandwidth` is divided.
  std::uint32_t (*bandwidth_shares)(std::uint32_t size);
  /// Hops between two positions; a switch's links up and down are two hops. The maximum where the number varies.
  std::uint32_t (*hops)(std::uint32_t from, std::uint32_t to, const Block& block);
  /// Mean hops between two positions drawn at random, which may be the same.
  double (*mean_hops)(const Block& block);
  /// The most out-links that an NPU has, in the middle of a line.
  std::uint32_t (*degree)(std::uint32_t size);
  /// Hops between the two positions farthest apart.
  std::uint32_t (*diameter_hops)(const Block& block);
  /// Hops between all ordered pairs of positions, summed.
  std::int64_t (*total_hops)(const Block& block);
  /// Position after one step of the dimension-order route; a switch counts as one step here.
  std::uint32_t (*step_toward)(std::uint32_t from, std::uint32_t to, std::uint32_t size);
  /// The part of a dimension that a group can use.
  BlockPart (*part)(const Block& block, const LinePart& part);
  /// Whether two groups of several members share a link of their dimension whatever their schedules are,
  /// as long as messages keep to shortest paths and switches are not unwound. `closer` has the smaller stride.
  bool (*parts_share)(const LinePart& closer, const LinePart& wider);
  /// The steps of an NPU's links along the dimension, modulo the size, in the order of the links at position 0. They
  /// exist where every position has the same steps and each step has an opposite. Empty for other sizes; null: for no
  /// size.
  std::vector<std::uint32_t> (*translations)(std::uint32_t size) = nullptr;
  /// For blocks whose middle links carry more than the others: the number of links per link that crosses the middle in
  /// one direction. Null for other blocks.
  std::uint32_t (*links_per_middle_link)(std::uint32_t size) = nullptr;

  bool through_switch = false;  ///< steps go through the switches of a line, a tree
  bool takes_levels = false;    ///< Block::levels may be stated
  /// The rule of the block where its switches cut through and are wires (wires.hpp); null where it has no switch.
  const BlockRule* (*wired)(const Block& block) = nullptr;
  bool one_port = false;        ///< all of an NPU's sends along the dimension share one port
  bool all_neighbours = false;  ///< every position has a link of its own to every other one, in order of position
  /// Links join only consecutive positions, and perhaps the last to the first. Routes go the shorter way, ties toward
  /// increasing positions.
  bool stepwise = false;
};

/// All blocks, one line each.
[[nodiscard]] std::span<const BlockRule* const> block_rules();

// Names that stand for a list of blocks: mesh(10,10) = LI(10)_LI(10).

/// A name for products.
struct ShapeAlias {
  std::string_view name;
  std::string_view usage;        ///< for messages: "mesh(a,b,..)"
  std::string_view description;  ///< what it stands for
  std::size_t least_arguments;   ///< numbers in the parentheses
  std::size_t most_arguments;
  std::uint32_t largest_argument;
  std::vector<Block> (*expand)(const std::vector<std::uint32_t>& arguments);
};

/// All aliases, one line each.
[[nodiscard]] std::span<const ShapeAlias> shape_aliases();

}  // namespace tenex
