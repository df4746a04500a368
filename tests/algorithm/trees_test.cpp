// Algorithms along trees: the trees, reconstructed from their messages.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "algorithm/untimed_run.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

/// Trees by the name of their messages, as (child, parent) pairs of their sums.
struct DrawnForest {
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> parent;
  std::map<std::uint32_t, std::uint32_t> share;

  /// The most trees over a pair of NPUs.
  [[nodiscard]] int largest_load() const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> load;
    int largest = 0;
    for (const auto& [tree, parents] : parent)
      for (const auto& [a, b] : parents) largest = std::max(largest, ++load[std::minmax(a, b)]);
    return largest;
  }
  [[nodiscard]] std::map<std::uint32_t, int> children(std::uint32_t tree) const {
    std::map<std::uint32_t, int> count;
    for (const auto& [child, up] : parent.at(tree)) ++count[up];
    return count;
  }
  [[nodiscard]] int depth(std::uint32_t tree) const {
    int deepest = 0;
    for (const auto& [child, up] : parent.at(tree)) {
      int depth = 0;
      for (auto at = child; parent.at(tree).count(at) > 0; at = parent.at(tree).at(at)) ++depth;
      deepest = std::max(deepest, depth);
    }
    return deepest;
  }
};

DrawnForest trees_of(std::string_view algorithm, const Topology& topology,
                     CollectiveKind kind = CollectiveKind::all_reduce) {
  const auto collective = support::collective(kind, topology.npus(), bytes(10000));
  const auto program = support::program_of(algorithm, topology, collective);
  DrawnForest forest;
  for (const auto& message : support::run_untimed(*program, collective, 1).messages) {
    const bool sum = message.stage == Stage::reduce;
    const auto child = (sum ? message.source : message.destination).value();
    const auto parent = (sum ? message.destination : message.source).value();
    const auto [known, fresh] = forest.parent[message.chunk.value()].emplace(child, parent);
    EXPECT_EQ(known->second, parent) << "sums and copies take the same tree";
    forest.share[message.chunk.value()] = message.chunks;
  }
  for (const auto& [tree, parents] : forest.parent) EXPECT_EQ(parents.size(), topology.npus() - 1);
  return forest;
}

bool adjacent(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  for (const auto link : topology.out_links(VertexId(from)))
    if (topology.target(link) == VertexId(to)) return true;
  return false;
}

TEST(DoubleBinaryTree, HasTwoBinaryTreesOfWhichOneLeavesEveryNpuAlone) {
  for (std::uint32_t n = 2; n <= 33; ++n) {
    const auto forest = trees_of("dbt", support::fully_connected(n));
    ASSERT_EQ(forest.parent.size(), 2U);
    // Halves, the first larger by one chunk where n is odd; named by their first chunks.
    EXPECT_EQ(forest.share.at(0), (n + 1) / 2);
    EXPECT_EQ(forest.share.at((n + 1) / 2), n / 2);
    std::map<std::uint32_t, int> inner;
    for (const auto& [tree, parents] : forest.parent) {
      EXPECT_LE(forest.depth(tree), std::bit_width(n - 1));
      for (const auto& [npu, children] : forest.children(tree)) {
        EXPECT_LE(children, 2);
        ++inner[npu];
      }
    }
    // The NPUs inside both trees: none where n is even, else at most two.
    int both = 0;
    for (const auto& [npu, times] : inner) both += times > 1 ? 1 : 0;
    EXPECT_LE(both, n % 2 == 0 ? 0 : 2) << n;
  }
}

TEST(Multitree, GrowsATreePerNpuOverLinksOfTheTopology) {
  for (const auto* shape : {"RI(6)", "LI(3)_LI(4)", "RI(4)_RI(4)", "FC(5)"}) {
    const auto topology = support::shape(shape);
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
      const auto forest = trees_of("multitree", topology, kind);
      ASSERT_EQ(forest.parent.size(), topology.npus());
      for (const auto& [root, parents] : forest.parent) {
        EXPECT_EQ(parents.count(root), 0U);
        for (const auto& [child, parent] : parents) EXPECT_TRUE(adjacent(topology, parent, child));
      }
    }
  }
}

TEST(Multitree, ServesOneTreePerLinkAndStep) {
  // A ring of 5: in step 1 every tree takes both links of its root; in step 2 both ends go on. 2 steps; all links carry
  // equally many edges: 5 trees of 4 edges over 10 links.
  const auto ring = trees_of("multitree", support::ring(5));
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> load;
  for (const auto& [tree, parents] : ring.parent) {
    EXPECT_EQ(ring.depth(tree), 2);
    for (const auto& [child, parent] : parents) ++load[{parent, child}];
  }
  ASSERT_EQ(load.size(), 10U);
  for (const auto& [link, times] : load) EXPECT_EQ(times, 2);
  // Fully connected: one step.
  const auto full = trees_of("multitree", support::fully_connected(6));
  for (const auto& [tree, parents] : full.parent) EXPECT_EQ(full.depth(tree), 1);
}

