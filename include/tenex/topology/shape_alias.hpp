// Names that stand for a list of blocks: mesh(10,10) = LI(10)_LI(10).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tenex/topology/shape.hpp"

namespace tenex {

/// A named family of shapes.
struct ShapeAlias {
  std::string_view name;
  std::string_view usage;        ///< for messages: "mesh(a,b,..)"
  std::string_view description;  ///< what it stands for
  std::size_t least_arguments;   ///< numbers in the parentheses
  std::size_t most_arguments;
  std::uint32_t largest_argument;
  bool product;  ///< may be a factor of a larger shape
  std::vector<Block> (*expand)(const std::vector<std::uint32_t>& arguments);
};

/// All aliases, one line each.
[[nodiscard]] std::span<const ShapeAlias> shape_aliases();

}  // namespace tenex
