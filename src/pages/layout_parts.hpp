// Internal to pages: parts of lay_out().
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "tenex/pages/layout.hpp"

namespace tenex {

/// The radius of a circle on which n neighbours are 1 apart; 0 for one.
[[nodiscard]] double circle_radius(std::size_t n);
/// Position i of n on a circle about the origin, from the top clockwise.
[[nodiscard]] Spot on_circle(std::size_t i, std::size_t n, double radius);

struct PlacedProduct {
  std::string_view form;
  std::vector<Spot> at;
};
/// A product of blocks. nullopt where its switches form trees, which levels show better.
[[nodiscard]] std::optional<PlacedProduct> place_product(const Topology& topology, const Shape& shape);

/// NPUs in a row of blocks, one for each switch that they hang on, and switches above, by their distance from the NPUs.
[[nodiscard]] std::vector<Spot> place_levels(const Topology& topology);

}  // namespace tenex
