// The engine `capped` of trees: All-Reduces on networks that need not be regular, against numbers by hand, the verifier
// and the strength of the network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/trees/capped_trees.hpp"
#include "synthesis/trees/engines.hpp"
#include "synthesis/trees/trees.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/strength.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

using support::kStep;

Collective all_reduce_of(const Topology& topology, std::int64_t chunks) {
  return support::of_megabytes(CollectiveKind::all_reduce, topology.npus(), chunks);
}

/// A mesh without a share of its links, still connected: those drawn are skipped that would cut it.
Topology mesh_with_holes(std::uint32_t side, std::uint32_t holes, std::uint64_t draw) {
  struct Pair {
    std::uint32_t a;
    std::uint32_t b;
  };
  std::vector<Pair> pairs;
  for (std::uint32_t y = 0; y < side; ++y)
    for (std::uint32_t x = 0; x < side; ++x) {
      if (x + 1 < side) pairs.push_back({y * side + x, y * side + x + 1});
      if (y + 1 < side) pairs.push_back({y * side + x, (y + 1) * side + x});
    }
  const auto build = [&] {
    TopologyBuilder builder(std::size_t{side} * side);
    for (const auto& [a, b] : pairs)
      builder.add_link_pair({VertexId(a), VertexId(b), support::kAlpha, support::kBandwidth});
    return std::move(builder).build().value();
  };
  Random random(draw);
  while (holes > 0) {
    const auto at = pairs.begin() + random.below(static_cast<std::uint32_t>(pairs.size()));
    const Pair gone = *at;
    pairs.erase(at);
    const Topology left = build();
    const Collective collective = all_reduce_of(left, 1);
    if (find_unreachable_npus({left, collective}))
      pairs.push_back(gone);
    else
      --holes;
  }
  return build();
}

/// Synthesizes; expects a valid schedule without waste that takes the time it states, and no link busier than it says.
Synthesis capped_checked(const Topology& topology, std::int64_t chunks, Occupancy occupancy = Occupancy::transfer) {
  const Collective collective = all_reduce_of(topology, chunks);
  const SynthesisProblem problem{{topology, collective, occupancy}};
  Synthesis made = synthesize_capped(problem).value();
  for (const auto check : {ReductionCheck::automatic, ReductionCheck::exact_sets}) {
    VerifyOptions options;
    options.reduction_check = check;
    const Verdict verdict = support::expect_valid(problem, made.schedule, made.time, options);
    EXPECT_EQ(verdict.sends, 2 * (topology.npus() - 1) * collective.chunks());
  }
  EXPECT_GE(made.time, best_cheap_bound({{topology, collective, occupancy}}).time);
  EXPECT_GE(made.time, made.rate_time);
  EXPECT_LE(made.schedule.memory_bytes(), capped_bytes(problem));
  return made;
}

// The farthest NPU of a mesh is a corner. From the middle of mesh(5,5), NPU 12, it is 4 links away, from its neighbours
// 5, and from no other NPU less than 6.
TEST(CentralRoots, AreTheMiddleAndItsNeighbours) {
  EXPECT_EQ(radius(support::mesh(5, 5)), 4U);
  auto roots = central_roots(support::mesh(5, 5));
  std::ranges::sort(roots, {}, &TreeRoot::npu);
  std::vector<std::uint32_t> npus;
  for (const TreeRoot& root : roots) npus.push_back(root.npu.value());
  EXPECT_THAT(npus, ::testing::ElementsAre(7, 11, 12, 13, 17));
  EXPECT_EQ(roots[2].hops[0], 4U);
}

// The NPUs on a diagonal are as far from both of its ends. A search from two opposite corners alone takes the other two
// corners for the middle: 31 links from either, and 62 from each other.
TEST(CentralRoots, AreFoundOnALargeMesh) { EXPECT_EQ(radius(support::mesh(32, 32)), 32U); }

TEST(CappedTrees, SpanTheNetworkWithinTheirDepth) {
  Random random(21);
  for (int round = 0; round < support::draws(20, 200); ++round) {
    const Topology graph = support::random_graph_of_pairs(random);
    const Collective collective = all_reduce_of(graph, 1);
    const TreeNetwork network({graph, collective, Occupancy::transfer});
    const auto roots = central_roots(graph);
    const std::uint32_t slack = 1 + random.below(3);
    CappedTrees trees(network, roots, slack);
    CappedTree tree;
    std::vector<std::int64_t> load(graph.links());
    for (int number = 0; number < 8; ++number) {
      trees.grow(tree);
      const auto& root = *std::ranges::find(roots, tree.root, &TreeRoot::npu);
      ASSERT_EQ(tree.order.size(), graph.npus());
      std::vector<std::uint32_t> depth(graph.npus());
      std::vector<bool> joined(graph.npus());
      joined[tree.root.index()] = true;
      for (const NpuId npu : std::span(tree.order).subspan(1)) {
        const LinkId above = tree.above[npu.index()];
        ASSERT_EQ(npu_of(graph.target(above)), npu);
        const NpuId parent = npu_of(graph.source(above));
        ASSERT_TRUE(joined[parent.index()] && !joined[npu.index()]);
        joined[npu.index()] = true;
        depth[npu.index()] = depth[parent.index()] + 1;
        EXPECT_EQ(tree.depth[npu.index()], depth[npu.index()]);
        EXPECT_LE(depth[npu.index()], root.hops[npu.index()] + slack);
        ++load[above.index()];
        ++load[network.opposite(above).index()];
      }
    }
    SimTime most;
    for (std::size_t link = 0; link < load.size(); ++link)
      most = std::max(most, network.hop(LinkId::at(link)).busy * load[link]);
    EXPECT_EQ(trees.rate_time(), most);
  }
}

