// TTO (three tree overlap): All-Reduce on a two-dimensional mesh along three trees rooted at NPUs on its edge, each of
// which carries a third of the data, with reductions and broadcasts of different chunks overlapping.
//
// The roots are the middles of three sides. Every tree is grown from its root over the pairs of neighbours that the
// fewest other trees use. Pairs that two trees use already come last: two trees with a third of the data each way are
// the load that the corners, with two neighbours and three trees, need anyway. The trees are grown again in turns, each
// with the others in place, as long as that lowers the largest load. The layout is this project's own.
//
// Encoding: forest.hpp. Source: Laskar et al., "Enhancing collective communication in MCM accelerators for deep
// learning training" (TTO), HPCA 2024; described in TACOS, sections VII-B and VII-C.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "algorithm/forest.hpp"
#include "algorithm/link_graph.hpp"
#include "algorithm/textbook.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {
namespace {

std::uint32_t largest_load(const LinkGraph& graph) {
  std::uint32_t largest = 0;
  for (const auto& pair : graph.pairs) largest = std::max(largest, pair.load);
  return largest;
}

/// Prefers low trees, but takes no pair that two trees use already where another pair is left.
std::uint64_t tto_cost(const LinkPair& pair, std::uint32_t depth) {
  constexpr std::uint64_t kFull = std::uint64_t{1} << 40;
  return (pair.load > 1 ? kFull : 0) + 2 * std::uint64_t{depth} + 3 * std::uint64_t{pair.load};
}

void take_away(LinkGraph& graph, const Tree& tree) {
  for (const auto& [parent, child] : tree.edges)
    for (const auto p : graph.pairs_of[parent])
      if ((graph.pairs[p].a ^ graph.pairs[p].b ^ parent) == child) --graph.pairs[p].load;
}

std::vector<Tree> three_trees(LinkGraph& graph, const std::array<std::uint32_t, 3>& roots) {
  std::vector<Tree> trees;
  for (const auto root : roots) trees.push_back(grow_tree(graph, root, tto_cost));
  auto best = trees;
  auto least = largest_load(graph);
  constexpr int kTurns = 30;
  for (int turn = 0; turn < kTurns && least > 2; ++turn) {
    auto& tree = trees[static_cast<std::size_t>(turn) % 3];
    take_away(graph, tree);
    tree = grow_tree(graph, tree.root, tto_cost);
    if (largest_load(graph) >= least) continue;
    least = largest_load(graph);
    best = trees;
  }
  return best;
}

}  // namespace

namespace {

/// The dimensions with more than one NPU.
std::vector<Block> real_blocks(const Topology& topology) {
  std::vector<Block> blocks;
  if (topology.shape())
    std::copy_if(topology.shape()->blocks.begin(), topology.shape()->blocks.end(), std::back_inserter(blocks),
                 [](const Block& block) { return block.size > 1; });
  return blocks;
}

}  // namespace

Status fits_tto(std::string_view name, const Topology& topology, const Collective& collective) {
  if (auto everyone = check_everyone(name, collective); !everyone) return everyone.errors();
  const auto blocks = real_blocks(topology);
  // A line: consecutive steps only, and the ends are the farthest apart in both directions.
  const auto is_line = [](const Block& block) {
    const BlockRule& rule = *block.rule;
    const auto last = block.size - 1;
    return rule.stepwise && rule.hops(0, last, block) == last && rule.hops(last, 0, block) == last;
  };
  if (blocks.size() != 2 || !std::all_of(blocks.begin(), blocks.end(), is_line))
    return input_error(
        {},
        fmt::format("algorithm \"{}\" on {} NPUs{}", name, topology.npus(),
                    topology.shape() ? fmt::format(" of {}", to_string(*topology.shape())) : std::string()),
        "its three trees are laid on a two-dimensional mesh",
        "choose a shape such as \"mesh(4,4)\", or another algorithm");
  return status_of(link_graph(name, topology));
}

Result<std::shared_ptr<const Program>> make_tto(const Topology& topology, const Collective& collective,
                                                const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("tto", topology, collective); !fits) return fits.errors();
  auto graph = link_graph("tto", topology);
  if (!graph) return graph.errors();
  const auto blocks = real_blocks(topology);
  const auto width = blocks[0].size;
  const auto height = blocks[1].size;
  const std::array roots{width / 2, height / 2 * width, height / 2 * width + width - 1};
  const auto n = static_cast<std::uint32_t>(topology.npus());
  return make_forest(collective, {std::make_shared<const Forest>(n, three_trees(*graph, roots), equal_shares(n, 3))});
}

}  // namespace tenex
