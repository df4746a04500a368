// Virtual cut-through in verifier and player: numbers by hand, and random schedules against a reading of the definition
// that looks at every byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bound/any_schedule.hpp"
#include "schedule/mutations.hpp"
#include "schedule/naive_oracle.hpp"
#include "schedule/schedule_factories.hpp"
#include "support/collectives.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/schedule/views/views.hpp"
#include "tenex/topology/hand_over.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;
using test::copy_of;
using test::star;
using test::sum_of;

constexpr SwitchProperties kEarly{.forwarding = Forwarding::virtual_cut_through};
constexpr SwitchProperties kAble{.copy = true, .reduce = true, .forwarding = Forwarding::virtual_cut_through};

Verdict judge(const Topology& topology, const Collective& collective, std::vector<Send> sends,
              Occupancy occupancy = Occupancy::serialization) {
  return verify({topology, collective, occupancy}, make_list_schedule(std::move(sends)));
}

TEST(EarlySwitch, PassesAChunkOnFromItsFirstByteOn) {
  // SW(8), All-Gather of 400 MB at 50 GB/s and 0.5 us: chunks of 1 ms. In step k NPU i sends to i + k; the switch
  // passes each chunk on 0.5 us after its start. 2 * 0.5 us + 7 * 1 ms, where a switch that stores takes a chunk time
  // more.
  const Topology topology = star(8, kEarly);
  const Collective gather = support::collective(all_gather, 8, bytes(400'000'000));
  std::vector<Send> sends;
  for (std::uint32_t step = 1; step < 8; ++step)
    for (std::uint32_t npu = 0; npu < 8; ++npu) {
      const SimTime start = microseconds(1000) * (step - 1);
      sends.push_back(copy_of(npu, 2 * npu, start));
      sends.push_back(copy_of(npu, 2 * ((npu + step) % 8) + 1, start + nanoseconds(500)));
    }
  const auto verdict = judge(topology, gather, sends);
  ASSERT_TRUE(verdict.valid()) << test::describe(verdict);
  EXPECT_EQ(verdict.collective_time, microseconds(7001));
  EXPECT_EQ(verdict.waste, 0U);
  EXPECT_FALSE(judge(topology.with_switches(SwitchProperties{}), gather, sends).valid());
  // A picosecond earlier the first byte is not there.
  sends[1].start -= picoseconds(1);
  const auto early = judge(topology, gather, sends);
  ASSERT_FALSE(early.valid());
  EXPECT_EQ(early.findings.front().violation, Violation::source_lacks_chunk);
  EXPECT_EQ(early.findings.front().message,
            "send of chunk 0 on link 3 (8 -> 1) at 499999ps: switch 8 does not hold the chunk until 500ns");
}

/// NPU i's link up takes up[i] ns for 1,000 bytes, its link down down[i]; alpha 0.
Topology uneven_star(const std::vector<std::int64_t>& up, const std::vector<std::int64_t>& down,
                     SwitchProperties properties) {
  TopologyBuilder builder(up.size());
  const VertexId hub = builder.add_switch(properties);
  for (std::size_t npu = 0; npu < up.size(); ++npu) {
    builder.add_link({VertexId::at(npu), hub, SimTime::zero(), bytes_per_second(1'000'000'000'000 / up[npu])});
    builder.add_link({hub, VertexId::at(npu), SimTime::zero(), bytes_per_second(1'000'000'000'000 / down[npu])});
  }
  return std::move(builder).build().value();
}

TEST(EarlySwitch, LetsASlowLinkBeginWhileAFastOneMustWait) {
  // A Broadcast from NPU 0, whose link takes 40 ns up: down to NPU 1 over 100 ns from the first byte on, to NPU 2 over
  // 10 ns when the last byte will be there in time: 40 - 10. Nothing has an alpha, so the first copy leaves at the
  // instant at which the chunk comes.
  const Topology topology = uneven_star({40, 40, 40}, {40, 100, 10}, kAble);
  const Collective one = support::collective(broadcast, 3, bytes(1000));
  EXPECT_TRUE(judge(topology, one, {copy_of(0, 0, {}), copy_of(0, 3, {}), copy_of(0, 5, nanoseconds(30))}).valid());
  const auto early =
      judge(topology, one, {copy_of(0, 0, {}), copy_of(0, 3, {}), copy_of(0, 5, nanoseconds(30) - picoseconds(1))});
  ASSERT_FALSE(early.valid());
  EXPECT_EQ(early.findings.front().message,
            "send of chunk 0 on link 5 (3 -> 2) at 29999ps: what switch 3 is receiving may leave over this link from "
            "30ns on");
  // A switch that cannot copy passes it on once.
  EXPECT_FALSE(
      judge(topology.with_switches(kEarly), one, {copy_of(0, 0, {}), copy_of(0, 3, {}), copy_of(0, 5, nanoseconds(30))})
          .valid());
}

