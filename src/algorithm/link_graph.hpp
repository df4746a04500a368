// A topology as an undirected graph, for algorithms that lay trees: NPUs joined by links both ways.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "algorithm/forest.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Two NPUs with links both ways, and how many trees run there.
struct LinkPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Bandwidth bandwidth;     ///< of the slower way; of parallel links the first counts, as routes take it
  std::uint32_t load = 0;  ///< trees laid over it
};

/// The pairs of a topology, and those of each NPU, in the order of its out-links.
struct LinkGraph {
  std::vector<LinkPair> pairs;
  std::vector<std::vector<std::uint32_t>> pairs_of;  ///< by NPU, indices into `pairs`
};

/// Errors (input): a topology with switches, one in which links both ways do not join all NPUs. O(links * degree).
[[nodiscard]] Result<LinkGraph> link_graph(std::string_view algorithm, const Topology& topology);

/// Errors (input): anything but one process group of all NPUs in order of id.
[[nodiscard]] Status check_everyone(std::string_view algorithm, const Collective& collective);

/// How a pair of NPUs is preferred by a tree that reaches it at some depth: lower first.
using PairCost = std::uint64_t (*)(const LinkPair& pair, std::uint32_t depth);

/// A spanning tree grown from a root over the pair that costs least, one after the other (Prim); of equal ones that of
/// least depth, then the one found first. Adds 1 to the load of its pairs. O(links log links).
[[nodiscard]] Tree grow_tree(LinkGraph& graph, std::uint32_t root, PairCost cost);

}  // namespace tenex
