// Double binary tree: All-Reduce along two binary trees, each of which carries half of the data. An inner NPU of one
// tree is a leaf of the other (except one NPU or two), so both halves of every NPU's ports are busy. Works for any
// number of NPUs, although the papers use it for powers of two.
//
// The first tree has the ranks in order from left to right below the root 0. The parent of a rank whose lowest set bit
// is b is the nearest rank with a higher lowest bit: (rank - b) | 2b where that exists, else rank - b. Odd ranks are
// leaves. The second tree is the mirror image of the first for an even number of NPUs, and the first shifted by one
// rank for an odd number.
//
// Encoding: forest.hpp. Source: Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction
// and scan", 2009; DBT in TACOS, section V-A, and NCCL's trees.
#include <bit>
#include <map>

#include "algorithm/forest.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

/// The parent of a rank > 0 in the first tree.
std::uint32_t parent_of(std::uint32_t rank, std::uint32_t members) {
  const auto bit = rank & (~rank + 1);
  const auto above = (rank - bit) | (bit << 1);
  return above < members ? above : rank - bit;
}

template <class Relabel>
Tree tree_of(std::uint32_t members, Relabel&& relabel) {
  Tree tree{relabel(0), {}};
  for (std::uint32_t rank = 1; rank < members; ++rank)
    tree.edges.push_back({relabel(parent_of(rank, members)), relabel(rank)});
  return tree;
}

}  // namespace

Result<std::shared_ptr<const Program>> make_dbt(const Topology& topology, const Collective& collective,
                                                const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("dbt", topology, collective); !fits) return fits.errors();
  std::map<std::size_t, std::shared_ptr<const Forest>> by_size;
  std::vector<std::shared_ptr<const Forest>> forests;
  for (const auto& group : collective.groups()) {
    auto& forest = by_size[group.members.size()];
    if (!forest) {
      const auto n = static_cast<std::uint32_t>(group.members.size());
      const auto first = tree_of(n, [](std::uint32_t rank) { return rank; });
      const auto second = tree_of(n, [n](std::uint32_t rank) { return n % 2 == 0 ? n - 1 - rank : (rank + 1) % n; });
      forest = std::make_shared<const Forest>(n, std::vector{first, second}, equal_shares(n, 2));
    }
    forests.push_back(forest);
  }
  return make_forest(collective, std::move(forests));
}

}  // namespace tenex