TEST(EarlySwitch, AddsWhatItMayTakeAlong) {
  // A Reduce to NPU 0. NPU 1 sends from 0 on over 40 ns, NPU 2 from 25 on over 10 ns; the sum goes down over 20 ns. NPU
  // 1's last byte is there at 40, so that it may leave at 20; NPU 2's first byte is there at 25. From 25 on the sum has
  // both.
  const Topology topology = uneven_star({40, 40, 10}, {20, 20, 20}, kAble);
  const Collective sum = support::collective(reduce, 3, bytes(1000));
  const auto at = [&](SimTime start) {
    return judge(topology, sum, {sum_of(0, 2, {}), sum_of(0, 4, nanoseconds(25)), sum_of(0, 1, start)});
  };
  const auto verdict = at(nanoseconds(25));
  ASSERT_TRUE(verdict.valid()) << test::describe(verdict);
  EXPECT_EQ(verdict.collective_time, nanoseconds(45));
  EXPECT_FALSE(at(nanoseconds(25) - picoseconds(1)).valid());
}

TEST(EarlySwitch, StoresWhereItHasBeenPlannedTo) {
  // A switch that adds and does not copy: NPU 1's part leaves at 40, before NPU 2's has arrived at 50, which leaves at
  // 60. With virtual cut-through the second could be taken along at 40. It may wait, too.
  const Topology topology = uneven_star({40, 40, 20}, {20, 20, 20}, {.reduce = true, .forwarding = kEarly.forwarding});
  const Collective sum = support::collective(reduce, 3, bytes(1000));
  const std::vector<Send> sends{sum_of(0, 2, {}), sum_of(0, 4, nanoseconds(30)), sum_of(0, 1, nanoseconds(40)),
                                sum_of(0, 1, nanoseconds(60))};
  EXPECT_TRUE(judge(topology.with_switches(SwitchProperties{.reduce = true}), sum, sends).valid());
  EXPECT_TRUE(judge(topology, sum, sends).valid());
}

TEST(EarlySwitch, KeepsAChunkInItsBufferFromItsWholeArrivalOn) {
  // NPU 0 and NPU 1 send at once over 40 ns to NPU 2, whose link takes 40 ns: the first passes, the second is there at
  // 40 and leaves then: nothing waits. A picosecond later one chunk does.
  SwitchProperties none = kEarly;
  none.buffer = 0;
  const Topology topology = uneven_star({40, 40, 40}, {40, 40, 40}, none);
  CollectiveRequest request{gather, 3, {}, 1, bytes(3000)};
  request.root = 2;
  const Collective gathered = Collective::make(request).value();
  const auto verdict_of = [&](SimTime second) {
    return judge(topology, gathered, {copy_of(0, 0, {}), copy_of(1, 2, {}), copy_of(0, 5, {}), copy_of(1, 5, second)});
  };
  const auto passing = verdict_of(nanoseconds(40));
  EXPECT_TRUE(passing.valid()) << test::describe(passing);
  const auto waiting = verdict_of(nanoseconds(40) + picoseconds(1));
  ASSERT_FALSE(waiting.valid());
  EXPECT_EQ(waiting.findings.front().violation, Violation::buffer_overflow);
}

TEST(EarlySwitch, CountsAWaitFromTheFirstWholeArrival) {
  // NPU 0's copy comes to the switch over 100 ns from 0 on, NPU 1's over 2 ns from 10 on: it is there at 12 and leaves
  // at
  // 50. So it waits from 12 on, though NPU 0's first byte came first.
  SwitchProperties none = kAble;
  none.buffer = 0;
  TopologyBuilder builder(3);
  const VertexId hub = builder.add_switch(none);
  const auto link = [](VertexId from, VertexId to, std::int64_t each) {
    return Link{from, to, SimTime::zero(), bytes_per_second(1'000'000'000'000 / each)};
  };
  builder.add_link(link(VertexId(0), hub, 100));
  builder.add_link(link(VertexId(1), hub, 2));
  builder.add_link(link(hub, VertexId(2), 2));
  builder.add_link_pair(link(VertexId(0), VertexId(1), 2));
  builder.add_link(link(VertexId(2), VertexId(0), 2));
  const Topology topology = std::move(builder).build().value();
  const Collective one = support::collective(broadcast, 3, bytes(1000));
  const std::vector<Send> sends{copy_of(0, 0, {}), copy_of(0, 3, {}), copy_of(0, 1, nanoseconds(10)),
                                copy_of(0, 2, nanoseconds(50))};
  const auto verdict = judge(topology, one, sends);
  ASSERT_FALSE(verdict.valid());
  EXPECT_EQ(verdict.findings.front().violation, Violation::buffer_overflow);
}

