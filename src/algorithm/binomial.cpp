// Binomial trees: Broadcast, Reduce, Gather and Scatter in ceil(log2 n) steps, for any n and any root; All-Reduce as a
// Reduce to rank 0 and a Broadcast from there, twice as many steps.
//
// The parent of rank r, counted from the root, is r without its lowest set bit 2^s, so that the subtree of r is the 2^s
// ranks from r on, as far as they exist. The largest subtree is served first.
//
// Encoding: rooted_trees.hpp. Source: Thakur et al., "Optimization of collective communication operations in MPICH",
// 2005 (gather, scatter, broadcast, reduce); Chan et al., "Collective communication: theory, practice, and experience",
// 2007 (the minimum-spanning-tree algorithms).
#include <cstdint>
#include <vector>

#include "algorithm/rooted_trees.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {

ProgramResult make_binomial(const Topology& topology, const Collective& collective,
                            const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("binomial", topology, collective); !fits) return fits.errors();
  return make_rooted_trees(collective, [](std::uint32_t members) {
    std::vector<Tree::Edge> edges;
    for (std::uint32_t rank = members; rank-- > 1;) edges.push_back({rank & (rank - 1), rank});
    return edges;
  });
}

ProgramSizes sizes_of_binomial(const ProgramScale& scale) {
  // The subtrees of n ranks have n/2 chunks in each of log2 n steps.
  const double messages = scale.passes * scale.slices;
  return {messages, messages * scale.pair_hops, messages * doubling_steps(scale.members) / 2};
}

}  // namespace tenex
