// The engine `balanced` of pccl: chunks with one destination on networks that need not be regular, against numbers by
// hand, the verifier and the bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/collectives.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/pccl/balanced/balanced.hpp"
#include "synthesis/pccl/engines.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {
namespace {

using support::kMegabyte;
using support::kStep;
using enum CollectiveKind;

Collective of_kind(CollectiveKind kind, std::size_t npus, std::int64_t chunks) {
  return support::collective(kind, npus, kMegabyte * (chunks * static_cast<std::int64_t>(npus)), chunks);
}

/// Synthesizes; expects a valid schedule without waste that takes the time it states, not below the bound.
SimTime time_of(const Topology& topology, CollectiveKind kind, std::int64_t chunks,
                Occupancy occupancy = Occupancy::transfer) {
  const Collective collective = of_kind(kind, topology.npus(), chunks);
  const SynthesisProblem problem{{topology, collective, occupancy}};
  const Gathered made = balance_unicasts(problem).value();
  EXPECT_EQ(made.engine, pccl_engine::balanced);
  support::expect_valid(problem, made.schedule, made.time);
  EXPECT_GE(made.time, best_cheap_bound({problem, true}).time);
  EXPECT_LE(made.schedule.memory_bytes(), balanced_bytes(problem));
  return made.time;
}

TEST(BalancedWays, AreDirectOnFullConnections) {
  EXPECT_EQ(time_of(support::fully_connected(5), all_to_all, 1), kStep);
}

// Of a ring of 5 every NPU has two NPUs one link away and two NPUs two links away: 6 links for each, over 2 of its own.
TEST(BalancedWays, GoBothWaysAroundARing) { EXPECT_EQ(time_of(support::ring(5), all_to_all, 1), kStep * 3); }

// Of a line of 4 the middle link carries 4 chunks each way: first 1 to 3, then 0 to 3, which has come from NPU 0 by
// then, then 0 to 2, and last 1 to 2, which ends there.
TEST(BalancedWays, SendWhatHasFarthestToGoFirst) { EXPECT_EQ(time_of(support::line(4), all_to_all, 1), kStep * 4); }

// slim_fly(5), 50 NPUs: 7 are one link away from each NPU, the other 42 two links, each over one NPU alone. That is
// 50 * (7 + 84) = 4,550 links over 350: 13 steps, which no choice can change, and in which the links are hardly idle.
TEST(BalancedWays, LoadTheLinksOfASlimFlyAlike) {
  const SimTime time = time_of(support::shape("slim_fly(5)"), all_to_all, 1);
  EXPECT_GE(time, kStep * 13);
  EXPECT_LE(time, kStep * 14);
}

// A ring of 8 that lost a link is a line: 16 chunks over its middle link.
TEST(BalancedWays, GoAroundWhatHasFailed) {
  std::vector<Link> links;
  for (std::uint32_t npu = 0; npu + 1 < 8; ++npu)
    for (const auto& [from, to] : {std::pair(npu, npu + 1), std::pair(npu + 1, npu)})
      links.push_back({VertexId(from), VertexId(to), support::kAlpha, support::kBandwidth});
  EXPECT_EQ(time_of(support::graph(8, links), all_to_all, 1), kStep * 16);
}

// A square of which one side is slow, 4 times: chunks between its ends go the three fast links around. All-to-All then
// takes less than the 4 steps that a chunk takes over the slow link alone, were it loaded with two of them: 8.
TEST(BalancedWays, AvoidSlowLinks) {
  TopologyBuilder builder(4);
  for (std::uint32_t npu = 0; npu < 4; ++npu)
    builder.add_link_pair({VertexId(npu), VertexId((npu + 1) % 4), nanoseconds(0),
                           npu == 3 ? gigabytes_per_second(1) : gigabytes_per_second(8)});
  const Topology square = std::move(builder).build().value();
  // Over fast links alone, a line of 4, the middle one carries 4 chunks of 125 us. The slow link takes 1 ms for one.
  EXPECT_EQ(time_of(square, all_to_all, 1), microseconds(500));
}

TEST(BalancedWays, AreValidOnAnyGraph) {
  Random random(31);
  for (int round = 0; round < support::draws(30, 300); ++round) {
    const Topology graph = support::random_graph_of_pairs(random);
    const auto kind = std::vector{all_to_all, gather, scatter}[random.below(3)];
    time_of(graph, kind, 1 + random.below(4), random.below(2) == 0 ? Occupancy::transfer : Occupancy::serialization);
  }
}

TEST(BalancedWays, AreValidWithOneWayLinks) {
  Random random(32);
  for (int round = 0; round < support::draws(30, 300); ++round) {
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
    const auto kind = std::vector{all_to_all, gather, scatter}[random.below(3)];
    time_of(std::move(builder).build().value(), kind, 1 + random.below(3));
  }
}

// Amounts of their own, and neighbours: in groups that may share NPUs, and on networks where ways are not alike.
TEST(BalancedWays, TakeConditionsOfOneDestination) {
  Random random(33);
  for (int round = 0; round < support::draws(30, 300); ++round) {
    const Topology graph = support::random_graph_of_pairs(random);
    const auto npus = static_cast<std::uint32_t>(graph.npus());
    const auto kind = std::vector{all_to_allv, halo_exchange}[random.below(2)];
    const Collective collective = support::any_collective(kind, npus, kMegabyte, 1 + random.below(3),
                                                          support::drawn_groups(npus, random), random.below(1000));
    const SynthesisProblem problem{{graph, collective, Occupancy::transfer}};
    const Gathered made = balance_unicasts(problem).value();
    support::expect_valid(problem, made.schedule, made.time);
    EXPECT_GE(made.time, best_cheap_bound({problem, true}).time);
  }
}

/// An amount from every rank to every other one, of which few are large (Pareto, exponent 1.2), in pieces.
Collective skewed_exchange(std::uint32_t npus, Bytes piece, Random& random) {
  std::vector<Condition> matrix;
  for (std::uint32_t from = 0; from < npus; ++from)
    for (std::uint32_t to = 0; to < npus; ++to) {
      if (from == to) continue;
      const auto amount = static_cast<std::int64_t>(1e6 / std::pow(1 - random.unit(), 1 / 1.2));
      const auto pieces = ceil_div(amount, piece.count());
      matrix.insert(matrix.end(), static_cast<std::size_t>(pieces), {from, {to}, bytes(ceil_div(amount, pieces))});
    }
  ProcessGroup all;
  for (std::uint32_t npu = 0; npu < npus; ++npu) all.members.push_back(NpuId(npu));
  all.conditions = std::make_shared<const std::vector<Condition>>(std::move(matrix));
  return Collective::make({all_to_allv, npus, {std::move(all)}, 1, kMegabyte, 0}).value();
}

/// Bytes that leave or enter a box of NPUs 8b to 8b + 7, over its eight links of 50 GB/s to other boxes.
SimTime time_of_busiest_box(const Collective& exchange) {
  std::vector<std::int64_t> out(exchange.npus() / 8);
  std::vector<std::int64_t> in(exchange.npus() / 8);
  for (std::size_t c = 0; c < exchange.chunks(); ++c) {
    const auto from = exchange.source(ChunkId::at(c)).index() / 8;
    const auto to = exchange.destination(ChunkId::at(c)).index() / 8;
    if (from == to) continue;
    out[from] += exchange.chunk_bytes(ChunkId::at(c)).count();
    in[to] += exchange.chunk_bytes(ChunkId::at(c)).count();
  }
  return picoseconds(std::max(std::ranges::max(out), std::ranges::max(in)) * 20 / 8);
}

// Boxes of 8 NPUs on a switch of 450 GB/s, with a link of 50 GB/s from each NPU to the switch of its rail. A box can
// send no faster than all its links, whoever of it has how much to send: what one NPU has too much goes over the links
// of others. Whole amounts would wait for the largest one.
TEST(BalancedWays, OverSwitchesLevelWhatABoxSendsAndReceives) {
  Random random(12);
  const Topology boxes =
      support::shape("SW(8)_SW(12)", {nanoseconds(500)}, {gigabytes_per_second(450), gigabytes_per_second(50)}, true);
  for (int round = 0; round < support::draws(2, 10); ++round) {
    const Collective exchange = skewed_exchange(96, bytes(500'000), random);
    const SynthesisProblem problem{{boxes, exchange, Occupancy::serialization}};
    ASSERT_GT(exchange.chunk_sizes().size(), 1000U);
    const Gathered made = balance_unicasts(problem).value();
    support::expect_valid(problem, made.schedule, made.time);
    const SimTime bound = time_of_busiest_box(exchange);
    EXPECT_GE(made.time, bound);
    EXPECT_LE(made.time, bound + bound / 20);
    EXPECT_LE(made.schedule.memory_bytes(), balanced_bytes(problem));
  }
}

TEST(BalancedWays, AreValidOverAnySwitches) {
  Random random(34);
  const support::DrawnLinks links{{SimTime::zero(), nanoseconds(500)},
                                  {gigabytes_per_second(25), gigabytes_per_second(100)}};
  for (int round = 0; round < support::draws(60, 600); ++round) {
    const auto forwarding = std::vector{Forwarding::store_and_forward, Forwarding::virtual_cut_through}[round % 2];
    const Topology network = support::drawn_switches(random, {.forwarding = forwarding}, links);
    const auto npus = static_cast<std::uint32_t>(network.npus());
    const Collective collective =
        support::any_collective(all_to_allv, npus, kMegabyte, 1 + random.below(3), "all", random.below(1000));
    const SynthesisProblem problem{{network, collective, Occupancy::serialization}};
    ASSERT_FALSE(balanced_unsuitable(problem));
    const Gathered made = balance_unicasts(problem).value();
    support::expect_valid(problem, made.schedule, made.time);
    EXPECT_GE(made.time, best_cheap_bound({problem, true}).time);
  }
}

// Amounts that are alike come to a switch at one instant: balanced ways wait there, and a search chunk by chunk is
// kept.
TEST(BalancedWays, OfAlikeAmountsOverSwitchesAreNoLongerThanASearch) {
  const Topology boxes = support::shape("SW(8)_SW(8)");
  ProcessGroup all;
  std::vector<Condition> matrix;
  for (std::uint32_t from = 0; from < 64; ++from) {
    all.members.push_back(NpuId(from));
    for (std::uint32_t to = 0; to < 64; ++to)
      if (from != to) matrix.push_back({from, {to}, bytes(1'000'000 + 1000 * ((from * 5 + to * 3) % 11))});
  }
  all.conditions = std::make_shared<const std::vector<Condition>>(std::move(matrix));
  const auto exchange = Collective::make({all_to_allv, 64, {std::move(all)}, 1, kMegabyte, 0}).value();
  SynthesisProblem problem{{boxes, exchange, Occupancy::serialization}};
  problem.engine = pccl_engine::paths;
  const SimTime searched = synthesize_pccl(problem)->time;
  problem.engine = kAutomaticEngine;
  EXPECT_LE(synthesize_pccl(problem)->time, searched);
}

// Over switches that store chunks of one size a search chunk by chunk is better, and buffers are not counted.
TEST(BalancedWays, OverSwitchesTakeConditionsAndBuffersWithoutLimit) {
  const Topology star = support::shape("SW(6)");
  const Collective alike = of_kind(all_to_all, 6, 1);
  EXPECT_TRUE(balanced_unsuitable({{star, alike, Occupancy::transfer}}));
  const Collective amounts = support::any_collective(all_to_allv, 6, kMegabyte, 1);
  EXPECT_FALSE(balanced_unsuitable({{star, amounts, Occupancy::transfer}}));
  const Topology tight = star.with_switches(SwitchProperties{.buffer = 1});
  EXPECT_TRUE(balanced_unsuitable({{tight, amounts, Occupancy::transfer}}));
}

// A ring of 8 whose ranks are two apart in turn, 0, 2, 4, 6, 1, 3, 5, 7: neighbours are two links away, but for 6 and 1
// and for 7 and 0, three and one. That are 2 * (6 * 2 + 3 + 1) = 32 links over 16: two steps at least, and three as 1
// to 6 takes three hops.
TEST(BalancedWays, OfAHaloExchangeAreAsShortAsTheyCanBe) {
  const Collective halo = support::any_collective(halo_exchange, 8, kMegabyte, 1, "0,2,4,6,1,3,5,7");
  const Topology ring = support::ring(8);
  const SynthesisProblem problem{{ring, halo, Occupancy::transfer}};
  const Gathered made = balance_unicasts(problem).value();
  support::expect_valid(problem, made.schedule, made.time);
  EXPECT_EQ(made.time, kStep * 3);
}

TEST(BalancedWays, RefuseConditionsOfSeveralDestinations) {
  const Collective lists = support::any_collective(conditions, 6, kMegabyte, 1);
  const Topology ring = support::ring(6);
  ASSERT_FALSE(lists.is_unicast());
  EXPECT_TRUE(balanced_unsuitable({{ring, lists, Occupancy::transfer}}));
}

// A square whose NPUs 0 and 1 exchange chunks of 8 MB over a slow link of their own, or over NPUs 2 and 3 if these may
// relay: 1 ms over three hops, where the slow link takes 8 ms.
TEST(BalancedWays, KeepOutOfNpusThatMayNotRelay) {
  TopologyBuilder builder(4);
  for (std::uint32_t npu = 0; npu < 4; ++npu)
    builder.add_link_pair({VertexId(npu), VertexId((npu + 1) % 4), nanoseconds(0),
                           npu == 0 ? gigabytes_per_second(1) : gigabytes_per_second(24)});
  const Topology square = std::move(builder).build().value();
  const Collective pair = Collective::make({all_to_all, 4, {{{NpuId(0), NpuId(1)}}}, 1, kMegabyte * 16}).value();
  const auto time = [&](Relays relays) {
    SynthesisProblem problem{{square, pair, Occupancy::serialization}};
    problem.relays = relays;
    const Synthesis made = synthesize_pccl(problem).value();
    support::expect_valid(problem, made.schedule, made.time);
    return made.time;
  };
  EXPECT_LT(time(Relays::any), microseconds(1001));
  EXPECT_EQ(time(Relays::members), microseconds(8000));
}

TEST(BalancedWays, NameWhatCannotBeReached) {
  const Topology apart = support::graph(3, {{VertexId(0), VertexId(1), support::kAlpha, support::kBandwidth},
                                            {VertexId(1), VertexId(0), support::kAlpha, support::kBandwidth},
                                            {VertexId(2), VertexId(0), support::kAlpha, support::kBandwidth}});
  const Collective collective = of_kind(all_to_all, 3, 1);
  const auto made = balance_unicasts({{apart, collective, Occupancy::transfer}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.errors().front().problem, "NPU 2 cannot be reached from NPU 0");
}

}  // namespace
}  // namespace tenex
