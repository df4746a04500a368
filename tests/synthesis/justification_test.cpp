// Plays forward and backward (justification.hpp), against numbers by hand and the verifier.
#include "synthesis/trees/justification.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/trees/engines.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

constexpr Bytes kJustifiedChunk = bytes(1'000'000);
constexpr SimTime kJustifiedStep = nanoseconds(20'500);  ///< 1 MB at 50 GB/s, and 500 ns

Collective justified_all_reduce(std::size_t npus, std::int64_t chunks) {
  return support::collective(CollectiveKind::all_reduce, npus,
                             kJustifiedChunk * (static_cast<std::int64_t>(npus) * chunks), chunks);
}

/// The out-tree from NPU 0 that reaches each other NPU from `parents`, listed from NPU 1 on, over direct links.
SpanningTree tree_of(TreeNetwork& network, const std::vector<std::uint32_t>& parents) {
  const Topology& topology = network.topology();
  SpanningTree tree{NpuId(0), {}, {WayId::none()}, {}, {NpuId(0)}};
  for (std::uint32_t npu = 1; npu <= parents.size(); ++npu)
    for (const LinkId link : topology.out_links(VertexId(parents[npu - 1])))
      if (topology.target(link) == VertexId(npu)) {
        tree.down.push_back(network.way_over(std::vector{link}));
        tree.down_order.emplace_back(npu);
      }
  return tree;
}

// FC(4), two chunks from NPU 0: the first one's tree is a star, the second one's the path 0-1-2-3. Both take the link
// 0-1. In the order of ranks the star takes it first: the path ends after 4 steps. Backward from there, the path fills
// steps 4 to 2 of its links, and the star's send over 0-1 moves behind it, to step 4 (it has no successor). Forward,
// the path goes first and ends after 3 steps, the star after 2.
TEST(Justification, LetsLongWaysGoFirst) {
  const Topology full = support::fully_connected(4);
  const Instance instance{full, justified_all_reduce(4, 1), Occupancy::transfer};
  TreeNetwork network(instance);
  const DealtTrees dealt{{tree_of(network, {0, 0, 0}), tree_of(network, {0, 1, 2})},
                         {{ChunkId(0), 0, 0}, {ChunkId(1), 1, 1}}};
  const SendGraph graph(network, dealt, false);
  EXPECT_EQ(graph.sends(), 6U);
  const SendStarts ranked = graph.play({});
  EXPECT_EQ(ranked.time, kJustifiedStep * 4);
  const SendStarts justified = graph.justified(ranked);
  EXPECT_EQ(justified.time, kJustifiedStep * 3);
  EXPECT_EQ(graph.schedule(justified).sends(), 6U);
}

// The same chunks by due times. The star's send over 0-1 is due a step before its chunk, the path's three steps before
// a chunk that is due later by the pace. With a pace of one step the path goes first, with one of three the star.
TEST(Justification, TakesWhatIsDueFirst) {
  const Topology full = support::fully_connected(4);
  const Instance instance{full, justified_all_reduce(4, 1), Occupancy::transfer};
  TreeNetwork network(instance);
  const DealtTrees dealt{{tree_of(network, {0, 0, 0}), tree_of(network, {0, 1, 2})},
                         {{ChunkId(0), 0, 0}, {ChunkId(1), 1, 1}}};
  const SendGraph graph(network, dealt, false);
  EXPECT_EQ(graph.play_by_due({kJustifiedStep, 1, 0}).time, kJustifiedStep * 3);
  EXPECT_EQ(graph.play_by_due({kJustifiedStep * 3, 1, 0}).time, kJustifiedStep * 4);
  EXPECT_EQ(graph.play_by_due({kJustifiedStep * 3, 2, 0}).time,
            kJustifiedStep * 3);  // due six steps before, and the star two
}

// Whatever the order, the schedule is valid, takes the time it states, and carries each chunk over its tree twice.
TEST(Justification, KeepsSchedulesValid) {
  Random random(5);
  for (int round = 0; round < 60; ++round) {
    const Topology topology = support::random_graph_with_switches(random, 11);
    const Collective collective = justified_all_reduce(topology.npus(), 1 + random.below(6));
    const Instance instance{topology, collective,
                            random.below(2) == 0 ? Occupancy::transfer : Occupancy::serialization};
    TreeNetwork network(instance);
    PackingOptions options{3, 0.2, 0.5};
    if (random.below(2) == 0) options.span = kJustifiedStep * 50;
    DealtTrees dealt{pack_trees(network, options), {}};
    for (std::uint32_t chunk = 0; chunk < collective.chunks(); ++chunk)
      dealt.deal.push_back({ChunkId(chunk), chunk % 3, chunk});
    const SendGraph graph(network, dealt, true);
    SendStarts starts = random.below(2) == 0
                            ? graph.play({true, random.below(4)})
                            : graph.play_by_due({kJustifiedStep * random.below(3), 4, random.below(4)});
    for (int again = 0; again < 3; ++again) {
      VerifyOptions checks;
      checks.reduction_check = ReductionCheck::exact_sets;
      const Verdict verdict = verify(instance, graph.schedule(starts), checks);
      ASSERT_TRUE(verdict.valid()) << support::first_finding(verdict);
      EXPECT_EQ(verdict.waste, 0U);
      EXPECT_EQ(verdict.collective_time, starts.time);
      starts = graph.justified(starts);
    }
  }
}

/// Two boxes of 4 NPUs, each around a fast switch (300 GB/s), and a switch between all NPUs.
Topology boxes_and_spine(Bandwidth between) {
  TopologyBuilder builder(8);
  const std::vector<VertexId> boxes = {builder.add_switch(), builder.add_switch()};
  const VertexId spine = builder.add_switch();
  for (std::uint32_t npu = 0; npu < 8; ++npu) {
    builder.add_link_pair({VertexId(npu), boxes[npu / 4], nanoseconds(0), gigabytes_per_second(300)});
    builder.add_link_pair({VertexId(npu), spine, nanoseconds(0), between});
  }
  return std::move(builder).build().value();
}

// 25 GB/s between boxes, 32 chunks of 1 MB per NPU: a chunk keeps a slow link busy for 40 us. 256 chunks leave a box
// over 4 slow links: 64 in a row on each, and the last of them needs one more hop on the other side, so the least is 65
// times 40 us. One more is left for the fast hops and for sums before copies.
TEST(Justification, FillsSlowLinksFromTheBeginning) {
  const Topology topology = boxes_and_spine(gigabytes_per_second(25));
  const Collective collective = justified_all_reduce(8, 32);
  const SynthesisProblem problem{{topology, collective, Occupancy::serialization}};
  const Synthesis made = synthesize_queued(problem).value();
  EXPECT_TRUE(verify(problem, made.schedule).valid());
  EXPECT_LE(made.time, microseconds(40 * 66));
}

// An All-Gather with 100 GB/s between boxes, 64 chunks of 1 MB per NPU: 448 arrive at each NPU, over the fast link one
// each 10/3 us, over the slow one each 10 us. A link into an NPU is idle for one hop, so in a time of T us at most (T -
// 10/3) / (10/3) + (T - 10) / 10 chunks arrive, and 448 need 1,125 us. What is left is the way on from NPUs: less than
// two sends over a slow link.
TEST(Justification, LeavesRoomOnSlowLinksOfAGather) {
  const Topology topology = boxes_and_spine(gigabytes_per_second(100));
  const Collective collective = support::collective(CollectiveKind::all_gather, 8, kJustifiedChunk * (8 * 64), 64);
  const SynthesisProblem problem{{topology, collective, Occupancy::serialization}};
  const Synthesis made = synthesize_cut_rate(problem).value();
  EXPECT_TRUE(verify(problem, made.schedule).valid());
  EXPECT_LE(made.time, microseconds(1145));
}

}  // namespace
}  // namespace tenex
