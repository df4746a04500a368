// The engine `paths` of pccl over switches: schedules are valid on any graph with switches, by the verifier and by slow
// twins of the rules for buffers and wires, and stars take the time that counting gives.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/verdicts.hpp"
#include "synthesis/pccl/engines.hpp"
#include "synthesis/pccl/paths/paths.hpp"
#include "synthesis/pccl/paths/switch_buffers.hpp"
#include "synthesis/switch_twins.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

using support::expect_buffers_kept;
using support::expect_physical_links_apart;
using support::kMegabyte;
using support::kStep;
using support::random_switches;
using enum CollectiveKind;

/// Synthesizes, and expects a valid schedule without waste that is not below the bound.
Synthesis make_verified(const SynthesisProblem& problem) {
  auto made = synthesize_pccl(problem);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : to_string(made.errors()[0]));
  if (!made.ok()) return {};
  for (const Schedule& schedule : {made->schedule, made->without_overlap}) {
    const Verdict verdict = verify(problem, schedule);
    EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
    EXPECT_EQ(verdict.waste, 0U);
    expect_buffers_kept(problem, schedule);
    expect_physical_links_apart(problem, schedule);
  }
  EXPECT_EQ(verify(problem, made->schedule).collective_time, made->time);
  EXPECT_EQ(verify(problem, made->without_overlap).collective_time, made->time_without_overlap);
  EXPECT_GE(made->time, best_cheap_bound({problem, true}).time);
  return *std::move(made);
}

SynthesisProblem by_paths(const Topology& topology, const Collective& collective, Occupancy occupancy,
                          std::uint32_t attempts = 1) {
  return {{topology, collective, occupancy}, {1, attempts, std::string(pccl_engine::paths)}};
}

Topology star(std::uint32_t npus, SwitchProperties properties) {
  return support::switched(npus).with_switches(properties);
}

// ---- stars, by counting
// ---------------------------------------------------------------------------------------------------------------------

// The first chunk is at the switch after one step, and each NPU then gets three chunks over its one link: 4 steps. With
// copies each chunk goes up once and down three times (16 sends), otherwise up as often as down (24).
TEST(PcclSwitches, GatherOnAStarOfFour) {
  const Collective collective = support::of_megabytes(all_gather, 4);
  const Topology copying = star(4, {.copy = true});
  const Topology plain = star(4, {});
  const auto with_copies = make_verified(by_paths(copying, collective, Occupancy::transfer, 16));
  EXPECT_EQ(with_copies.time, 4 * kStep);
  EXPECT_EQ(with_copies.schedule.sends(), 16U);
  const auto without = make_verified(by_paths(plain, collective, Occupancy::transfer, 16));
  EXPECT_EQ(without.time, 4 * kStep);
  EXPECT_EQ(without.schedule.sends(), 24U);
}

// A copying switch has the chunk after one step and all others have it after two. Another switch gets the chunk in
// steps 1, 2 and 3 from the root, or from those that have it by then, and passes each one on: 4 steps.
TEST(PcclSwitches, BroadcastOnAStarOfFour) {
  const Collective collective = support::collective(broadcast, 4, kMegabyte);
  const Topology copying = star(4, {.copy = true});
  const Topology plain = star(4, {});
  EXPECT_EQ(make_verified(by_paths(copying, collective, Occupancy::transfer)).time, 2 * kStep);
  EXPECT_EQ(make_verified(by_paths(plain, collective, Occupancy::transfer)).time, 4 * kStep);
}

// The reverse: a switch that reduces adds three chunks of step 1 and sends the sum in step 2. One that only copies is
// no help.
TEST(PcclSwitches, ReduceOnAStarOfFour) {
  const Collective collective = support::collective(reduce, 4, kMegabyte);
  const Topology reducing = star(4, {.reduce = true});
  const Topology copying = star(4, {.copy = true});
  EXPECT_EQ(make_verified(by_paths(reducing, collective, Occupancy::transfer)).time, 2 * kStep);
  EXPECT_EQ(make_verified(by_paths(copying, collective, Occupancy::transfer)).time, 4 * kStep);
}

/// Two NPUs and a switch between them: 1 us per MB to it, 2 us from it on, no latency.
Topology narrowing(SwitchProperties properties) {
  TopologyBuilder builder(2);
  builder.add_switch(properties);
  builder.add_link({VertexId(0), VertexId(2), SimTime::zero(), gigabytes_per_second(1000)});
  builder.add_link({VertexId(2), VertexId(1), SimTime::zero(), gigabytes_per_second(500)});
  builder.add_link({VertexId(1), VertexId(0), SimTime::zero(), gigabytes_per_second(500)});
  return std::move(builder).build().value();
}