// mesh(8,8) has 112 pairs of links: 128 trees of 63 pairs need at least 72 of each, and in no packing fewer.
TEST(CappedTrees, ShareTheLinksEvenly) {
  const Topology mesh = support::mesh(8, 8);
  const Collective collective = all_reduce_of(mesh, 2);
  const TreeNetwork network({mesh, collective, Occupancy::transfer});
  const auto roots = central_roots(mesh);
  CappedTrees trees(network, roots, enough_slack(network, roots, 128));
  CappedTree tree;
  for (int number = 0; number < 128; ++number) trees.grow(tree);
  EXPECT_GE(trees.rate_time(), kStep * 72);
  EXPECT_LE(trees.rate_time(), kStep * 73);
}

// Two NPUs and a pair of links: each chunk has one sum one way and one copy the other, and roots take turns. Of 6
// chunks each link carries 3 sums, and then 3 copies, the first of which has its sum since the first step. No link is
// idle.
TEST(CappedEngine, ExchangesBetweenTwo) { EXPECT_EQ(capped_checked(support::line(2), 3).time, kStep * 6); }

// A line of 3 with 4 chunks per NPU: the tree is the line, with the middle as its root. Each link carries 12 chunks
// each way: sums of all inwards, one slot each, and copies outwards one step later.
TEST(CappedEngine, FollowsEachOtherOnALine) { EXPECT_EQ(capped_checked(support::line(3), 4).time, kStep * 13); }

TEST(CappedEngine, IsValidOnAnyGraph) {
  Random random(22);
  for (int round = 0; round < support::draws(20, 200); ++round) {
    const Topology graph = support::random_graph_of_pairs(random);
    capped_checked(graph, 1 + random.below(8), random.below(2) == 0 ? Occupancy::transfer : Occupancy::serialization);
  }
}

// Of a mesh with holes the strength is what limits it. Chunks of 1 MB fill the pipeline in some hundred steps at most.
TEST(CappedEngine, IsNearTheStrengthOfAMeshWithHoles) {
  const std::uint32_t side = support::long_run() ? 24 : 12;
  const std::uint64_t work = support::kBoundWork * (support::long_run() ? 100 : 1);
  for (const std::uint64_t draw : {1, 2, 3}) {
    const Topology mesh = mesh_with_holes(side, side * side / 50, draw);
    const Collective collective = all_reduce_of(mesh, 16);
    const SynthesisProblem problem{{mesh, collective, Occupancy::transfer}};
    const SimTime time = synthesize_capped(problem).value().time;
    const SimTime strength = strength_bound({problem, true}, work).value().time;
    EXPECT_GE(strength * 100, time * 95) << "draw " << draw;
  }
}

TEST(CappedEngine, IsTakenBeyondTheSendsThatAreJustified) {
  const Topology mesh = mesh_with_holes(12, 3, 1);
  const auto engine = [&](std::int64_t chunks) {
    const Collective collective = all_reduce_of(mesh, chunks);
    return synthesize_trees({{mesh, collective, Occupancy::transfer}}).value().engine;
  };
  EXPECT_EQ(engine(1), "queued");   // 143 * 2 * 144 sends: justified
  EXPECT_EQ(engine(32), "capped");  // 1.3 million
}

TEST(CappedEngine, RefusesWhatItCannotTake) {
  const auto reason = [](const Topology& topology) {
    const Collective collective = all_reduce_of(topology, 1);
    return capped_unsuitable({{topology, collective, Occupancy::transfer}});
  };
  EXPECT_EQ(reason(support::shape("SW(4)")), "it takes direct links alone");
  std::vector<Link> ring;
  for (std::uint32_t npu = 0; npu < 4; ++npu)
    ring.push_back({VertexId(npu), VertexId((npu + 1) % 4), support::kAlpha, support::kBandwidth});
  EXPECT_EQ(reason(support::graph(4, ring)), "some links have no equal one the other way");
  EXPECT_EQ(reason(support::mesh(3, 3)), std::nullopt);
}

}  // namespace
}  // namespace tenex
