// A product of blocks as layers of equal positions: the quotient by the translations that it has.
//
// A dimension along which moving all NPUs by one maps links to links (a ring, a fully connected block, an unwound
// switch, a line of two) gives positions. The other dimensions (lines) give layers. All positions of a layer see the
// same network, so a schedule may be the same at all of them: what the NPU at position p of a layer does with the chunk
// of an owner at position q, the NPU at p + d does with the chunk of the owner at q + d. An item is a chunk as a
// position sees it: its owner's layer, its number there, and how far its owner is. One schedule for each layer then
// stands for all NPUs, as one schedule does where there are no lines (orbit_gather.hpp).
//
// Nothing is taken from the shape but the coordinates: whether links move to links is looked up, link by link, so
// reversed topologies, links of several speeds and missing links are told apart from those that only look alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tenex/base/csr.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// An in-link of every position of a layer.
struct LayerPort {
  std::uint32_t source = 0;     ///< the layer that it comes from
  std::uint32_t shift = 0;      ///< number of the move from a position to that of the link's source
  std::uint32_t dimension = 0;  ///< along which it leads
  std::uint16_t link_class = 0;
};

/// An out-link of a layer.
struct LayerUse {
  std::uint32_t layer = 0;  ///< its target
  std::uint32_t port = 0;   ///< number among that layer's ports
};

class LayerNetwork {
 public:
  /// nullopt where the topology is no product of blocks between NPUs, or where no translation maps links to links.
  /// Where all do there is one layer. O(links log links * dimensions).
  [[nodiscard]] static std::optional<LayerNetwork> of(const Topology& topology);

  [[nodiscard]] std::uint32_t layers() const { return layers_; }
  [[nodiscard]] std::uint32_t positions() const { return positions_; }
  [[nodiscard]] std::size_t dimensions() const { return dimensions_.size(); }
  [[nodiscard]] std::span<const LayerPort> ports(std::uint32_t layer) const { return ports_.row(layer); }
  /// The number of a layer's first port among those of all layers.
  [[nodiscard]] std::uint32_t first_port(std::uint32_t layer) const { return first_port_[layer]; }
  [[nodiscard]] std::uint32_t all_ports() const { return static_cast<std::uint32_t>(ports_.items()); }
  [[nodiscard]] std::span<const LayerUse> uses(std::uint32_t layer) const { return uses_.row(layer); }
  /// What a receiver at `offset` from an owner needs, as an offset of the sender; and back.
  [[nodiscard]] std::uint32_t at_source(std::uint32_t shift, std::uint32_t offset) const {
    return shifts_[shift].there[offset];
  }
  [[nodiscard]] std::uint32_t at_target(std::uint32_t shift, std::uint32_t offset) const {
    return shifts_[shift].back[offset];
  }
  [[nodiscard]] NpuId npu(std::uint32_t layer, std::uint32_t position) const {
    return NpuId(npu_of_layer_[layer] + npu_of_position_[position]);
  }
  /// The position from which `position` is at `offset`.
  [[nodiscard]] std::uint32_t origin(std::uint32_t position, std::uint32_t offset) const;
  /// The link of a layer's port into one position.
  [[nodiscard]] LinkId link(std::uint32_t layer, std::uint32_t port, std::uint32_t position) const {
    return links_[std::size_t{first_port_[layer]} * positions_ + std::size_t{port} * positions_ + position];
  }
  /// A number for the coordinates of a layer (`of_layer`) or an offset in the marked dimensions alone.
  [[nodiscard]] std::uint32_t coordinates(bool of_layer, std::uint32_t number, const std::vector<bool>& marked) const;

 private:
  struct Dimension {
    std::uint32_t size = 1;
    std::uint32_t stride = 1;
    bool layered = false;  ///< no translation
  };
  /// A move from position to position, as a table.
  struct Shift {
    std::uint32_t by = 0;  ///< the position to which it moves position 0
    std::vector<std::uint32_t> there;
    std::vector<std::uint32_t> back;
  };

  LayerNetwork() = default;
  bool find_dimensions(const Topology& topology);
  void number_npus(const Topology& topology);
  bool find_ports(const Topology& topology);
  [[nodiscard]] bool moves_links(const Topology& topology, const Dimension& dimension) const;
  [[nodiscard]] std::uint32_t dimension_between(std::uint32_t a, std::uint32_t b) const;
  [[nodiscard]] std::uint32_t sum(std::uint32_t a, std::uint32_t b, bool subtract) const;
  std::uint32_t shift_by(std::uint32_t position);

  std::vector<Dimension> dimensions_;
  std::uint32_t layers_ = 1;
  std::uint32_t positions_ = 1;
  std::vector<std::uint32_t> npu_of_layer_;     ///< at position 0
  std::vector<std::uint32_t> npu_of_position_;  ///< in layer 0
  std::vector<std::uint32_t> layer_of_;         ///< per NPU
  std::vector<std::uint32_t> position_of_;
  std::vector<Shift> shifts_;
  Csr<LayerPort> ports_;
  std::vector<std::uint32_t> first_port_;
  Csr<LayerUse> uses_;
  std::vector<LinkId> links_;  ///< by port of all layers, then by position
};

}  // namespace tenex
