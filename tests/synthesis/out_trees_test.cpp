// The engine `cut_rate` and trees over switches: rates and times by hand, the verifier and the bounds on any graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/trees/edge_splitting.hpp"
#include "synthesis/trees/engines.hpp"
#include "synthesis/trees/out_trees.hpp"
#include "synthesis/trees/player.hpp"
#include "synthesis/trees/trees.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using support::kMegabyte;
using support::kStep;
using support::of_megabytes;
using ::testing::HasSubstr;

constexpr SimTime kOutBusy = nanoseconds(20'000);  ///< 1 MB at 50 GB/s

/// Two boxes of two NPUs on a switch each (50 GB/s), whose switches are joined by one slower link each way.
Topology two_boxes(Bandwidth between) {
  TopologyBuilder builder(4);
  const VertexId left = builder.add_switch();
  const VertexId right = builder.add_switch();
  for (std::uint32_t npu = 0; npu < 4; ++npu)
    builder.add_link_pair({VertexId(npu), npu < 2 ? left : right, support::kAlpha, support::kBandwidth});
  builder.add_link_pair({left, right, support::kAlpha, between});
  return std::move(builder).build().value();
}

SimTime rate_of(const Topology& topology, std::int64_t chunks) {
  const Collective collective = of_megabytes(CollectiveKind::all_gather, topology.npus(), chunks);
  const TreeNetwork network(Instance{topology, collective});
  return least_rate_time(network, RootChunks(topology.npus(), chunks), {});
}

// A link into each NPU carries all chunks of the others.
TEST(CutRate, IsThatOfTheLinksIntoAnNpu) {
  EXPECT_EQ(rate_of(support::fully_connected(4), 2), kOutBusy * 2);  // 3 links for 6 chunks
  EXPECT_EQ(rate_of(support::switched(4), 2), kOutBusy * 6);         // one link for 6 chunks
  EXPECT_EQ(rate_of(support::line(3), 2), kOutBusy * 4);             // an end has one link for 4 chunks
}

// A box of two sends its 2c chunks over the one link between the boxes: c = 4 makes 8 chunks of 1 MB at 10 GB/s, 800
// us. An NPU's own link takes 12 chunks at 50 GB/s, 240 us.
TEST(CutRate, IsThatOfABoxBehindASlowLink) {
  EXPECT_EQ(rate_of(two_boxes(gigabytes_per_second(10)), 4), nanoseconds(800'000));
}

// If the links between the boxes, the last two, are to be idle for 100 us, all of it takes 100 us longer.
TEST(CutRate, LeavesLinksIdle) {
  const Topology boxes = two_boxes(gigabytes_per_second(10));
  const Collective collective = of_megabytes(CollectiveKind::all_gather, 4, 4);
  const TreeNetwork network(Instance{boxes, collective});
  LinkIdleTimes idle(boxes.links());
  idle[boxes.links() - 2] = idle[boxes.links() - 1] = microseconds(100);
  EXPECT_EQ(least_rate_time(network, RootChunks(4, 4), idle), microseconds(900));
}

// A chunk takes a hop to the first link after an NPU, and a hop from the last link before one. Links between switches
// wait for both.
TEST(CutRate, KnowsHowLongLinksOverSwitchesAreIdle) {
  const SimTime hop = kOutBusy + support::kAlpha;
  const Topology boxes = two_boxes(gigabytes_per_second(10));
  const Collective collective = of_megabytes(CollectiveKind::all_gather, 4, 4);
  const auto idle = idle_times(TreeNetwork(Instance{boxes, collective}));
  ASSERT_EQ(idle.size(), 10U);
  for (std::size_t link = 0; link < 8; ++link) EXPECT_EQ(idle[link], hop) << link;
  EXPECT_EQ(idle[8], hop * 2);
  EXPECT_EQ(idle[9], hop * 2);
  const Topology direct = support::line(3);
  EXPECT_EQ(idle_times(TreeNetwork(Instance{direct, of_megabytes(CollectiveKind::all_gather, 3, 1)})),
            LinkIdleTimes(direct.links()));
}

/// 16 boxes of 4 NPUs with three switches each (50 GB/s), and 24 switches that join all of those (12 GB/s).
Topology boxes_of_many_switches() {
  constexpr std::uint32_t kNpus = 64;
  constexpr std::size_t kSecond = 24;
  TopologyBuilder builder(kNpus);
  std::vector<VertexId> first;
  for (std::uint32_t i = 0; i < kNpus / 4 * 3; ++i) first.push_back(builder.add_switch());
  for (std::uint32_t npu = 0; npu < kNpus; ++npu)
    for (std::uint32_t i = 0; i < 3; ++i)
      builder.add_link_pair({VertexId(npu), first[npu / 4 * 3 + i], support::kAlpha, support::kBandwidth});
  for (std::size_t i = 0; i < kSecond; ++i) {
    const VertexId second = builder.add_switch();
    for (const VertexId below : first)
      builder.add_link_pair({below, second, support::kAlpha, gigabytes_per_second(12)});
  }
  return std::move(builder).build().value();
}

// Each of 72 switches has 28 or 48 links both ways, and each pair of them needs flows to 64 NPUs. `trees` goes on with
// another engine, which `auto` also takes.
TEST(CutRate, GivesUpWhereSwitchesHaveManyLinks) {
  const Topology boxes = boxes_of_many_switches();
  const Collective collective = of_megabytes(CollectiveKind::all_gather, boxes.npus(), 1);
  TreeNetwork network(Instance{boxes, collective});
  const RootChunks roots(boxes.npus(), 1);
  EXPECT_TRUE(split_switches(network, roots, {}, least_rate_time(network, roots, {})).gave_up);
  SynthesisProblem problem{boxes, collective};
  problem.engine = "cut_rate";
  const auto refused = synthesize_trees(problem);
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.errors()), HasSubstr("over so many switches"));
}

// Each root has four trees, each of which reaches all NPUs, and no link has more of them than fit into the time.
TEST(CutRate, PacksNoMoreThanEdgesCarry) {
  const Topology boxes = two_boxes(gigabytes_per_second(10));
  const Collective collective = of_megabytes(CollectiveKind::all_gather, 4, 4);
  TreeNetwork network(Instance{boxes, collective});
  const RootChunks roots(4, 4);
  const SimTime time = least_rate_time(network, roots, {});
  const auto edges = split_switches(network, roots, {}, time).edges.value();
  const auto packed = pack_out_trees(network, edges, roots).value();
  std::vector<std::int64_t> load(boxes.links());
  RootChunks chunks(4);
  for (const OutTrees& each : packed) {
    chunks[each.tree.root.index()] += each.chunks;
    ASSERT_EQ(each.tree.down_order.size(), 4U);
    for (const WayId way : each.tree.down)
      if (way.exists())
        for (const LinkId link : network.links(way)) load[link.index()] += each.chunks;
  }
  EXPECT_EQ(chunks, roots);
  for (std::size_t link = 0; link < load.size(); ++link)
    EXPECT_LE(network.hop(LinkId::at(link)).busy * load[link], time) << link;
}

SimTime out_time(const Topology& topology, CollectiveKind kind, std::int64_t chunks) {
  const Collective collective = of_megabytes(kind, topology.npus(), chunks);
  SynthesisProblem problem{{topology, collective, Occupancy::transfer}};
  problem.engine = trees_engine::cut_rate;
  const Synthesis made = synthesize_trees(problem).value();
  EXPECT_EQ(made.engine, "cut_rate");
  support::expect_valid(problem, made.schedule, made.time);
  EXPECT_LE(made.rate_time, made.time);
  EXPECT_GE(made.time, best_cheap_bound({problem}).time);
  EXPECT_LE(made.schedule.memory_bytes(), cut_rate_bytes(problem));
  return made.time;
}

// FC(4): every chunk goes straight to the three others. A switch: every root begins with another NPU, so no chunk
// waits; the last of three arrives at the switch after three steps and is there after four. A line of three: the end
// needs 8 chunks over one link, which never idles. Reductions are the same backwards.
TEST(CutRate, ReachesBoundsOnSmallNetworks) {
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    EXPECT_EQ(out_time(support::fully_connected(4), kind, 1), kStep);
    EXPECT_EQ(out_time(support::switched(4), kind, 1), kStep * 4);
    EXPECT_EQ(out_time(support::line(3), kind, 4), kStep * 8);
  }
}

