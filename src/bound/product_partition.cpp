// The strength of a product, in closed form.
//
// A graph's strength is the least (capacity between parts) / (parts - 1) over its partitions. A graph of v vertices and
// capacity e is uniformly dense if no connected subgraph S has more capacity per (vertices - 1) than e / (v - 1), its
// density; then single vertices are the best partition, and the strength is the density (Catlin, Grossman, Hobbs and
// Lai, "Fractional arboricity, strength, and principal partitions in graphs and matroids", 1992). Lines, rings and
// complete graphs are uniformly dense.
//
// Claim. Let G and H be uniformly dense, with g and h vertices and densities x and y. Their product is uniformly dense
// if h x >= y and g y >= x. Proof. Let a subgraph S of s vertices meet p of the copies of G and q of those of H. Its
// capacity is at most x (s - p) + y (s - q), and s <= p q: each vertex is one of a copy of G and one of H. Over s - 1
// this grows with s, as x p + y q >= x + y, so let s = p q: it is f(p, q) = x + y - (x (p - 1) + y (q - 1)) / (p q -
// 1). For a fixed p this is monotone in q, for a fixed q monotone in p (the derivatives have the signs of q y - x and p
// x - y), so it is largest at a corner: f(1, q) = x or f(p, 1) = y or f(h, g), the product's density, which is at least
// both exactly under the two conditions.
//
// Otherwise some dimensions are so fast that they are joined first. Contract the fastest k dimensions: the rest remains
// a product, with more copies of each link. If it is uniformly dense, and the joined dimensions by themselves have at
// least its density as their strength, then that density is the strength of all: spanning trees of the rest, packed at
// that rate, and of each joined copy, packed at that rate, make spanning trees of the whole (Tutte; Nash-Williams).
#include "bound/product_partition.hpp"

#include <algorithm>
#include <span>

#include "bound/product_links.hpp"
#include "bound/weighted_links.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {

namespace {

/// A dimension by itself.
struct Factor {
  std::size_t dimension = 0;
  double size = 1;
  double density = 0;  ///< of one copy
};

/// The density of the product, if it is uniformly dense.
std::optional<double> uniform_density(std::span<const Factor> factors) {
  Factor all = factors.front();
  for (const Factor& next : factors.subspan(1)) {
    constexpr double kRounding = 1 + 1e-12;
    if (next.size * all.density * kRounding < next.density || all.size * next.density * kRounding < all.density)
      return std::nullopt;
    const double capacity = all.density * next.size * (all.size - 1) + next.density * all.size * (next.size - 1);
    all.size *= next.size;
    all.density = capacity / (all.size - 1);
  }
  return all.density;
}

struct Strength {
  double value = 0;
  std::size_t joined = 0;  ///< the first factors
};

/// The strength of the product of factors, the fastest first, where it can be proven.
std::optional<Strength> strength_of(std::span<const Factor> factors) {
  double copies = 1;
  for (std::size_t joined = 0; joined < factors.size(); copies *= factors[joined++].size) {
    const auto density = uniform_density(factors.subspan(joined));
    if (!density) continue;
    const Strength found{*density * copies, joined};
    if (joined == 0) return found;
    const auto inside = strength_of(factors.first(joined));
    if (inside && inside->value >= found.value) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ProductPartition> product_partition(const BoundProblem& problem) {
  if (!is_plain_product(problem)) return std::nullopt;
  const auto& topology = problem.topology;
  const auto& blocks = topology.shape()->blocks;
  const auto links = links_by_dimension(topology);
  const auto of_class = rates(problem);
  std::vector<Factor> factors;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].size < 2) continue;
    if (!blocks[i].rule->stepwise && !blocks[i].rule->all_neighbours) return std::nullopt;
    double capacity = 0;
    for (std::size_t k = 0; k < of_class.size(); ++k) capacity += static_cast<double>(links[i][k]) * of_class[k];
    const double size = blocks[i].size;
    const double copies = static_cast<double>(topology.npus()) / size;
    factors.push_back({i, size, capacity / copies / (size - 1)});
  }
  if (factors.empty()) return std::nullopt;
  std::ranges::stable_sort(factors, std::ranges::greater{}, &Factor::density);
  const auto strength = strength_of(factors);
  if (!strength) return std::nullopt;
  ProductPartition found{std::vector<bool>(blocks.size()), static_cast<std::int64_t>(topology.npus())};
  for (std::size_t i = 0; i < strength->joined; ++i) {
    found.joined[factors[i].dimension] = true;
    found.parts /= blocks[factors[i].dimension].size;
  }
  return found;
}

}  // namespace tenex
