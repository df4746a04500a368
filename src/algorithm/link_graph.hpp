// A topology as an undirected graph, for algorithms that build trees: NPUs joined by links both ways.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "algorithm/forest.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Two NPUs with links both ways, and the number of trees over them.
struct LinkPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Bandwidth bandwidth;     ///< of the slower direction; of parallel links the first counts, because routes take it
  std::uint32_t load = 0;  ///< trees laid over it
};

/// The pairs of a topology, and those of each NPU, in the order of its out-links.
struct LinkGraph {
  std::vector<LinkPair> pairs;
  std::vector<std::vector<std::uint32_t>> pairs_of;  ///< by NPU, indices into `pairs`
};

/// The graph of a topology. Errors (input): a topology with switches, one in which links both ways do not join all
/// NPUs. O(links * degree).
[[nodiscard]] Result<LinkGraph> link_graph(std::string_view algorithm, const Topology& topology);

/// Checks that the collective has one process group of all NPUs in order of id. Errors (input): any other groups.
[[nodiscard]] Status check_everyone(std::string_view algorithm, const Collective& collective);

/// The cost of a pair of NPUs for a tree that reaches it at a depth; the tree takes the lowest first.
using PairCost = std::uint64_t (*)(const LinkPair& pair, std::uint32_t depth);

/// A spanning tree grown from a root over the cheapest pair, one after the other (Prim). Among equals it takes the pair
/// of least depth, then the one found first. Adds 1 to the load of its pairs. O(links log links).
[[nodiscard]] Tree grow_tree(LinkGraph& graph, std::uint32_t root, PairCost cost);

}  // namespace tenex
