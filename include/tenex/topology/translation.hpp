// The translation group of a shape: every NPU sees the same network.
//
// Products of rings, fully connected blocks and pairs (RI(2), LI(2), so hypercubes too) are Cayley graphs of
// Z_k1 x Z_k2 x ..: adding an offset to all NPUs, digit by digit modulo the block sizes, maps links to links of the
// same dimension. An offset is written as the NPU to which it moves NPU 0, so offsets are NPU ids and addition is a
// mixed-radix addition without carries. Each NPU has one out-link per direction (generator): +1 and -1 in a ring, 1 in
// a pair, 1 .. k-1 in a fully connected block. A switch unwound to degree d (transform.hpp) is one too, with the
// directions 1 .. d: a circulant graph. The numbering of links by build_topology() and unwind_switches() makes link <->
// (source, direction) a formula; nothing is stored per NPU or per link.
//
// Twisted products of rings (FamilyRule::rings) are Cayley graphs of Z x Z x .. modulo the lattice of their twists: an
// addition that goes around a dimension carries into the last one. The step -1 of a twisted ring is its size - 1
// positions forward, and as far back along the last dimension as going around leads forward.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/family.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The direction of a step whose opposite no link takes.
inline constexpr std::uint32_t kNoOpposite = std::numeric_limits<std::uint32_t>::max();

/// One kind of link: from every NPU to the NPU at a fixed offset from it.
struct TranslationDirection {
  std::uint32_t dimension = 0;   ///< index into TranslationGroup::dimensions()
  std::uint32_t step = 0;        ///< positions moved along that dimension, 1 .. size-1 (RI's -1 is size-1)
  NpuId offset;                  ///< the same step as an offset: the NPU to which it moves NPU 0
  std::uint32_t opposite = 0;    ///< the direction of the opposite step; kNoOpposite: there is none
  std::uint16_t link_class = 0;  ///< of all its links
  std::uint32_t along_last = 0;  ///< positions moved along the last dimension besides; 0 where nothing is twisted
};

/// One dimension with more than one NPU.
struct TranslationDimension {
  std::uint32_t size = 1;
  std::uint32_t farthest_hops = 1;    ///< hops to the farthest position: half the ring, 1 where all are neighbours
  std::uint32_t stride = 1;           ///< product of the sizes before: position of u is u / stride % size
  std::uint32_t first_direction = 0;  ///< its directions are consecutive
  std::uint32_t directions = 0;
  std::uint64_t first_link = 0;  ///< its links are consecutive, `directions` for each NPU in order of id
  bool links_by_target = false;  ///< an NPU's links are in the order of their targets (FC), not of their directions
  bool one_port = false;         ///< wires over a switch: all directions leave, and arrive, by one port of an NPU
  std::uint32_t carry = 0;       ///< positions along the last dimension that going around this one adds
};

/// What a caller knows of links that share physical ones, and of links without an opposite.
enum class LinkPorts : std::uint8_t {
  own,     ///< every link is used without regard to others, and has an opposite: no topologies of wires, none unwound
  shared,  ///< the caller respects TranslationDimension::one_port and kNoOpposite
};

/// The group of an intact shape. A small value; O(directions) memory.
class TranslationGroup {
 public:
  /// nullopt where the topology has no translation group: a line of more than two NPUs, a switch, a dragonfly, removed
  /// links, a reversed topology, links that differ inside a dimension. Trusts topology.shape() and unwound_shape() for
  /// the targets of links (the orbit verifier does not). O(links) where the topology has several link classes, else
  /// O(directions).
  [[nodiscard]] static std::optional<TranslationGroup> of(const Topology& topology, LinkPorts ports = LinkPorts::own);

  [[nodiscard]] std::size_t npus() const { return npus_; }
  [[nodiscard]] std::size_t links() const { return npus_ * directions_.size(); }
  [[nodiscard]] std::span<const TranslationDirection> directions() const { return directions_; }
  /// The dimensions with more than one NPU.
  [[nodiscard]] std::span<const TranslationDimension> dimensions() const { return dimensions_; }

  /// The NPU at `offset` from `npu`. O(dimensions).
  [[nodiscard]] NpuId add(NpuId npu, NpuId offset) const;
  /// The offset that takes `from` to `npu`: add(from, subtract(npu, from)) == npu. O(dimensions).
  [[nodiscard]] NpuId subtract(NpuId npu, NpuId from) const;
  /// add(npu, directions()[direction].offset) in O(1).
  [[nodiscard]] NpuId neighbour(NpuId npu, std::uint32_t direction) const;
  /// The NPU whose neighbour in a direction is `npu`. O(1).
  [[nodiscard]] NpuId origin(NpuId npu, std::uint32_t direction) const;
  /// Whether every direction has an opposite.
  [[nodiscard]] bool two_way() const;
  /// Whether additions carry from one dimension into another. Without, the group is the product of its dimensions.
  [[nodiscard]] bool twisted() const;

  /// A link as its source and direction.
  struct Departure {
    NpuId source;
    std::uint32_t direction = 0;
    bool operator==(const Departure&) const = default;
  };
  /// The link that leaves `source` in a direction. O(1).
  [[nodiscard]] LinkId link(Departure departure) const;
  /// The inverse of link(). O(log dimensions).
  [[nodiscard]] Departure departure(LinkId link) const;

 private:
  TranslationGroup() = default;
  bool add_block(const Block& block);
  void add_circulant(std::uint32_t size, std::uint32_t degree, bool one_port);
  void add_dimension(TranslationDimension dimension, const std::vector<std::uint32_t>& steps);
  void add_rings(std::span<const FamilyRing> rings);
  bool take_classes(const Topology& topology);
  bool leads_as_built(const Topology& topology) const;

  std::size_t npus_ = 1;
  std::vector<TranslationDimension> dimensions_;
  std::vector<TranslationDirection> directions_;
};

}  // namespace tenex