TEST(EarlySwitch, SendsPartsOfAMessageOnWhenAllOfItIsThere) {
  // Two chunks together take 20 ns to the switch and 4 ns from it: as one they may leave at 16, one by one at 20.
  TopologyBuilder builder(3);
  const VertexId hub = builder.add_switch(kAble);
  const auto link = [](VertexId from, VertexId to, std::int64_t each) {
    return Link{from, to, SimTime::zero(), bytes_per_second(1'000'000'000'000 / each)};
  };
  builder.add_link(link(VertexId(0), hub, 10));
  builder.add_link(link(hub, VertexId(1), 2));
  builder.add_link(link(hub, VertexId(2), 2));
  builder.add_link(link(VertexId(1), VertexId(0), 2));
  builder.add_link(link(VertexId(2), VertexId(0), 2));
  const Topology topology = std::move(builder).build().value();
  const Collective both = support::collective(broadcast, 3, bytes(2000), 2);
  const auto verdict_of = [&](std::vector<Send> sends) {
    Payloads payloads;
    payloads.chunks = {ChunkId(0), ChunkId(1)};
    payloads.first = {0, 2};
    return verify({topology, both, Occupancy::serialization}, make_list_schedule(std::move(sends), payloads));
  };
  const auto together = [&](std::int64_t start) {
    return std::vector<Send>{copy_of(2, 0, {}), copy_of(2, 1, nanoseconds(start)), copy_of(2, 2, nanoseconds(start))};
  };
  EXPECT_TRUE(verdict_of(together(16)).valid()) << test::describe(verdict_of(together(16)));
  EXPECT_FALSE(verdict_of(together(15)).valid());
  const auto apart = [&](std::int64_t start) {
    return std::vector<Send>{copy_of(2, 0, {}), copy_of(0, 1, nanoseconds(start)),
                             copy_of(1, 1, nanoseconds(start + 2)), copy_of(0, 2, nanoseconds(start)),
                             copy_of(1, 2, nanoseconds(start + 2))};
  };
  EXPECT_TRUE(verdict_of(apart(20)).valid()) << test::describe(verdict_of(apart(20)));
  EXPECT_FALSE(verdict_of(apart(18)).valid());
}

/// Speeds of which 3 GB/s is drawn most, and alphas of which some are zero.
const support::DrawnLinks kDrawnLinks{
    {nanoseconds(0), nanoseconds(2), nanoseconds(4)},
    {gigabytes_per_second(1), gigabytes_per_second(3), gigabytes_per_second(3), gigabytes_per_second(10)}};

/// A random plan for switches that store and forward, on a network with virtual cut-through.
struct Drawn {
  Topology topology;
  Collective collective;
  Occupancy occupancy;
  Schedule stored;
  [[nodiscard]] Instance instance() const { return {topology, collective, occupancy}; }
};

Drawn draw(std::uint64_t seed) {
  Random random(seed, 0x766374);
  const bool able = random.below(2) == 0;
  SwitchProperties properties = able ? kAble : kEarly;
  Topology topology = support::drawn_switches(random, properties, kDrawnLinks);
  const CollectiveKind any[] = {all_gather, reduce_scatter, all_reduce, broadcast, reduce, all_to_all, gather, scatter};
  const CollectiveKind unicast[] = {all_to_all, gather, scatter};
  const auto kind = able ? any[random.below(8)] : unicast[random.below(3)];
  const auto npus = static_cast<std::int64_t>(topology.npus());
  auto collective = support::collective(kind, topology.npus(), bytes(60 * npus), 1 + random.below(3));
  const auto occupancy = random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer;
  const Topology storing = with_early_switches_as(topology, Forwarding::store_and_forward);
  const Schedule stored = support::EarliestSends({storing, collective, occupancy}, seed).schedule();
  return {std::move(topology), std::move(collective), occupancy, stored};
}

