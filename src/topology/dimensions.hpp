// The dimensions of an intact product shape for routes and distances: strides and the vertices of switches.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tenex/base/quantity.hpp"
#include "tenex/topology/topology.hpp"
#include "topology/shapes/block.hpp"

namespace tenex {

/// A dimension of a built shape.
struct PlacedDimension {
  Dimension dimension;
  const BlockRule* rule = nullptr;
  std::size_t first_switch = 0;  ///< vertex of the switch of line 0, where the rule goes through switches
  std::size_t switches = 0;
};

/// The dimensions of a topology that is an intact product shape; empty otherwise. O(dimensions^2).
[[nodiscard]] std::vector<PlacedDimension> placed_dimensions(const Topology& topology);

/// The alpha of each dimension; nullopt unless the topology is an intact product shape and all links of a dimension
/// have the same alpha (a dimension without links has alpha 0). O(links); O(dimensions) where all links are alike.
[[nodiscard]] std::optional<std::vector<SimTime>> uniform_alphas(const Topology& topology);

}  // namespace tenex
