// The aliases: mesh, grid, torus, hypercube, hyperx, flattened_butterfly, multi_rail.
//
// hyperx(a,b,..) is the HyperX of Ahn, Binkert, Davis, McLaren and Schreiber (SC 2009) with single links and one NPU
// per router. flattened_butterfly(k,n) is the one with n equal dimensions, which are the n router dimensions of the
// k-ary (n+1)-flat of Kim, Dally and Abts (ISCA 2007); that joins k NPUs to each router, and this is the network of its
// routers.
#include "tenex/topology/block.hpp"

#include <algorithm>
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
std::vector<Block> cliques(const Sizes& sizes) { return all_of(kFullyConnectedRule, sizes); }
/// 32 dimensions of two NPUs or more are beyond 2^31 NPUs, which the parser refuses; of one NPU, any number is the
/// same.
std::vector<Block> equal_cliques(const Sizes& sizes) {
  return std::vector<Block>(std::min(sizes[1], 32U), Block{&kFullyConnectedRule, sizes[0]});
}
std::vector<Block> switches(const Sizes& sizes) { return all_of(kSwitchRule, sizes); }

constexpr std::size_t kMany = 64;
constexpr std::uint32_t kLarge = std::uint32_t{1} << 31;

constexpr std::array kAliases{
    ShapeAlias{"mesh", "mesh(a,b,..)", "LI(a)_LI(b)_..", 1, kMany, kLarge, lines},
    ShapeAlias{"grid", "grid(a,b,..)", "LI(a)_LI(b)_..", 1, kMany, kLarge, lines},
    ShapeAlias{"torus", "torus(a,b,..)", "RI(a)_RI(b)_..", 1, kMany, kLarge, rings},
    ShapeAlias{"hypercube", "hypercube(d)", "RI(2) d times", 1, 1, 31, cube},
    ShapeAlias{"hyperx", "hyperx(a,b,..)", "FC(a)_FC(b)_..", 1, kMany, kLarge, cliques},
    ShapeAlias{"flattened_butterfly", "flattened_butterfly(k,n)", "FC(k) n times", 2, 2, kLarge, equal_cliques},
    ShapeAlias{"multi_rail", "multi_rail(g,n)", "SW(g)_SW(n): n boxes of g NPUs, a rail per local rank", 2, 2, kLarge,
               switches},
};

}  // namespace

std::span<const ShapeAlias> shape_aliases() { return kAliases; }

}  // namespace tenex
