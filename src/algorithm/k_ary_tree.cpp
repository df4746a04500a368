// Trees of a chosen radix, and chains: Broadcast and Reduce, pipelined, for any n and any root.
//
// k_ary_tree: the children of rank r, counted from the root, are k*r + 1 .. k*r + k. chain: every rank but the last has
// one child, the next rank. With c chunks a chain on its own links takes n - 2 + c times a chunk for a Broadcast, where
// a binomial tree sends the whole log2 n times: chains are for large sizes in many chunks, k-ary trees stand between.
//
// Encoding: rooted_trees.hpp. Source: Chan et al., "Collective communication: theory, practice, and experience", 2007;
// Pjesivac-Grbovic et al., "Performance analysis of MPI collective operations", 2007 (chain and k-ary trees with
// segments).
#include <cstdint>
#include <vector>

#include "algorithm/rooted_trees.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

ProgramResult make_k_ary(const Collective& collective, std::uint32_t radix) {
  return make_rooted_trees(collective, [&](std::uint32_t members) {
    std::vector<Tree::Edge> edges;
    for (std::uint32_t rank = 1; rank < members; ++rank) edges.push_back({(rank - 1) / radix, rank});
    return edges;
  });
}

}  // namespace

ProgramResult make_k_ary_tree(const Topology& topology, const Collective& collective, const AlgorithmOptions& options) {
  if (auto fits = check_fits("k_ary_tree", topology, collective); !fits) return fits.errors();
  return make_k_ary(collective, options.radix);
}

ProgramResult make_chain(const Topology& topology, const Collective& collective, const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("chain", topology, collective); !fits) return fits.errors();
  return make_k_ary(collective, 1);
}

ProgramSizes sizes_of_chain(const ProgramScale& scale) {
  const double messages = scale.passes * scale.slices;
  return {messages, messages * scale.neighbour_hops, 0};
}

}  // namespace tenex
