// Rows of single design points; a row follows from its point alone.
#include "tenex/evaluate/evaluate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/points.hpp"
#include "support/process.hpp"

namespace tenex {
namespace {

using support::expect_same_result;
using support::point;
using support::row_of;
using support::Words;

TEST(Evaluate, GathersOnA3x3MeshInFourSteps) {
  // 9 chunks of 1000 B; a corner has 2 in-links and lacks 8 chunks: 4 steps of 1 us at least. TACOS finds a schedule of
  // 4 steps over a few attempts (TACOS, Fig. 14 shows one).
  const auto row =
      row_of(point({{"topology", "mesh(3,3)"}, {"size", "9000B"}, {"algorithm", "tacos"}, {"attempts", "20"}}));
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes);
  EXPECT_EQ(row.npus, 9);
  EXPECT_EQ(row.total_links, 24);
  EXPECT_EQ(row.sends, 72);
  EXPECT_EQ(row.bound_ps, 4'000'000);
  EXPECT_EQ(row.collective_time_ps, 4'000'000);
  EXPECT_EQ(row.steps, 4);
  EXPECT_DOUBLE_EQ(row.efficiency, 1.0);
  // algbw = 9000 B / 4 us; busbw = algbw * 8/9.
  EXPECT_DOUBLE_EQ(row.algbw_bytes_per_s, 2.25e9);
  EXPECT_DOUBLE_EQ(row.busbw_bytes_per_s, 2.0e9);
}

TEST(Evaluate, ReportsAnAllReduceWithAndWithoutOverlap) {
  // Unidirectional Ring on a 4-NPU ring, one chunk of 1000 B per NPU: 3 steps to reduce, 3 to gather, either way. On
  // the bidirectional ring: reductions and gathers take 2 steps each.
  const Words words{{"topology", "RI(4)"}, {"size", "4000B"}, {"collective", "all_reduce"}};
  auto unidirectional = words;
  unidirectional.emplace_back("algorithm", "ring_unidirectional");
  const auto row = row_of(point(unidirectional));
  EXPECT_EQ(row.time_without_overlap_ps, 6'000'000);
  EXPECT_EQ(row.collective_time_ps, row.time_with_overlap_ps);
  auto without = unidirectional;
  without.emplace_back("overlap", "false");
  const auto row_without = row_of(point(without));
  EXPECT_EQ(row_without.verified, Verified::yes) << row_without.reason;
  EXPECT_EQ(row_without.collective_time_ps, 6'000'000);
  EXPECT_EQ(row_without.time_with_overlap_ps, row.time_with_overlap_ps);
}

TEST(Evaluate, PlaysSchedulesForUnwoundSwitchesOnTheSwitches) {
  // SW(4) unwound is a ring one way: three steps of 1 us. On the switch a step is two hops of 1 us each, or one path of
  // 1 us if it cuts through. The bound of that network is the one that Direct has there.
  for (const auto* forwarding : {"store_and_forward", "cut_through"}) {
    const Words words{{"topology", "SW(4)"}, {"size", "4000B"}, {"forwarding", forwarding}};
    auto tacos = words;
    tacos.insert(tacos.end(), {{"algorithm", "tacos"}, {"unwind", "1"}});
    auto direct = words;
    direct.emplace_back("algorithm", "direct");
    const auto row = row_of(point(tacos));
    const auto simulated = row_of(point(direct));
    ASSERT_EQ(simulated.status, PointStatus::ok) << simulated.reason;
    EXPECT_EQ(row.collective_time_ps, 3'000'000);
    EXPECT_EQ(row.switched_time_ps, forwarding[0] == 's' ? 6'000'000 : 3'000'000) << row.reason;
    EXPECT_EQ(row.switched_bound_ps, simulated.bound_ps);
    EXPECT_EQ(simulated.switched_time_ps, -1);
    EXPECT_EQ(simulated.simulation_engine == "wires", forwarding[0] == 'c');
  }
}

TEST(Evaluate, RefusesTextbookAlgorithmsOverSwitchesWithALimitedBuffer) {
  const Words words{{"topology", "SW(4)"}, {"size", "4000B"}, {"switch_buffer", "2"}};
  auto direct = words;
  direct.emplace_back("algorithm", "direct");
  const auto refused = row_of(point(direct));
  EXPECT_EQ(refused.status, PointStatus::unsupported);
  EXPECT_NE(refused.reason.find("flow control"), std::string::npos) << refused.reason;
  Foresight foresee;
  EXPECT_NE(foresee(point(direct)).find("flow control"), std::string::npos);
  // Where the faults cut an NPU off, too, a plan names the same reason first as the row.
  auto cut = direct;
  cut.emplace_back("faults", "npu 1; link 0-4");
  EXPECT_EQ(foresee(point(cut)), row_of(point(cut)).reason);
  direct.emplace_back("backend", "congestion_unaware");
  EXPECT_EQ(row_of(point(direct)).status, PointStatus::ok);
  EXPECT_EQ(foresee(point(direct)), "");
  auto tacos = words;
  tacos.insert(tacos.end(), {{"algorithm", "tacos"}, {"unwind", "1"}});
  const auto unwound = row_of(point(tacos));
  EXPECT_EQ(unwound.status, PointStatus::ok) << unwound.reason;
  EXPECT_EQ(unwound.switched_time_ps, -1);
  EXPECT_NE(unwound.reason.find("not played on the switches"), std::string::npos) << unwound.reason;
}

TEST(Evaluate, PlaysReductionsWithoutOverlapOnTheSwitchesAgainstTheBoundWithOverlap) {
  for (const auto* overlap : {"true", "false"})
    for (const auto* degree : {"1", "2", "3"}) {
      const auto row = row_of(point({{"topology", "RI(2)_SW(4)"},
                                     {"size", "64000B"},
                                     {"collective", "all_reduce"},
                                     {"algorithm", "tacos"},
                                     {"unwind", degree},
                                     {"chunks", "2"},
                                     {"overlap", overlap}}));
      ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
      EXPECT_GE(row.switched_time_ps, row.switched_bound_ps);
      EXPECT_GT(row.switched_bound_ps, 0);
    }
}

// A chunk of 1 KB takes 1 us on a link. Unwound, SW(4) is the ring 0->1->2->3->0, of three steps. On the switch each of
// these sends goes up and down: six steps, over the eight links of four NPUs.
TEST(Evaluate, PlaysSchedulesOfDirectLinksOnTheSwitchesThatThePointHas) {
  const Words words{{"topology", "SW(4)"}, {"size", "4000B"}, {"algorithm", "tacos"}};
  const auto row = row_of(point(words));
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.unwound_degree, 0);
  EXPECT_EQ(row.total_links, 8);
  EXPECT_EQ(row.unwound_time_ps, 3'000'000);
  EXPECT_EQ(row.collective_time_ps, 6'000'000);
  EXPECT_EQ(row.algbw_bytes_per_s, 4000 / 6e-6);
  EXPECT_EQ(row.verified, Verified::yes) << row.reason;
  EXPECT_EQ(row.sends, 24);
  EXPECT_EQ(row.switched_time_ps, -1);
  // Three chunks arrive at each NPU one after another, the first after two hops.
  EXPECT_EQ(row.bound_ps, 4'000'000);
  EXPECT_EQ(row_of(point({{"topology", "SW(4)"}, {"size", "4000B"}, {"algorithm", "ring"}})).bound_ps, row.bound_ps);
  EXPECT_THAT(point(words).canonical, testing::Not(testing::HasSubstr("unwind")));
}