// A line of three from its end: five chunks follow each other over two links. A ring of four: two trees, one each way
// round, with two of the four chunks each; the second one leaves after one step and has three hops at most.
TEST(CutRate, BroadcastsInPipelines) {
  for (const auto kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    EXPECT_EQ(out_time(support::line(3), kind, 5), kStep * 6);
    EXPECT_LE(out_time(support::ring(4), kind, 4), kStep * 4);
  }
}

void expect_verified(const SynthesisProblem& problem, const Synthesis& made) {
  VerifyOptions options;
  options.reduction_check = ReductionCheck::exact_sets;
  const Verdict verdict = verify(problem, made.schedule, options);
  EXPECT_TRUE(verdict.valid()) << made.engine << ": " << support::first_finding(verdict);
  EXPECT_EQ(verdict.waste, 0U);
  EXPECT_EQ(verdict.collective_time, made.time);
  const BoundProblem bounded{{problem.topology, problem.collective, problem.occupancy}, true};
  EXPECT_GE(made.time, best_cheap_bound(bounded).time);
  EXPECT_GE(made.time, cut_bound(bounded, support::kBoundWork).value_or(CertifiedBound{}).time);
}

// Links have equal opposites, so every switch can be split off, and every engine has trees.
TEST(CutRate, IsValidOverSwitchesOnAnyGraph) {
  Random random(21);
  for (int round = 0; round < 40; ++round) {
    const Topology graph = support::random_graph_with_switches(random, 9);
    const auto occupancy = random.below(2) == 0 ? Occupancy::transfer : Occupancy::serialization;
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                            CollectiveKind::reduce, CollectiveKind::all_reduce}) {
      const Collective collective = of_megabytes(kind, graph.npus(), 1 + random.below(4));
      const SynthesisProblem problem{{graph, collective, occupancy}};
      expect_verified(problem, synthesize_cut_rate(problem).value());
    }
  }
}

