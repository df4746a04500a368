// The shape notation: "RI(4)_FC(8)_RI(4)_SW(32)", "mesh(10,10)", "fat_tree(16)".
//
// A shape is a Cartesian product of blocks; dimension 1 varies fastest in the NPU id. Blocks: RI ring (bidirectional;
// RI(2) is one link each way), FC fully connected, SW switch (one switch per line of NPUs), LI line. SW(32,8:2) is one
// dimension with a hierarchy of switches: 32 NPUs, leaf switches of 8, an oversubscription of 2 (the tree is described
// in src/topology/shapes/switch_tree.hpp). Aliases name products: mesh(a,b,..) of LI, torus(a,b,..) of RI,
// hyperx(a,b,..) of FC. The notation is that of ASTRA-sim2.0 and LIBRA. A shape may also be a member of a family that
// is no product, such as dragonfly(a,g) and fat_tree(k), and then stands alone; where this file says dimension, such a
// shape has levels of links (tenex/topology/family.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {

struct BlockRule;
struct FamilyRule;

/// A level of smaller switches inside a switch dimension.
struct SwitchLevel {
  std::uint32_t npus = 1;              ///< below each switch of the level
  std::uint32_t oversubscription = 1;  ///< links into the switch from below for each of its links up
  bool operator==(const SwitchLevel&) const = default;
};

/// One dimension of a shape: a block and the number of NPUs that it spans.
struct Block {
  const BlockRule* rule = nullptr;  ///< of the table (tenex/topology/block.hpp): never null in a shape
  std::uint32_t size = 1;
  std::vector<SwitchLevel> levels{};  ///< below the top switch, from the NPUs up; only of rules that take levels
  bool operator==(const Block&) const = default;
};

/// A product of blocks, first dimension fastest; or a member of a family.
struct Shape {
  std::vector<Block> blocks;               ///< of a product; empty otherwise
  const FamilyRule* family = nullptr;      ///< null for products
  std::vector<std::uint32_t> arguments{};  ///< of the family, as many as it takes

  [[nodiscard]] bool is_product() const { return family == nullptr; }
  [[nodiscard]] std::size_t npus() const;
  /// The dimensions of a product, the levels of links of a family.
  [[nodiscard]] std::size_t dimensions() const;
  /// The words of messages for one of them and for several: "dimension", "level"; "dimensions", "levels of links".
  [[nodiscard]] std::string_view dimension_word() const { return is_product() ? "dimension" : "level"; }
  [[nodiscard]] std::string_view dimensions_word() const { return is_product() ? "dimensions" : "levels of links"; }
  bool operator==(const Shape&) const = default;
};

/// Canonical text, aliases expanded: "LI(10)_LI(10)", "fat_tree(16)".
[[nodiscard]] std::string to_string(const Shape& shape);

/// Parses the notation. Errors (input) at `place` plus the offset in the text: unknown block or alias with the nearest
/// spelling, a size of zero, a missing parenthesis, more than 2^31 NPUs, numbers for which a family has no member.
[[nodiscard]] Result<Shape> parse_shape(std::string_view text, const Place& place = {});

/// The coordinates of an NPU in a product shape, dimension 1 first.
[[nodiscard]] std::vector<std::uint32_t> coordinates_of(const Shape& shape, NpuId npu);
/// The inverse of coordinates_of().
[[nodiscard]] NpuId npu_at(const Shape& shape, const std::vector<std::uint32_t>& coordinates);

/// The links of a shape as a study describes them.
struct ShapeLinks {
  std::vector<SimTime> alpha;        ///< per dimension, or one for all
  std::vector<Bandwidth> bandwidth;  ///< per dimension, or one for all
  /// `bandwidth` is per NPU and dimension (LIBRA's B_i) and divided over the NPU's out-links there: RI(k>2) and LI by 2
  /// (ends included), FC(k) by k-1, SW by 1; in a level of a family by the most such links that an NPU has, and not
  /// divided between switches. Otherwise it is per link. A quotient that is not whole is rounded down.
  bool per_npu = false;
};

/// The size of a shape's topology, known without building it; for memory plans.
struct ShapeCounts {
  std::uint64_t links = 0;  ///< directed
  std::uint64_t switches = 0;
  bool operator==(const ShapeCounts&) const = default;
};
/// O(dimensions).
[[nodiscard]] ShapeCounts count_shape(const Shape& shape);

/// The links, each way, between the switches of a dimension of a product: 0 without levels of switches.
[[nodiscard]] std::uint64_t links_between_switches(const Shape& shape, std::size_t dimension);

/// The number of out-links over which `npu_bandwidth` divides an NPU's bandwidth of a dimension; at least 1.
[[nodiscard]] std::uint32_t bandwidth_shares(const Shape& shape, std::size_t dimension);

class Topology;

/// The topology of a shape. A switch block's links have its alpha and bandwidth each way, so a route through it is two
/// hops. Links are ordered by dimension, then by NPU id; a switch's links stand beside those of the NPU that they join.
/// Links between the switches of a dimension follow, level by level. Switches are ordered by dimension, then by the
/// first NPU of their line, then by level. SW(1) has no switch. The files of families state the order of their
/// vertices. Errors: (input) the
/// wrong number of alphas or bandwidths, a negative alpha, a bandwidth that is not positive or rounds to zero;
/// (resource) more than 2^32-2 links. O(links).
[[nodiscard]] Result<Topology> build_topology(const Shape& shape, const ShapeLinks& links);

}  // namespace tenex
