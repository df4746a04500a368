// The engines `packed` and `queued`: All-Reduces by packed spanning trees on any network, against numbers by hand, the
// verifier and the bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/trees/engines.hpp"
#include "synthesis/trees/packing.hpp"
#include "synthesis/trees/player.hpp"
#include "synthesis/trees/trees.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

constexpr Bytes kChunk = bytes(1'000'000);
constexpr SimTime kTreeStep = nanoseconds(20'500);  ///< 1 MB at 50 GB/s, and 500 ns

Collective all_reduce_of(std::size_t npus, std::int64_t chunks) {
  return support::collective(CollectiveKind::all_reduce, npus, kChunk * (static_cast<std::int64_t>(npus) * chunks),
                             chunks);
}

struct TreesEngine {
  std::string name;
  Result<Synthesis> (*synthesize)(const SynthesisProblem&);
  std::size_t (*bytes)(const SynthesisProblem&);
};

class PackedTrees : public ::testing::TestWithParam<TreesEngine> {
 protected:
  /// Synthesizes; expects a valid schedule without waste that takes the time it states, not below the bound.
  static SimTime time_of(const Topology& topology, std::int64_t chunks, Occupancy occupancy = Occupancy::transfer) {
    const Collective collective = all_reduce_of(topology.npus(), chunks);
    const SynthesisProblem problem{{topology, collective, occupancy}};
    const auto made = GetParam().synthesize(problem).value();
    EXPECT_EQ(made.engine, GetParam().name);
    for (const auto check : {ReductionCheck::automatic, ReductionCheck::exact_sets}) {
      VerifyOptions options;
      options.reduction_check = check;
      const Verdict verdict = support::expect_valid(problem, made.schedule, made.time, options);
      EXPECT_EQ(verdict.sends, 2 * (topology.npus() - 1) * collective.chunks());
    }
    EXPECT_GE(made.time, best_cheap_bound({{topology, collective, occupancy}}).time);
    EXPECT_LE(made.schedule.memory_bytes(), GetParam().bytes(problem));
    return made.time;
  }
};

INSTANTIATE_TEST_SUITE_P(Trees, PackedTrees,
                         ::testing::Values(TreesEngine{"packed", synthesize_packed, packed_bytes},
                                           TreesEngine{"queued", synthesize_queued, queued_bytes}),
                         [](const auto& info) { return info.param.name; });

// FC(4): stars. Each of 4 chunks has its own root; the three sums of a chunk come over three links at once, and every
// link carries one sum (of its target's chunk) and one copy (of its source's). Two steps.
TEST_P(PackedTrees, AreStarsOnFullConnections) { EXPECT_EQ(time_of(support::fully_connected(4), 1), kTreeStep * 2); }

// A line of 3 with 4 chunks per NPU: the tree is the line, with the middle as its root. Each link carries 12 chunks
// each way: sums of all inwards, one slot each, and copies outwards one step later. (12 sums, and the last copy: 13
// steps.)
TEST_P(PackedTrees, FollowEachOtherOnALine) { EXPECT_EQ(time_of(support::line(3), 4), kTreeStep * 13); }

// The packing comes close to the strength of mesh(8,8), 112 pairs of links: 128 trees of 63 pairs need at least 72 of
// each, and in no packing fewer.
TEST(TreePacking, SharesTheLinksEvenly) {
  const Topology mesh = support::mesh(8, 8);
  const Instance instance{mesh, all_reduce_of(64, 2), Occupancy::transfer};
  TreeNetwork network(instance);
  const auto trees = pack_trees(network, {128, 0});
  const SimTime period = rate_time(network, trees, std::vector<std::uint64_t>(trees.size(), 1));
  EXPECT_GE(period, kTreeStep * 72);
  EXPECT_LE(period, kTreeStep * 75);
}

TEST_P(PackedTrees, AreValidOnAnyGraph) {
  Random random(11);
  for (int round = 0; round < support::draws(20, 60); ++round) {
    const Topology graph = support::random_graph_of_pairs(random);
    time_of(graph, 1 + random.below(8), random.below(2) == 0 ? Occupancy::transfer : Occupancy::serialization);
  }
}

// mesh(6,6) with 16 chunks per NPU has 35 * 576 / 60 = 336 steps as its bound; a reduction and a gather take 560.
// mesh(8,8) has 63 * 1024 / 112 = 576, against 1,008. The queue fills the pipeline faster than fixed places do.
TEST(QueuedTrees, KeepThePipelineFull) {
  const std::uint32_t side = support::long_run() ? 8 : 6;
  const Topology mesh = support::mesh(side, side);
  const Collective collective = all_reduce_of(mesh.npus(), 16);
  EXPECT_LE(synthesize_queued({{mesh, collective, Occupancy::transfer}}).value().time,
            kTreeStep * (side == 6 ? 373 : 640));
}

// On a one-way ring of 4 the trees are lines around it: 3 hops of sums, then 3 of copies, for each of 4 chunks, over 4
// links: 6 steps if every tree ends at another NPU and begins anew.
TEST_P(PackedTrees, GoOneWayAroundARing) {
  std::vector<Link> links;
  for (std::uint32_t npu = 0; npu < 4; ++npu)
    links.push_back({VertexId(npu), VertexId((npu + 1) % 4), support::kAlpha, support::kBandwidth});
  EXPECT_EQ(time_of(support::graph(4, links), 1), kTreeStep * 6);
}

TEST_P(PackedTrees, AreValidWithOneWayLinks) {
  Random random(12);
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t npus = 2 + random.below(10);
    TopologyBuilder builder(npus);
    const auto link = [&](std::uint32_t from, std::uint32_t to) {
      builder.add_link({VertexId(from), VertexId(to), nanoseconds(500 * random.below(3)),
                        gigabytes_per_second(25 * (1 + std::int64_t{random.below(3)}))});
    };
    for (std::uint32_t npu = 0; npu < npus; ++npu) link(npu, (npu + 1) % npus);
    for (std::uint32_t extra = random.below(2 * npus); extra > 0; --extra) {
      const std::uint32_t from = random.below(npus);
      link(from, (from + 1 + random.below(npus - 1)) % npus);
    }
    time_of(std::move(builder).build().value(), 1 + random.below(6));
  }
}

}  // namespace
}  // namespace tenex