TEST(Evaluate, SaysWhatCannotBePlayedOnSwitches) {
  const Words words{{"topology", "SW(4)"}, {"size", "4000B"}, {"algorithm", "tacos"}, {"collective", "all_reduce"}};
  const auto with = [&](const char* key, const char* value) {
    auto more = words;
    more.emplace_back(key, value);
    const auto row = row_of(point(more));
    Foresight foresee;
    EXPECT_EQ(foresee(point(more)), row.reason);
    EXPECT_EQ(row.status, PointStatus::unsupported);
    return row.reason;
  };
  EXPECT_THAT(with("switch_buffer", "1"), testing::HasSubstr("flow control"));
}

// Each chunk comes to every other NPU: 3,000 * 2,999 = 8,997,000 sends of two hops. Where no NPU stands for all, each
// hop keeps 25 bytes: a start, a link, a chunk, a stage, a message and a destination. That is 449,850,000 bytes, and
// not within 256 MiB.
TEST(Evaluate, PlansPlaysOfAnyNumberOfSendsBeforeTheyAreMade) {
  EvaluateOptions options;
  options.memory_limit_bytes = std::size_t{256} << 20;
  const auto row = row_of(
      point({{"topology", "SW(3000)"}, {"size", "3MB"}, {"algorithm", "tacos"}, {"engine", "event_driven"}}), options);
  EXPECT_EQ(row.status, PointStatus::out_of_memory);
  EXPECT_GT(row.memory_planned_bytes, 449'850'000);
  EXPECT_EQ(row.synthesis_seconds, 0);
}

