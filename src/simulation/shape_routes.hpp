// Dimension-order routes on intact product shapes, by arithmetic on coordinates.
//
// The routes are those of the Router: dimension 1 first, and within a dimension by the block's rule. Encoding: the
// coordinates of all NPUs, and per NPU a table of its out-links by (dimension, direction), so that a hop costs a few
// comparisons and two loads. The rule by which two positions give a direction is found once for each dimension
// (WayAlong).
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The rule by which a route along a block finds the next link.
enum class WayAlong : std::uint8_t {
  round,        ///< over one of two links, the shorter way
  straight,     ///< over one of two links, toward the position
  direct,       ///< over the link to the position itself
  one_link,     ///< over the only one
  over_switch,  ///< over the only one, to a switch
  unknown,
};
/// The rule of a block that is a factor of a product. O(1).
[[nodiscard]] WayAlong way_along(const Block& block);

/// The next link on a route on a product shape. Immutable, so thread-safe. O(npus * dimensions + links) memory.
class ShapeRoutes {
 public:
  /// nullopt if the topology is no intact product shape, or the rule of a block is unknown. O(links * dimensions).
  [[nodiscard]] static std::optional<ShapeRoutes> of(const Topology& topology);

  /// The same routes under other names: link l is LinkId(name[l]).
  [[nodiscard]] ShapeRoutes renamed(const std::vector<std::uint32_t>& name) const {
    auto result = *this;
    for (auto& link : result.out_)
      if (link.exists()) link = LinkId(name[link.index()]);
    return result;
  }

  /// none() at the destination. O(dimensions).
  [[nodiscard]] LinkId operator()(VertexId at, NpuId destination) const {
    if (at.index() >= npus_) {
      const auto* to = &coordinates_[destination.index() * dimensions_.size()];
      const auto& hub = hubs_[at.index() - npus_];
      return out_[hub.first + to[hub.dimension]];
    }
    if (!packed_.empty()) {
      const auto from = packed_[at.index()];
      const auto to_all = packed_[destination.index()];
      if (from == to_all) return LinkId::none();
      const auto bit = static_cast<unsigned>(std::countr_zero(from ^ to_all)) & ~(packed_bits - 1);
      const auto& dimension = dimensions_[bit / packed_bits];
      return out_[at.index() * directions_ + dimension.first_direction +
                  direction(dimension, coordinate(from, bit), coordinate(to_all, bit))];
    }
    const auto* to = &coordinates_[destination.index() * dimensions_.size()];
    const auto* from = &coordinates_[at.index() * dimensions_.size()];
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      if (from[d] != to[d])
        return out_[at.index() * directions_ + dimensions_[d].first_direction +
                    direction(dimensions_[d], from[d], to[d])];
    return LinkId::none();
  }
  /// Prefetches the memory that the call operator will read.
  void prefetch(VertexId at, NpuId destination) const {
    if (!packed_.empty()) __builtin_prefetch(&packed_[destination.index()]);
    if (at.index() < npus_) __builtin_prefetch(&out_[at.index() * directions_]);
  }

 private:
  struct Dimension {
    WayAlong way;
    std::uint32_t size;
    std::uint32_t first_direction;
  };
  struct Hub {
    std::uint32_t dimension;
    std::size_t first;  ///< position in out_ of its links, which are ordered by the position that they lead to
  };

  [[nodiscard]] static std::uint32_t coordinate(std::uint64_t packed, unsigned bit) {
    return static_cast<std::uint32_t>(packed >> bit & packed_mask);
  }
  /// The direction of a step from a position to another.
  [[nodiscard]] static std::uint32_t direction(const Dimension& dimension, std::uint32_t from, std::uint32_t to) {
    switch (dimension.way) {
      case WayAlong::round: {
        const auto upward = to > from ? to - from : to + dimension.size - from;
        return upward <= dimension.size - upward ? 0 : 1;
      }
      case WayAlong::straight:
        return to > from ? 0 : 1;
      case WayAlong::direct:
        return to > from ? to - 1 : to;
      default:
        return 0;
    }
  }

  static constexpr unsigned packed_bits = 16;
  static constexpr std::uint64_t packed_mask = (std::uint64_t{1} << packed_bits) - 1;

  void pack_coordinates();
  bool add_dimensions(const Shape& shape);
  bool add_links(const Topology& topology);
  std::optional<std::size_t> dimension_between(NpuId a, NpuId b) const;
  bool add_hubs(const Topology& topology);

  std::size_t npus_ = 0;
  std::vector<Dimension> dimensions_;  ///< dimensions of more than one NPU
  std::vector<std::uint32_t> strides_;
  std::uint32_t directions_ = 0;
  std::vector<std::uint32_t> coordinates_;  ///< NPU-major
  std::vector<std::uint64_t> packed_;       ///< the same, 16 bits each, if they fit into one word per NPU
  std::vector<LinkId> out_;                 ///< NPUs x directions, then the hubs' links
  std::vector<Hub> hubs_;                   ///< by switch
};

}  // namespace tenex
