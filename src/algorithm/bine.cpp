// Bine trees (binomial, by negabinary numbers): Broadcast, Reduce, Gather, Scatter in ceil(log2 n) steps, for even n
// and any root, over shorter distances than binomial trees.
//
// Ranks count from the root on. In step s = L-1, .., 0 of a Broadcast every rank r that has the data sends it to the
// rank rho(s) = 1 - 2 + 4 - .. (-2)^s on (r even) or back (r odd), unless that one has it. A child is about a third of
// the way round at first, where it is half of the way in a binomial tree. Gather and Reduce go the other way.
// All-Gather, Reduce-Scatter and All-Reduce by Bine butterflies are the steps of swing.cpp.
//
// Odd n is refused: the partners of rho need even and odd ranks in turn.
//
// Encoding: rooted_trees.hpp. Source: De Sensi et al., "Bine trees: enhancing collective operations by optimizing
// communication locality", SC 2025 (arXiv 2508.17311), section 3, distance-halving trees.
#include <bit>
#include <cstdint>
#include <vector>

#include "algorithm/rooted_trees.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

std::vector<Tree::Edge> bine_edges(std::uint32_t members) {
  std::vector<Tree::Edge> edges;
  std::vector<std::uint32_t> reached{0};
  std::vector<bool> has(members, false);
  has[0] = true;
  for (int step = std::bit_width(members - 1); step-- > 0;) {
    // 1 - 2 + 4 - .. (-2)^step = (1 - (-2)^(step + 1)) / 3
    const std::int64_t power = std::int64_t{2} << step;
    const std::int64_t rho = (1 - (step % 2 == 0 ? -power : power)) / 3;
    const auto senders = reached.size();
    for (std::size_t i = 0; i < senders; ++i) {
      const auto rank = reached[i];
      const auto to = static_cast<std::uint32_t>((rank + (rank % 2 == 0 ? rho : -rho) + members) % members);
      if (has[to]) continue;
      has[to] = true;
      reached.push_back(to);
      edges.push_back({rank, to});
    }
  }
  return edges;
}

}  // namespace

ProgramResult make_bine(const Topology& topology, const Collective& collective, const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("bine", topology, collective); !fits) return fits.errors();
  return make_rooted_trees(collective, bine_edges);
}

}  // namespace tenex