// 40,000 * 39,999 sends of two hops, each of 100 KB at 1 GB/s: every NPU sends 39,999 chunks one after another, and
// each is 200 us after the one before it, which comes over the switch first. Kept one by one they would take 80 GB.
TEST(Evaluate, PlaysSchedulesOfBillionsOfSendsByOrbit) {
  EvaluateOptions options;
  options.memory_limit_bytes = std::size_t{128} << 20;
  const auto row = row_of(point({{"topology", "SW(40000)"}, {"size", "4GB"}, {"algorithm", "tacos"}}), options);
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes) << row.reason;
  EXPECT_EQ(row.sends, std::int64_t{2} * 40'000 * 39'999);
  EXPECT_EQ(row.unwound_time_ps, std::int64_t{39'999} * 100'000'000);
  EXPECT_EQ(row.collective_time_ps, std::int64_t{39'999} * 200'000'000);
}

// NPUs 0 and 2 on one switch, 1 and 3 on another. In the order of their ids, every link of the unwound ring crosses the
// trunk, which has one byte per second each way for two of them.
TEST(Evaluate, RefusesWhatUnwindingLeavesWithoutBandwidthAndKeepsTheRest) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "trunk.toml";
  std::ofstream(path) << "schema = 1\nkind = \"machine\"\nname = \"trunk\"\nsource = \"made for a test\"\n"
                         "npus = 4\n\n[[switches]]\ncount = 2\n\n[[links]]\nbandwidth = \"1GB/s\"\nalpha = \"0s\"\n"
                         "pairs = [[0, 4], [2, 4], [1, 5], [3, 5]]\n\n[[links]]\nbandwidth = \"1B/s\"\n"
                         "alpha = \"0s\"\npairs = [[4, 5]]\n";
  const auto with = [&](const char* algorithm) {
    return row_of(
        make_point(
            {{"topology", path.string()}, {"collective", "all_gather"}, {"size", "4000B"}, {"algorithm", algorithm}},
            vocabulary())
            .value());
  };
  const auto tacos = with("tacos");
  EXPECT_EQ(tacos.status, PointStatus::unsupported) << tacos.reason;
  EXPECT_THAT(tacos.reason, testing::HasSubstr("bandwidth"));
  const auto best = with("best");
  EXPECT_EQ(best.status, PointStatus::ok) << best.reason;
  // The two chunks of each side cross the trunk: 2,000 B at 1 B/s.
  EXPECT_GE(best.collective_time_ps, 2'000'000'000'000'000);
}

// Three steps of two hops reduce, and three gather: 6 us each, where a hop takes 1 us. All sums are complete at once.
TEST(Evaluate, PlaysAReductionAndItsGatherOneAfterTheOther) {
  const auto with = [](const char* overlap) {
    return row_of(point({{"topology", "SW(4)"},
                         {"size", "4000B"},
                         {"algorithm", "tacos"},
                         {"collective", "all_reduce"},
                         {"overlap", overlap}}));
  };
  const auto apart = with("false");
  ASSERT_EQ(apart.status, PointStatus::ok) << apart.reason;
  EXPECT_EQ(apart.verified, Verified::yes);
  EXPECT_EQ(apart.collective_time_ps, 12'000'000);
  EXPECT_EQ(apart.time_without_overlap_ps, 12'000'000);
  const auto together = with("true");
  EXPECT_EQ(together.time_with_overlap_ps, together.collective_time_ps);
  EXPECT_EQ(together.time_with_overlap_ps, apart.time_with_overlap_ps);
  EXPECT_EQ(together.time_without_overlap_ps, apart.time_without_overlap_ps);
  EXPECT_LE(together.collective_time_ps, apart.collective_time_ps);
}

TEST(Evaluate, UnwindsSwitchesWhereThePointAsksForItAndSaysSo) {
  const Words words{{"topology", "SW(4)"}, {"size", "4000B"}};
  auto tacos = words;
  tacos.insert(tacos.end(), {{"algorithm", "tacos"}, {"unwind", "1"}});
  auto ring = words;
  ring.emplace_back("algorithm", "ring");
  const auto synthesized = row_of(point(tacos));
  EXPECT_EQ(synthesized.unwound_degree, 1);
  EXPECT_EQ(synthesized.total_links, 4);  // 0->1->2->3->0
  EXPECT_EQ(synthesized.collective_time_ps, 3'000'000);
  EXPECT_EQ(synthesized.switched_time_ps, 6'000'000);
  EXPECT_EQ(synthesized.unwound_time_ps, -1);
  const auto simulated = row_of(point(ring));
  EXPECT_EQ(simulated.unwound_degree, 0);
  EXPECT_EQ(simulated.total_links, 8);  // one link each way between NPU and switch
  EXPECT_EQ(simulated.verified, Verified::yes) << simulated.reason;
}

TEST(Evaluate, GivesTheSameRowForAnyThreadsAndCaches) {
  for (const auto* algorithm : {"tacos", "ring", "direct", "tacos_reference"}) {
    for (const auto* collective : {"all_gather", "reduce_scatter", "all_reduce"}) {
      const auto given = point({{"topology", "RI(3)_FC(3)"},
                                {"bandwidth", "1GB/s, 3GB/s"},
                                {"alpha", "10ns, 30ns"},
                                {"size", "27000B"},
                                {"chunks", "3"},
                                {"collective", collective},
                                {"algorithm", algorithm},
                                {"attempts", "5"}});
      const auto once = row_of(given);
      ASSERT_EQ(once.status, PointStatus::ok) << algorithm << ' ' << once.reason;
      Cache warm;
      EvaluateOptions two;
      two.threads = 2;
      (void)evaluate(given, warm, two);
      expect_same_result(once, evaluate(given, warm, two).row);
    }
  }
}

TEST(Evaluate, SaysWhyAPointHasNoMetrics) {
  // A valid point from which a link is removed, as by a drawn fault: 0-1 and 2-3 are no longer connected.
  auto broken = point({{"topology", "LI(4)"}, {"size", "4KiB"}, {"algorithm", "ring"}});
  broken.topology.without = {{1, 2}};
  const auto cut = row_of(broken);
  EXPECT_EQ(cut.status, PointStatus::infeasible);
  EXPECT_NE(cut.reason.find("disconnected"), std::string::npos) << cut.reason;
  EXPECT_EQ(cut.collective_time_ps, -1);
  EXPECT_TRUE(std::isnan(cut.efficiency));

  EvaluateOptions tight;
  tight.memory_limit_bytes = 1000;
  const auto large = row_of(point({{"topology", "mesh(8,8)"}, {"size", "1MiB"}, {"algorithm", "tacos"}}), tight);
  EXPECT_EQ(large.status, PointStatus::out_of_memory);
  EXPECT_NE(large.reason.find(std::to_string(large.memory_planned_bytes)), std::string::npos) << large.reason;
}

TEST(Evaluate, RunsProcessGroupsAtWorkTogether) {
  // Two halves of a line of 4 gather 2 x 1000 B each over their own link: one step.
  EvaluateOptions options;
  options.group_times = true;
  const auto row = row_of(
      point({{"topology", "LI(4)"}, {"size", "2000B"}, {"groups", "0-1; 2-3"}, {"algorithm", "tacos"}}), options);
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.collective_time_ps, 1'000'000);
  EXPECT_EQ(row.group_times_ps, (std::vector<std::int64_t>{1'000'000, 1'000'000}));
}

TEST(Evaluate, CountsBytesAndBusyTimePerLink) {
  // Unidirectional Ring All-Gather on 3 NPUs: every forward link carries 2 chunks of 1000 B.
  EvaluateOptions options;
  options.link_loads = true;
  const auto row =
      row_of(point({{"topology", "RI(3)"}, {"size", "3000B"}, {"algorithm", "ring_unidirectional"}}), options);
  ASSERT_EQ(row.link_loads.size(), 6U);
  std::int64_t total = 0;
  for (const auto& load : row.link_loads) {
    EXPECT_TRUE(load.bytes == bytes(0) || load.bytes == bytes(2000)) << load.bytes.count();
    EXPECT_EQ(load.busy.count(), load.bytes.count() * 1000);
    total += load.bytes.count();
  }
  EXPECT_EQ(total, 6000);
}

TEST(Evaluate, GivesCongestionUnawareTimesNoBound) {
  const auto row = row_of(
      point({{"topology", "RI(8)"}, {"size", "8000B"}, {"algorithm", "direct"}, {"backend", "congestion_unaware"}}));
  // The farthest peer is 4 hops away, alpha 0, 1000 B at 1 GB/s: 1 us, although a ring NPU needs 7 chunks over 2
  // in-links.
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.collective_time_ps, 1'000'000);
  EXPECT_EQ(row.verified, Verified::skipped);
  // Under congestion 7 chunks over 2 in-links take 4 us, which does not bound this time.
  EXPECT_EQ(row.bound_ps, -1);
  EXPECT_EQ(row.bound_name, "none");
  EXPECT_EQ(row.bound_class, "");
  EXPECT_TRUE(std::isnan(row.efficiency));
}

}  // namespace
}  // namespace tenex