// Three chunks of 1 MB leave the switch at 1, 3 and 5 us. If they start at once, they come at 1, 2 and 3 us: during [2,
// 3) the second waits, during [3, 5) the third. Without room they come when they leave: they start at 0, 2 and 4 us.
TEST(PcclSwitches, ChunksStartLaterWhereTheyMayNotWait) {
  const Collective collective = support::collective(broadcast, 2, kMegabyte * 3, 3);
  const auto starts_of = [&](std::uint32_t buffer) {
    const Topology topology = narrowing({.buffer = buffer});
    const auto made = make_verified(by_paths(topology, collective, Occupancy::serialization));
    EXPECT_EQ(made.time, microseconds(7));
    std::vector<SimTime> starts;
    for (const Send& send : list_sends(made.schedule))
      if (send.link == LinkId(0)) starts.push_back(send.start);
    return starts;
  };
  EXPECT_EQ(starts_of(0), (std::vector{microseconds(0), microseconds(2), microseconds(4)}));
  starts_of(1);
  starts_of(2);
}

/// NPU 0 - switch - switch - NPU 1, each way, with 1, 2 and 3 us per MB on the way there.
Topology chain(std::uint32_t buffer) {
  TopologyBuilder builder(2);
  builder.add_switch({.buffer = buffer});
  builder.add_switch({.buffer = buffer});
  const auto link = [&](std::uint32_t from, std::uint32_t to, std::int64_t gigabytes) {
    builder.add_link({VertexId(from), VertexId(to), SimTime::zero(), gigabytes_per_second(gigabytes)});
  };
  link(0, 2, 1'000);
  link(2, 3, 500);
  link(3, 1, 250);
  link(1, 0, 1'000);
  return std::move(builder).build().value();
}

// The first chunk arrives after 1 + 2 + 4 us, and the last link passes one more every 4 us: 11 us, whether chunks wait
// or not.
TEST(PcclSwitches, ChainsOfSwitchesWithoutBuffers) {
  const Collective collective = support::collective(broadcast, 2, kMegabyte * 2, 2);
  for (const std::uint32_t buffer : {0U, 1U, kUnlimitedBuffer}) {
    const Topology topology = chain(buffer);
    EXPECT_EQ(make_verified(by_paths(topology, collective, Occupancy::serialization)).time, microseconds(11));
  }
}

// A switch that adds and copies: of 4 * 16 chunks every NPU sends each one up once, its part of 48 and the sum of 16,
// and gets each one down once. No link can do with less than 64 steps, and the first and the last chunk take two more
// each. In turn, 48 steps up and one down make the reduction, and one up and 48 down the gather.
TEST(PcclSwitches, AllReduceInTheNetworkOverlapsBothHalves) {
  const Topology topology = star(4, {.copy = true, .reduce = true});
  const Collective collective = support::collective(all_reduce, 4, kMegabyte * 64, 16);
  const auto made = make_verified(by_paths(topology, collective, Occupancy::transfer));
  EXPECT_GE(made.time, 64 * kStep);
  EXPECT_LE(made.time, 72 * kStep);
  EXPECT_EQ(made.time_without_overlap, 98 * kStep);
}

/// The All-Gather of n NPUs over one cut-through switch that copies: each NPU starts once, and its chunk comes out of
/// the switch everywhere at once.
TEST(PcclSwitches, OneSignalReachesAllOverACopyingCutThroughSwitch) {
  const Topology copying = star(4, {.copy = true, .forwarding = Forwarding::cut_through});
  const Topology wires = wires_of(copying).value();
  const Collective one = support::collective(broadcast, 4, kMegabyte);
  // 20 us of serialization and two alphas.
  EXPECT_EQ(make_verified(by_paths(wires, one, Occupancy::serialization)).time, microseconds(21));
  const Topology plain = wires_of(star(4, {.forwarding = Forwarding::cut_through})).value();
  // Two more from the root or from one that has it: 20, 40, 60 us after the start or 21 + 21 us: three over one link,
  // or the third in the second round.
  EXPECT_EQ(make_verified(by_paths(plain, one, Occupancy::serialization)).time, microseconds(42));
}

// ---- any graph
// ---------------------------------------------------------------------------------------------------------------------

void expect_all_kinds(const Topology& topology, std::uint64_t seed) {
  const auto chunks = static_cast<std::int64_t>(1 + seed % 3);
  for (const auto kind : {all_gather, reduce_scatter, all_reduce, all_to_all, broadcast, reduce, gather, scatter})
    for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
      const Collective collective = support::collective(
          kind, topology.npus(), kMegabyte * (static_cast<std::int64_t>(topology.npus()) * chunks), chunks);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", kind " << static_cast<int>(kind) << ", occupancy "
                                      << static_cast<int>(occupancy));
      make_verified(by_paths(topology, collective, occupancy, 2));
    }
}

