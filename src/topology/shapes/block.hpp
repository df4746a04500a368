// What a shape block is: its spelling, its links, its routes and its distances.
//
// A new block is one file that defines a BlockRule, one line in block_rules() and one BlockKind. The rest of the room
// asks the rule and never switches over kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tenex/base/ids.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// One dimension of a shape under construction: NPU u has position (u / stride) mod size, and its neighbours along the
/// dimension are a multiple of `stride` away.
struct Dimension {
  std::size_t npus = 1;    ///< of the whole shape
  std::uint32_t size = 1;  ///< of the block
  std::size_t stride = 1;  ///< product of the sizes of the dimensions before
  LinkClass link;          ///< what each link of the dimension looks like

  [[nodiscard]] std::size_t lines() const { return npus / size; }
  [[nodiscard]] std::uint32_t position(std::size_t npu) const {
    return static_cast<std::uint32_t>(npu / stride % size);
  }
  /// The NPU at another position of the same line.
  [[nodiscard]] std::size_t moved(std::size_t npu, std::uint32_t to) const {
    return npu - position(npu) * stride + to * stride;
  }
  /// Number of the line through an NPU, in the order of the lines' first NPUs.
  [[nodiscard]] std::size_t line_of(std::size_t npu) const { return npu / (stride * size) * stride + npu % stride; }
  /// The first NPU of a line.
  [[nodiscard]] std::size_t first_of_line(std::size_t line) const {
    return line / stride * (stride * size) + line % stride;
  }
  void connect(TopologyBuilder& builder, std::size_t source, std::size_t target) const {
    builder.add_link({VertexId::at(source), VertexId::at(target), link.alpha, link.bandwidth});
  }
};

/// Everything the room knows of one block.
struct BlockRule {
  BlockKind kind;
  std::string_view name;  ///< as written before the parenthesis; empty where no block of its own is written
  /// Adds the links (and switches) of the dimension, in increasing order of their NPUs.
  void (*add_links)(const Dimension& dimension, TopologyBuilder& builder);
  /// Number of directed links of the dimension; below 2^62, as a shape has at most 2^31 NPUs.
  std::uint64_t (*count_links)(const Dimension& dimension);
  /// Number of switches of the dimension.
  std::uint64_t (*count_switches)(const Dimension& dimension);
  /// Over how many out-links an NPU's bandwidth of this dimension is divided (`npu_bandwidth`).
  std::uint32_t (*bandwidth_shares)(const Dimension& dimension);
  /// Hops between the two positions farthest apart (products only).
  std::uint32_t (*diameter_hops)(std::uint32_t size);
  /// Position after one step of the dimension-order route (products only); a switch counts as one step here.
  std::uint32_t (*step_toward)(std::uint32_t from, std::uint32_t to, std::uint32_t size);
  /// Steps go through a switch, one per line.
  bool through_switch = false;
};

/// All blocks, one line each.
[[nodiscard]] std::span<const BlockRule* const> block_rules();
/// The rule of a kind. O(number of blocks).
[[nodiscard]] const BlockRule& rule_of(BlockKind kind);

/// The dimension `index` of a shape, with no link class.
[[nodiscard]] Dimension dimension_of(const Shape& shape, std::size_t index);

extern const BlockRule kRingRule;
extern const BlockRule kFullyConnectedRule;
extern const BlockRule kSwitchRule;
extern const BlockRule kLineRule;
extern const BlockRule kDragonflyGroupsRule;

}  // namespace tenex
