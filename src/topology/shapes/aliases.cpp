// The aliases: mesh, grid, torus, hypercube, dragonfly.
#include "topology/shapes/alias.hpp"

#include <array>

namespace tenex {

namespace {

using Sizes = std::vector<std::uint32_t>;

std::vector<Block> all_of(BlockKind kind, const Sizes& sizes) {
  std::vector<Block> blocks;
  for (const auto size : sizes) blocks.push_back({kind, size});
  return blocks;
}

std::vector<Block> lines(const Sizes& sizes) { return all_of(BlockKind::line, sizes); }
std::vector<Block> rings(const Sizes& sizes) { return all_of(BlockKind::ring, sizes); }
std::vector<Block> cube(const Sizes& sizes) { return std::vector<Block>(sizes[0], Block{BlockKind::ring, 2}); }
std::vector<Block> dragonfly(const Sizes& sizes) {
  return {{BlockKind::fully_connected, sizes[0]}, {BlockKind::dragonfly_groups, sizes[1]}};
}

constexpr std::size_t kMany = 64;
constexpr std::uint32_t kLarge = std::uint32_t{1} << 31;

constexpr std::array kAliases{
    ShapeAlias{"mesh", "mesh(a,b,..)", 1, kMany, kLarge, true, lines},
    ShapeAlias{"grid", "grid(a,b,..)", 1, kMany, kLarge, true, lines},
    ShapeAlias{"torus", "torus(a,b,..)", 1, kMany, kLarge, true, rings},
    ShapeAlias{"hypercube", "hypercube(d)", 1, 1, 31, true, cube},
    ShapeAlias{"dragonfly", "dragonfly(a,g)", 2, 2, kLarge, false, dragonfly},
};

}  // namespace

std::span<const ShapeAlias> shape_aliases() { return kAliases; }

}  // namespace tenex
