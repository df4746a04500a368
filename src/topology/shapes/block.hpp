// A dimension under construction, and the rules that several files of shapes use.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// One dimension of a shape under construction: NPU u has position (u / stride) mod size, and its neighbours along the
/// dimension are a multiple of `stride` away.
struct Dimension {
  std::size_t npus = 1;               ///< of the whole shape
  std::uint32_t size = 1;             ///< of the block
  std::vector<SwitchLevel> levels{};  ///< of the block
  std::size_t stride = 1;             ///< product of the sizes of the dimensions before
  LinkClass link;                     ///< the class of every link of the dimension

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

/// The dimension `index` of a shape, with no link class.
[[nodiscard]] Dimension dimension_of(const Shape& shape, std::size_t index);
/// Number of switches of a dimension.
[[nodiscard]] std::uint64_t count_switches(const BlockRule& rule, const Dimension& dimension);

extern const BlockRule kRingRule;
extern const BlockRule kFullyConnectedRule;
extern const BlockRule kLineRule;
extern const BlockRule kSwitchRule;

}  // namespace tenex