// Partial sums of one chunk meet in switches, which pass them on in the order in which they come.
TEST(QueuedTrees, AreValidOverSwitchesOnAnyGraph) {
  Random random(22);
  for (int round = 0; round < 40; ++round) {
    const Topology graph = support::random_graph_with_switches(random, 9);
    const Collective collective = of_megabytes(CollectiveKind::all_reduce, graph.npus(), 1 + random.below(4));
    const SynthesisProblem problem{{graph, collective, Occupancy::serialization}};
    expect_verified(problem, synthesize_queued(problem).value());
    expect_verified(problem, synthesize_packed(problem).value());
  }
}

// Each of 128 chunks needs 7 sums and 7 copies, each up to the switch over one of 8 links: 224 sends on each, if every
// NPU is the root of as many chunks.
TEST(QueuedTrees, FillASwitch) {
  const Topology star = support::switched(8);
  const Collective collective = of_megabytes(CollectiveKind::all_reduce, 8, 16);
  const SynthesisProblem problem{{star, collective, Occupancy::transfer}};
  const Synthesis made = synthesize_queued(problem).value();
  EXPECT_EQ(made.rate_time, kStep * 224);
  EXPECT_GE(support::efficiency(problem, made.time), 0.95);
}

// Two NPUs, of which NPU 1 sends nothing for 100 us. It owes two sums to the root, one after the other, and the second
// one's result takes a step back.
TEST(PlayedTrees, WaitForLateNpus) {
  const Topology pair = support::line(2);
  const Collective collective = of_megabytes(CollectiveKind::all_reduce, 2);
  const Instance instance{pair, collective, Occupancy::transfer};
  TreeNetwork network(instance);
  SpanningTree tree{NpuId(0), {WayId::none()}, {WayId::none()}, {NpuId(0), NpuId(1)}, {NpuId(0), NpuId(1)}};
  tree.up.push_back(network.way_over(pair.out_links(VertexId(1))));
  tree.down.push_back(network.way_over(pair.in_links(VertexId(1))));
  const DealtTrees dealt{{tree}, {{ChunkId(0), 0, 0}, {ChunkId(1), 0, 1}}};
  PlayOptions options;
  options.sums = true;
  options.start_delays = {{NpuId(1), nanoseconds(100'000)}};
  const Played played = play_trees(network, dealt, options);
  EXPECT_EQ(played.time, nanoseconds(100'000) + kStep * 3);
  VerifyOptions checks;
  checks.start_delays = options.start_delays;
  EXPECT_TRUE(verify(instance, played.schedule, checks).valid());
}

// The link into NPU 1 has half the bandwidth of that out of it, so the switch has more in than out. What NPUs need
// still fits; the engine says no where it does not.
TEST(CutRate, TakesLinksThatDifferBothWaysWhereTheyAreEnough) {
  TopologyBuilder builder(3);
  const VertexId hub = builder.add_switch();
  for (std::uint32_t npu = 0; npu < 3; ++npu) {
    builder.add_link({VertexId(npu), hub, support::kAlpha, support::kBandwidth});
    builder.add_link({hub, VertexId(npu), support::kAlpha, gigabytes_per_second(npu == 1 ? 25 : 50)});
  }
  const Topology uneven = std::move(builder).build().value();
  const Collective collective = of_megabytes(CollectiveKind::all_gather, 3, 4);
  const SynthesisProblem problem{{uneven, collective}};
  expect_verified(problem, synthesize_cut_rate(problem).value());
}

// 0 -> 1 is enough for what 0 has for 1.
TEST(CutRate, NeedsNoWayBackForABroadcast) {
  TopologyBuilder builder(2);
  builder.add_link({VertexId(0), VertexId(1), support::kAlpha, support::kBandwidth});
  EXPECT_EQ(out_time(std::move(builder).build().value(), CollectiveKind::broadcast, 3), kStep * 3);
}

std::string refusal_of(const Topology& topology, CollectiveKind kind = CollectiveKind::all_gather) {
  const Collective collective = of_megabytes(kind, topology.npus());
  SynthesisProblem problem{{topology, collective}};
  problem.engine = trees_engine::cut_rate;
  const auto made = synthesize_trees(problem);
  return made ? "" : made.errors().front().problem + ": " + made.errors().front().why;
}

// A switch that copies may be sent a chunk as often as it shall send it on, which is more often than it needs, and one
// that reduces has no sums here.
TEST(CutRate, PassesSwitchesThatCanDoMore) {
  const auto verify_on = [](const SwitchProperties& properties, CollectiveKind kind) {
    const Topology plain = support::switched(4);
    const Topology star = plain.with_switches(properties);
    const Collective collective = of_megabytes(kind, 4, 4);
    const SynthesisProblem problem{{star, collective}};
    const auto made = synthesize_cut_rate(problem).value();
    const Verdict verdict = verify(problem, made.schedule, {.reduction_check = ReductionCheck::exact_sets});
    EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
    EXPECT_EQ(verdict.collective_time, made.time);
    EXPECT_EQ(made.time, synthesize_cut_rate({{plain, collective}}).value().time);
  };
  SwitchProperties copies;
  copies.copy = true;
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::broadcast, CollectiveKind::reduce_scatter})
    verify_on(copies, kind);
  SwitchProperties reduces;
  reduces.reduce = true;
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::broadcast}) verify_on(reduces, kind);
}

TEST(CutRate, SaysWhatItCannotDo) {
  const Topology star = support::switched(4);
  SwitchProperties properties;
  properties.reduce = true;
  EXPECT_THAT(refusal_of(star.with_switches(properties), CollectiveKind::reduce_scatter), HasSubstr("that reduce"));
  properties = {};
  properties.copy = true;
  properties.forwarding = Forwarding::virtual_cut_through;
  EXPECT_THAT(refusal_of(star.with_switches(properties)), HasSubstr("copies of virtual cut-through"));
  properties = {};
  properties.buffer = 2;
  EXPECT_THAT(refusal_of(star.with_switches(properties)), HasSubstr("buffers"));
  EXPECT_THAT(refusal_of(support::ring(257)), HasSubstr("256 NPUs"));
  TopologyBuilder builder(2);
  builder.add_link({VertexId(0), VertexId(1), support::kAlpha, support::kBandwidth});
  EXPECT_THAT(refusal_of(std::move(builder).build().value()), HasSubstr("NPU 0 cannot be reached from NPU 1"));
}

}  // namespace
}  // namespace tenex
