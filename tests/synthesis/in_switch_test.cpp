// All-Reduces in switches that add and copy: counts and times by hand, refusals, and any such network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/collectives.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/trees/engines.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

constexpr SwitchProperties kAble{.copy = true, .reduce = true};
constexpr SwitchProperties kEarly{.copy = true, .reduce = true, .forwarding = Forwarding::virtual_cut_through};

Collective all_reduce(const Topology& topology, Bytes size, std::int64_t chunks = 1) {
  return support::collective(CollectiveKind::all_reduce, topology.npus(), size, chunks);
}

Synthesis made(const Topology& topology, const Collective& collective) {
  auto result = synthesize_in_switch(SynthesisProblem{{topology, collective}});
  EXPECT_TRUE(result.ok()) << to_string(result.errors());
  const auto verdict = verify({topology, collective}, result->schedule);
  EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
  EXPECT_EQ(last_arrival({topology, collective}, result->schedule), result->time);
  return *std::move(result);
}

TEST(InSwitch, CarriesEachChunkOnceUpAndOnceDown) {
  // Three NPUs with three chunks of 50 KB, 1 us each, alpha 0.5 us. All chunks go up in 3 us; the switch adds the first
  // at 1.5 us and sends its copies then. Stored and forwarded: 2 alphas and 4 us; passed on from the first byte on: 3
  // us.
  const auto stored = support::switched(3).with_switches(kAble);
  const auto collective = all_reduce(stored, bytes(150'000));
  const auto schedule = made(stored, collective);
  EXPECT_EQ(schedule.time, microseconds(5));
  EXPECT_EQ(schedule.schedule.sends(), 2U * 3 * 3);
  EXPECT_EQ(made(stored.with_switches(kEarly), collective).time, microseconds(4));
}

TEST(InSwitch, TakesSpinesInTurn) {
  // 2 leaves of 2 NPUs, 2 spines: a tree has 2 links to leaves and 4 to NPUs, each taken up and down by each chunk.
  const auto topology = support::shape("leaf_spine(2,2,2)").with_switches(kEarly);
  const auto collective = all_reduce(topology, bytes(400'000), 2);  // 8 chunks of 50 KB: 1 us
  const auto schedule = made(topology, collective);
  EXPECT_EQ(schedule.schedule.sends(), 2U * 6 * 8);
  // An NPU sends 8 us; the last chunk then passes leaf, spine and leaf in four alphas.
  EXPECT_EQ(schedule.time, microseconds(10));
}

TEST(InSwitch, PassesNpusWhereSwitchesAreApart) {
  // Two boxes of two, and two rails: a tree is a rail, an NPU of each box, the boxes' switches and their other NPUs.
  const auto topology = support::shape("SW(2)_SW(2)").with_switches(kEarly);
  const auto collective = all_reduce(topology, bytes(400'000), 8);
  const auto schedule = made(topology, collective);
  EXPECT_EQ(schedule.schedule.sends(), 2U * 6 * collective.chunks());
}

std::string reason(const Topology& topology, const Collective& collective) {
  return in_switch_unsuitable(SynthesisProblem{{topology, collective}}).value_or("");
}

TEST(InSwitch, TakesLinksUpAndDownThatDiffer) {
  // An overhead of 1 us makes links up slower: three chunks of 50 KB leave an NPU in 6 us, and two alphas later all are
  // there.
  const auto topology = with_overhead(support::switched(3).with_switches(kEarly), microseconds(1)).value();
  EXPECT_EQ(made(topology, all_reduce(topology, bytes(150'000))).time, microseconds(7));
}

TEST(InSwitch, SaysWhatItNeeds) {
  const auto plain = support::switched(4);
  EXPECT_THAT(reason(plain, all_reduce(plain, bytes(4'000))), HasSubstr("switches that add and copy"));
  const auto able = plain.with_switches(kAble);
  EXPECT_EQ(reason(able, all_reduce(able, bytes(4'000))), "");
  EXPECT_THAT(reason(able, support::collective(CollectiveKind::all_gather, 4, bytes(4'000))), HasSubstr("All-Reduces"));
  auto limited = kAble;
  limited.buffer = 1;
  const auto small = plain.with_switches(limited);
  EXPECT_THAT(reason(small, all_reduce(small, bytes(4'000))), HasSubstr("buffers"));
  // The boxes' switches add and copy, the rails' only add, which would join sums that are to stay apart.
  const auto rails = support::shape("SW(2)_SW(2)");
  const auto half = rails.with_switches({kAble, kAble, SwitchProperties{.reduce = true}, {.reduce = true}});
  EXPECT_THAT(reason(half, all_reduce(half, bytes(4'000))), HasSubstr("do not reach all NPUs"));
}

TEST(InSwitch, PassesSwitchesThatOnlyForward) {
  // Boxes of four whose switches add and copy, and two of them on slow rails that forward: a tree has a box's switch as
  // its root, an NPU of the box that a rail joins with one of the other box, and that box's switch with its other NPUs:
  // 4 + 2 + 1 + 3 links.
  const auto shape =
      support::shape("SW(4)_SW(2)", {nanoseconds(300)}, {gigabytes_per_second(200), gigabytes_per_second(20)});
  const auto topology = shape.with_switches({kEarly, kEarly, {}, {}, {}, {}});
  const auto collective = all_reduce(topology, bytes(800'000), 2);
  const auto schedule = made(topology, collective);
  EXPECT_EQ(schedule.schedule.sends(), 2U * (4 + 2 + 1 + 3) * collective.chunks());
}

TEST(InSwitch, IsValidAndNotBelowABoundOnAnyNetwork) {
  int suited = 0;
  const support::DrawnLinks links{{SimTime::zero(), nanoseconds(300), microseconds(1)},
                                  {gigabytes_per_second(25), gigabytes_per_second(50), gigabytes_per_second(300)}};
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(support::draws(80, 2'000)); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, 0x696e7377);
    auto topology = support::drawn_switches(random, seed % 2 == 0 ? kAble : kEarly, links);
    std::vector<SwitchProperties> switches(topology.switches(), seed % 2 == 0 ? kAble : kEarly);
    for (SwitchProperties& each : switches)  // some only forward
      if (random.below(4) == 0) each.copy = each.reduce = false;
    topology = topology.with_switches(switches);
    const auto collective = all_reduce(topology, bytes(60'000 + random.below(100'000)), 1 + random.below(6));
    if (in_switch_unsuitable(SynthesisProblem{{topology, collective}})) continue;
    ++suited;
    const auto schedule = made(topology, collective);
    const BoundProblem problem{{topology, collective}, true, true};
    EXPECT_LE(best_cheap_bound(problem).time, schedule.time);
    if (HasFailure()) return;
  }
  EXPECT_GT(suited, 60);
}

}  // namespace
}  // namespace tenex