/// Whether the definition holds, for these switches or as if they stored.
bool oracle_accepts(const Drawn& drawn, const Schedule& schedule) {
  for (const bool last : {true, false})
    if (test::NaiveOracle(drawn.instance(), schedule, last).answer().valid) return true;
  const Topology storing = with_early_switches_as(drawn.topology, Forwarding::store_and_forward);
  return test::NaiveOracle({storing, drawn.collective, drawn.occupancy}, schedule).answer().valid;
}

TEST(EarlySwitch, TakesEveryPlanForSwitchesThatStoreAndPlaysItNoLonger) {
  const int draws = support::draws(150, 5000);
  int sooner = 0;
  for (int i = 0; i < draws; ++i) {
    SCOPED_TRACE("draw " + std::to_string(i));
    const Drawn drawn = draw(static_cast<std::uint64_t>(i));
    const Verdict stored = verify(drawn.instance(), drawn.stored);
    ASSERT_TRUE(stored.valid()) << test::describe(stored);
    const Schedule retimed = retime_early(drawn.instance(), drawn.stored, {}, true);
    const Verdict verdict = verify(drawn.instance(), retimed);
    ASSERT_TRUE(verdict.valid()) << test::describe(verdict);
    ASSERT_LE(verdict.collective_time, stored.collective_time);
    const auto answer = test::NaiveOracle(drawn.instance(), retimed).answer();
    ASSERT_TRUE(answer.valid);
    ASSERT_EQ(verdict.collective_time, answer.collective_time);
    ASSERT_EQ(verdict.waste, answer.waste);
    // Once more is no longer either.
    const Verdict again = verify(drawn.instance(), retime_early(drawn.instance(), retimed, {}, true));
    ASSERT_TRUE(again.valid()) << test::describe(again);
    ASSERT_LE(again.collective_time, verdict.collective_time);
    sooner += verdict.collective_time < stored.collective_time ? 1 : 0;
  }
  EXPECT_GT(4 * sooner, draws);
}

TEST(EarlySwitch, JudgesChangedSchedulesAsEveryByteDoes) {
  const int draws = support::draws(150, 5000);
  int valid = 0;
  int invalid = 0;
  for (int i = 0; i < draws; ++i) {
    const Drawn drawn = draw(static_cast<std::uint64_t>(i));
    const auto sends = list_sends(retime_early(drawn.instance(), drawn.stored, {}, true));
    Random random(static_cast<std::uint64_t>(i), 0x6d7574);
    for (int change = 0; change < 12; ++change) {
      auto changed = sends;
      // Small changes of starts alone: those that matter here.
      for (std::uint32_t n = 1 + random.below(2); n > 0; --n) {
        Send& send = changed[random.below(static_cast<std::uint32_t>(changed.size()))];
        const std::int64_t shifts[] = {-1, 1, -2000, 2000, -20'000, 20'000};
        send.start += picoseconds(shifts[random.below(6)]);
      }
      const Schedule schedule = make_list_schedule(std::move(changed));
      const Verdict verdict = verify(drawn.instance(), schedule);
      const bool accepted = oracle_accepts(drawn, schedule);
      ASSERT_EQ(verdict.valid(), accepted) << "draw " << i << ", change " << change << ": " << test::describe(verdict);
      (accepted ? valid : invalid)++;
    }
  }
  EXPECT_GT(valid, draws);
  EXPECT_GT(invalid, draws);
}

TEST(EarlySwitch, IsItsOwnMirrorImage) {
  const int draws = support::draws(150, 5000);
  for (int i = 0; i < draws; ++i) {
    SCOPED_TRACE("draw " + std::to_string(i));
    const Drawn drawn = draw(static_cast<std::uint64_t>(i));
    const auto kind = drawn.collective.kind();
    if (kind != all_gather && kind != broadcast) continue;
    const Schedule retimed = retime_early(drawn.instance(), drawn.stored, {}, true);
    const Collective turned = drawn.collective.as(kind == all_gather ? reduce_scatter : reduce);
    const Topology mirror = drawn.topology.mirrored();
    const Schedule reduction = reversed({mirror, drawn.collective, drawn.occupancy}, retimed);
    const Verdict verdict = verify({mirror, turned, drawn.occupancy}, reduction);
    ASSERT_TRUE(verdict.valid()) << test::describe(verdict);
    ASSERT_EQ(verdict.collective_time, verify(drawn.instance(), retimed).collective_time);
  }
}

}  // namespace
}  // namespace tenex