TEST(PcclSwitches, AnyGraphOfSwitchesThatStoreAndForward) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) expect_all_kinds(random_switches(seed, false, false), seed);
}

TEST(PcclSwitches, AnyGraphOfSwitchesWithBuffers) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) expect_all_kinds(random_switches(seed, true, false), seed);
}

// 8 NPUs whose chunks go one by one over a switch without copies: 7 * 8 chunks down every link, and a step before the
// first.
TEST(PcclSwitches, LargerStarsMeetTheBound) {
  const Topology topology = star(8, {});
  for (const std::int64_t chunks : {1, 8}) {
    const Bytes size = kMegabyte * (8 * chunks);
    const Collective gathered = support::collective(all_gather, 8, size, chunks);
    EXPECT_EQ(make_verified(by_paths(topology, gathered, Occupancy::transfer)).time, (7 * chunks + 1) * kStep);
    const Collective exchanged = support::collective(all_to_all, 8, size, chunks);
    EXPECT_EQ(make_verified(by_paths(topology, exchanged, Occupancy::transfer)).time, (7 * chunks + 1) * kStep);
  }
}

// A fat tree of 16 NPUs in four pods: 15 chunks into every NPU, the first one from a neighbour after a step up. A chunk
// to another pod takes six steps.
TEST(PcclSwitches, ExchangesOnAFatTree) {
  const Topology topology = support::shape("fat_tree(4)");
  const Collective collective = support::of_megabytes(all_to_all, 16);
  const auto made = make_verified(by_paths(topology, collective, Occupancy::transfer));
  EXPECT_LE(made.time, 20 * kStep);
}

// Each of the 120 pairs of groups has one link each way for 8 * 8 chunks: 64 steps at least. Shortest paths may take
// two such links, where two of them meet at an NPU, and then take more than 70 steps.
TEST(PcclSwitches, ExchangesOnADragonflyOverOneLinkBetweenGroups) {
  const Topology topology = support::shape("dragonfly(8,16)");
  const Collective collective = support::of_megabytes(all_to_all, 128);
  const auto made = make_verified(by_paths(topology, collective, Occupancy::transfer));
  EXPECT_GE(made.time, 64 * kStep);
  EXPECT_LE(made.time, 66 * kStep);
}

// Waits at a switch with room for two, against a count at every instant.
TEST(PcclSwitches, BuffersHaveRoomAsLongAsAtEveryInstantTooFewWait) {
  const Topology topology = star(2, {.buffer = 2});
  const Collective collective = support::of_megabytes(all_gather, 2);
  const PathNetwork network({topology, collective, Occupancy::transfer});
  Random random(1, 0x62756666);
  for (int round = 0; round < 50; ++round) {
    SwitchBuffers<std::int64_t> buffers(network);
    std::vector<int> waiting(40, 0);
    for (int trial = 0; trial < 60; ++trial) {
      const std::int64_t from = random.below(40);
      const std::int64_t until = from + random.below(static_cast<std::uint32_t>(40 - from));
      const bool room = std::all_of(waiting.begin() + from, waiting.begin() + until, [](int n) { return n < 2; });
      ASSERT_EQ(buffers.fits(2, from, until), room);
      if (!room) continue;
      buffers.begin_trial();
      buffers.add(2, from, until);
      if (random.below(3) == 0) {
        buffers.undo_trial();
        continue;
      }
      std::for_each(waiting.begin() + from, waiting.begin() + until, [](int& n) { ++n; });
    }
  }
}

TEST(PcclSwitches, AnyGraphOfWires) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    expect_all_kinds(wires_of(random_switches(seed, seed % 2 == 1, true)).value(), seed);
}

}  // namespace
}  // namespace tenex
