// The aliases: mesh, grid, torus, hypercube, dragonfly.
#include "tenex/topology/block.hpp"

#include <array>

#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

using Sizes = std::vector<std::uint32_t>;

std::vector<Block> all_of(const BlockRule& rule, const Sizes& sizes) {
  std::vector<Block> blocks;
  for (const auto size : sizes) blocks.push_back({&rule, size});
  return blocks;
}

std::vector<Block> lines(const Sizes& sizes) { return all_of(kLineRule, sizes); }
std::vector<Block> rings(const Sizes& sizes) { return all_of(kRingRule, sizes); }
std::vector<Block> cube(const Sizes& sizes) { return std::vector<Block>(sizes[0], Block{&kRingRule, 2}); }
std::vector<Block> dragonfly(const Sizes& sizes) {
  return {{&kFullyConnectedRule, sizes[0]}, {&kDragonflyGroupsRule, sizes[1]}};
}

constexpr std::size_t kMany = 64;
constexpr std::uint32_t kLarge = std::uint32_t{1} << 31;

constexpr std::array kAliases{
    ShapeAlias{"mesh", "mesh(a,b,..)", "LI(a)_LI(b)_..", 1, kMany, kLarge, true, lines},
    ShapeAlias{"grid", "grid(a,b,..)", "LI(a)_LI(b)_..", 1, kMany, kLarge, true, lines},
    ShapeAlias{"torus", "torus(a,b,..)", "RI(a)_RI(b)_..", 1, kMany, kLarge, true, rings},
    ShapeAlias{"hypercube", "hypercube(d)", "RI(2) d times", 1, 1, 31, true, cube},
    ShapeAlias{"dragonfly", "dragonfly(a,g)", "g groups FC(a), one link per pair of groups", 2, 2, kLarge, false,
               dragonfly},
};

}  // namespace

std::span<const ShapeAlias> shape_aliases() { return kAliases; }

}  // namespace tenex