TEST(Multitree, TakesAnotherWayWhereALinkIsTakenInTheStep) {
  TopologyBuilder builder(5);
  for (const auto& [a, b] : {std::pair{0U, 2U}, {1U, 2U}, {2U, 3U}, {1U, 4U}, {4U, 3U}})
    builder.add_link_pair({VertexId(a), VertexId(b), support::kAlpha, support::kBandwidth});
  const auto forest = trees_of("multitree", std::move(builder).build().value());
  // After step 1 tree 0 has 0, 2 and tree 1 has 1, 2, 4. In step 2 they first take 2->1 and 2->0. Then tree 0 takes
  // 2->3, so tree 1, which looks at 2 first, must reach 3 from 4.
  EXPECT_EQ(forest.parent.at(0).at(3), 2U);
  EXPECT_EQ(forest.parent.at(1).at(3), 4U);
}

TEST(CCube, LaysTwoBinaryTreesOverFourOfSixLinksOfADgx1) {
  const auto topology = support::dgx1();
  const auto forest = trees_of("c_cube", topology);
  ASSERT_EQ(forest.parent.size(), 2U);
  std::map<std::uint32_t, int> used;
  std::set<std::uint32_t> inner;
  for (const auto& [tree, parents] : forest.parent) {
    EXPECT_EQ(forest.share.at(tree), 4U);
    EXPECT_EQ(forest.depth(tree), 3);
    for (const auto& [npu, children] : forest.children(tree)) {
      EXPECT_LE(children, 2);
      EXPECT_TRUE(inner.insert(npu).second) << "NPU " << npu << " is inside both trees";
    }
    for (const auto& [child, parent] : parents) {
      EXPECT_TRUE(adjacent(topology, parent, child));
      ++used[child], ++used[parent];
    }
  }
  EXPECT_EQ(forest.largest_load(), 1);
  for (const auto& [npu, links] : used) EXPECT_LE(links, 4);
}

TEST(Tto, LaysThreeTreesFromTheEdgesOfAMeshWithAtMostTwoOverAPair) {
  for (std::uint32_t width = 3; width <= 9; ++width)
    for (std::uint32_t height = 3; height <= 9; ++height) {
      const auto topology = support::mesh(width, height);
      const auto forest = trees_of("tto", topology);
      ASSERT_EQ(forest.parent.size(), 3U);
      std::uint32_t total = 0;
      for (const auto& [tree, parents] : forest.parent) {
        EXPECT_NEAR(forest.share.at(tree), width * height / 3.0, 1.0);
        total += forest.share.at(tree);
        for (const auto& [child, parent] : parents) EXPECT_TRUE(adjacent(topology, parent, child));
        for (std::uint32_t npu = 0; npu < width * height; ++npu) {
          if (parents.count(npu) > 0) continue;
          const auto x = npu % width;
          const auto y = npu / width;
          EXPECT_TRUE(x == 0 || y == 0 || x + 1 == width || y + 1 == height) << "root " << npu;
        }
      }
      EXPECT_EQ(total, width * height);
      // All three trees use every corner, which has two neighbours.
      EXPECT_EQ(forest.largest_load(), 2) << width << " x " << height;
    }
}

TEST(Blink, PacksTreesOverAllOfTheBandwidth) {
  // A ring of n: n trees of n-1 edges over n pairs, so n-1 on each pair is possible, and no pair needs more.
  for (const std::uint32_t n : {3U, 6U, 9U}) EXPECT_EQ(trees_of("blink", support::ring(n)).largest_load(), int(n) - 1);
  // Two NPUs: both shares use the one pair.
  EXPECT_EQ(trees_of("blink", support::line(2)).largest_load(), 2);
  // Fully connected, 8 NPUs: 8 trees of 7 edges over 28 pairs, two on each.
  EXPECT_EQ(trees_of("blink", support::fully_connected(8)).largest_load(), 2);
  // A DGX-1 has 24 bricks and 8 trees of 7 edges: at least ceil(56/24) = 3 on some brick; a doubled pair has two.
  const auto topology = support::dgx1();
  const auto forest = trees_of("blink", topology);
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> load;
  for (const auto& [tree, parents] : forest.parent)
    for (const auto& [child, parent] : parents) ++load[std::minmax(child, parent)];
  for (const auto& [pair, trees] : load)
    for (const auto link : topology.out_links(VertexId(pair.first))) {
      if (topology.target(link) != VertexId(pair.second)) continue;
      EXPECT_LE(trees, topology.bandwidth(link) == gigabytes_per_second(50) ? 6 : 3);
    }
}

}  // namespace
}  // namespace tenex
