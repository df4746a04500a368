// Textbook algorithms as design points: engines, orders, choices and observations in their rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string>

#include "evaluate/points.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/random.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {
namespace {

using support::point;
using support::row_of;
using support::Words;
using ::testing::HasSubstr;

Words with_setting(Words words, const char* name, const char* value) {
  words.emplace_back(name, value);
  return words;
}

TEST(Programs, OfEveryAlgorithmAreVerifiedWithTheirPayloads) {
  for (const auto& algorithm : algorithms()) {
    for (const auto kind : algorithm.collectives) {
      const auto* topology = algorithm.name == "tto" ? "mesh(4,4)" : "torus(4,4)";
      if (algorithm.name == "c_cube") topology = "hypercube(3)";  // refused: no DGX-1
      Words words{{"topology", topology},
                  {"collective", std::string(to_string(kind))},
                  {"algorithm", std::string(algorithm.name)},
                  {"size", "64KB"},
                  {"chunks", "3"},
                  {"alpha", "1us"}};
      for (const auto& need : support::needs_of(kind)) words.push_back(need);
      const auto row = row_of(point(words));
      if (row.status == PointStatus::infeasible || row.status == PointStatus::unsupported) continue;
      EXPECT_EQ(row.status, PointStatus::ok) << algorithm.name << ": " << row.reason;
      EXPECT_EQ(row.verified, Verified::yes) << algorithm.name << ' ' << to_string(kind);
      EXPECT_GE(row.collective_time_ps, row.bound_ps) << algorithm.name;
      EXPECT_FALSE(row.destination_order.empty()) << algorithm.name;
      // The engines that record. Of the torus's NPUs in order, one way round, routes share no link.
      const auto* engine = algorithm.name == "ring_unidirectional" ? "static_order" : "window";
      EXPECT_EQ(row.simulation_engine, engine) << algorithm.name;
    }
  }
}

TEST(Programs, OfPackedRingsAreVerifiedOnAnyNetworkInAnyGroups) {
  Random random(1, 0x72696e67);
  for (int drawn = 0; drawn < 40; ++drawn) {
    const auto* topology =
        std::array{"torus(4,3)", "RI(2)_FC(3)_SW(2)", "SW(12)", "mesh(4,3)", "FC(12)", "SW(3)_SW(4)"}[random.below(6)];
    const auto* groups = std::array{"all", "0-5; 6-11", "0,1,4,5; 2,3,6,7; 8,9", "11,3,7,0,2"}[random.below(4)];
    const auto* collective = std::array{"all_gather", "reduce_scatter", "all_reduce"}[random.below(3)];
    const auto row = row_of(point({{"topology", topology},
                                   {"groups", groups},
                                   {"collective", collective},
                                   {"algorithm", "rings"},
                                   {"size", std::to_string(1000 + random.below(100'000)) + "B"},
                                   {"chunks", std::to_string(1 + random.below(9))},
                                   {"alpha", "1us"}}));
    ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
    EXPECT_EQ(row.verified, Verified::yes) << collective << " of " << groups << " on " << topology;
    EXPECT_GE(row.collective_time_ps, row.bound_ps);
  }
}

TEST(Programs, WithoutOverlapAreVerifiedAsTwoHalves) {
  // Recursive doubling sends several chunks at once: both halves have payloads.
  const auto row = row_of(point({{"topology", "FC(8)"},
                                 {"collective", "all_reduce"},
                                 {"algorithm", "rhd"},
                                 {"size", "8KB"},
                                 {"overlap", "false"}}));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes);
  // Halving: 4, 2, 1 chunks of 1 KB over 1 GB/s links are 7 us; doubling the same.
  EXPECT_EQ(row.collective_time_ps, 14'000'000);
  EXPECT_EQ(row.time_without_overlap_ps, 14'000'000);
}

TEST(Programs, ThatAreNoTwoHalvesHaveNoTimeWithoutOverlap) {
  const Words tree{{"topology", "FC(8)"}, {"collective", "all_reduce"}, {"algorithm", "dbt"}, {"size", "8KB"}};
  const auto row = row_of(point(tree));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.time_with_overlap_ps, row.collective_time_ps);
  EXPECT_EQ(row.time_without_overlap_ps, -1);
  EXPECT_EQ(row_of(point(with_setting(tree, "overlap", "false"))).status, PointStatus::unsupported);
}

/// The times and sends of a point.
std::string outcome(const DesignPoint& point) {
  const auto row = row_of(point);
  return std::to_string(row.collective_time_ps) + " " + row.schedule_hash;
}

TEST(Programs, ReadTheOptionsThatTheirEntriesName) {
  // Each option is varied where it might matter: with several chunks, several peers, rings and switches.
  for (const auto& algorithm : algorithms()) {
    bool window = false;
    bool order = false;
    bool radix = false;
    for (const auto kind : algorithm.collectives)
      for (const auto* topology : {"RI(4)_FC(4)", "torus(4,4)", "SW(8)", "mesh(4,4)", "RI(3)_SW(5)"}) {
        auto given = make_point({{"topology", topology},
                                 {"collective", std::string(to_string(kind))},
                                 {"algorithm", std::string(algorithm.name)},
                                 {"size", "3MB"},
                                 {"chunks", "5"},
                                 {"bandwidth", "50GB/s"},
                                 {"alpha", "1us"}},
                                vocabulary());
        if (!given || row_of(*given).status != PointStatus::ok) continue;
        const auto plain = outcome(*given);
        given->collective().order = DestinationOrder::absolute;
        order = order || outcome(*given) != plain;
        given->collective().order = DestinationOrder::relative;
        given->collective().radix = 3;
        radix = radix || outcome(*given) != plain;
        given->collective().radix = 2;
        for (const std::uint32_t width : {1U, 2U}) {
          given->collective().window = width;
          window = window || outcome(*given) != plain;
        }
      }
    EXPECT_EQ(window, !algorithm.reads.window.empty()) << algorithm.name;
    EXPECT_EQ(order, algorithm.reads.order) << algorithm.name;
    EXPECT_EQ(radix, algorithm.reads.radix) << algorithm.name;
  }
}

TEST(Auto, IsTheFastestOfItsCandidates) {
  for (const auto* topology : {"RI(8)", "FC(8)", "mesh(3,3)"}) {
    const Words words{{"topology", topology}, {"collective", "all_reduce"}, {"size", "72KB"}, {"alpha", "1us"}};
    const auto best = row_of(point(with_setting(words, "algorithm", "auto")));
    ASSERT_EQ(best.status, PointStatus::ok) << best.reason;
    EXPECT_GE(best.candidates, 4);
    std::int64_t least = -1;
    for (const auto& algorithm : algorithms()) {
      const auto& kinds = algorithm.collectives;
      if (std::find(kinds.begin(), kinds.end(), CollectiveKind::all_reduce) == kinds.end()) continue;
      const auto row = row_of(point(with_setting(words, "algorithm", std::string(algorithm.name).c_str())));
      if (row.status != PointStatus::ok) continue;
      if (least < 0 || row.collective_time_ps < least) least = row.collective_time_ps;
    }
    EXPECT_EQ(best.collective_time_ps, least) << topology;
    const auto chosen = row_of(point(with_setting(words, "algorithm", best.chosen_algorithm.c_str())));
    EXPECT_EQ(chosen.schedule_hash, best.schedule_hash);
    EXPECT_EQ(chosen.candidates, -1);
    EXPECT_EQ(best.verified, Verified::yes);
  }
}

TEST(Auto, LeavesOutWhatTheNamedEngineCannotRun) {
  // On a ring, only the ring algorithms run in cycles that share no link, as `static_order` requires.
  const Words words{{"topology", "RI(8)"}, {"collective", "all_gather"}, {"algorithm", "auto"}, {"size", "64KB"}};
  const auto all = row_of(point(words));
  const auto few = row_of(point(with_setting(words, "simulation_engine", "static_order")));
  ASSERT_EQ(few.status, PointStatus::ok) << few.reason;
  EXPECT_EQ(few.simulation_engine, "static_order");
  EXPECT_EQ(few.chosen_algorithm, "ring");
  EXPECT_GE(few.candidates, 2);
  EXPECT_LT(few.candidates, all.candidates);
  // In an All-Reduce no algorithm is an open loop, as `trains` requires: later sends wait for arrivals.
  const auto none = row_of(point({{"topology", "RI(8)"},
                                  {"collective", "all_reduce"},
                                  {"algorithm", "auto"},
                                  {"size", "64KB"},
                                  {"simulation_engine", "trains"}}));
  EXPECT_EQ(none.status, PointStatus::unsupported) << none.reason;
}

TEST(Order, IsInTheKeyOfAllThatReadIt) {
  // If the order is left out of the key, the program's times must not depend on it.
  std::size_t left_out = 0;
  for (const auto* topology : {"FC(4)_RI(4)", "SW(4)_LI(4)"})
    for (const auto* collective : {"all_gather", "all_reduce"})
      for (const auto& algorithm : algorithms()) {
        const auto& kinds = algorithm.collectives;
        if (std::ranges::find(kinds, parse_collective_kind(collective).value()) == kinds.end()) continue;
        const Words words{{"topology", topology},
                          {"collective", collective},
                          {"size", "64KB"},
                          {"algorithm", std::string(algorithm.name)}};
        const auto relative = point(words);
        if (relative.key != point(with_setting(words, "order", "absolute")).key) continue;
        ++left_out;
        const auto built = build_point_topology(relative).value();
        const auto work = build_point_collective(relative, built.npus()).value();
        const auto program = algorithm.make(built, work, {});
        if (!program) continue;
        const auto other = algorithm.make(built, work, {.order = DestinationOrder::absolute}).value();
        EXPECT_EQ(simulate(built, work, **program, {}).value().finish, simulate(built, work, *other, {}).value().finish)
            << algorithm.name << " on " << topology;
      }
  EXPECT_GE(left_out, 16U);
}

TEST(TimeOnly, NeitherRecordsNorVerifies) {
  const Words words{{"topology", "SW(16)"}, {"algorithm", "direct"}, {"size", "64KB"}, {"alpha", "1us"}};
  EvaluateOptions options;
  options.time_only = true;
  const auto timed = row_of(point(words), options);
  const auto verified = row_of(point(words));
  ASSERT_EQ(timed.status, PointStatus::ok) << timed.reason;
  EXPECT_EQ(timed.simulation_engine, "trains");
  EXPECT_EQ(timed.verified, Verified::skipped);
  EXPECT_THAT(timed.reason, HasSubstr("only the time was asked for"));
  EXPECT_EQ(verified.verified, Verified::yes);
  EXPECT_EQ(timed.collective_time_ps, verified.collective_time_ps);
  EXPECT_EQ(timed.bound_ps, verified.bound_ps);
}

TEST(Auto, WithoutOverlapTriesOnlyWhatHasHalves) {
  const auto row = row_of(point({{"topology", "FC(8)"},
                                 {"collective", "all_reduce"},
                                 {"algorithm", "auto"},
                                 {"size", "8KB"},
                                 {"overlap", "false"}}));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_NE(row.chosen_algorithm, "dbt");
}

TEST(AllToAll, HasBandwidthsOfItsOwnFactor) {
  // Four NPUs, all neighbours, 4 KB to send: 1 KB to each other one at 1 GB/s, all at once: 1 us.
  const auto row =
      row_of(point({{"topology", "FC(4)"}, {"collective", "all_to_all"}, {"algorithm", "direct"}, {"size", "4KB"}}));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes);
  EXPECT_EQ(row.collective_time_ps, 1'000'000);
  EXPECT_DOUBLE_EQ(row.algbw_bytes_per_s, 4e9);
  EXPECT_DOUBLE_EQ(row.busbw_bytes_per_s, 3e9);  // (n-1)/n
  EXPECT_EQ(row.total_chunks, 16);
}

TEST(DestinationOrder, IsInTheRowAndMayChangeTheTime) {
  const Words words{{"topology", "torus(4,4)"}, {"algorithm", "direct"}, {"size", "64KB"}};
  EXPECT_EQ(row_of(point(words)).destination_order, "relative");
  EXPECT_EQ(row_of(point(with_setting(words, "order", "absolute"))).destination_order, "absolute");
}

// RI(5)_FC(2), Reduce-Scatter of 20 kB in 2 slices: a chunk has 20000 / (10 * 2) = 1000 B. In the ring a message is two
// chunks, 2000 B at 1 GB/s = 2 us, and a slice takes two such hops each way; in the pair it is one chunk, 1000 B at
// 0.25 GB/s = 4 us. All slices at once: the ring's links carry the first hops of both slices [0, 2], [2, 4], then the
// second ones [4, 6], [6, 8]; the pair the first slice [6, 10] and the second [10, 14]. One slice at a time: the first
// has its two hops [0, 4] and the pair [4, 8]; the second its hops [4, 8] and the pair [8, 12].
TEST(Window, LetsSlicesThroughARingOneByOne) {
  const Words words{{"topology", "RI(5)_FC(2)"},
                    {"collective", "reduce_scatter"},
                    {"size", "20KB"},
                    {"chunks", "2"},
                    {"bandwidth", "1GB/s, 0.25GB/s"}};
  for (const auto* algorithm : {"hierarchical", "blueconnect"}) {
    const auto named = with_setting(words, "algorithm", algorithm);
    EXPECT_EQ(row_of(point(named)).collective_time_ps, 14'000'000) << algorithm;
    const auto one = row_of(point(with_setting(named, "window", "1")));
    EXPECT_EQ(one.collective_time_ps, 12'000'000) << algorithm;
    EXPECT_EQ(one.verified, Verified::yes);
    EXPECT_EQ(row_of(point(with_setting(named, "window", "2"))).collective_time_ps, 14'000'000) << algorithm;
  }
}

// A window as wide as the number of slices delays nothing, and all engines agree under any window.
TEST(Window, OfAllSlicesIsNone) {
  for (const auto* algorithm : {"hierarchical", "blueconnect", "ring_per_dimension"})
    for (const auto* collective : {"reduce_scatter", "all_gather", "all_reduce", "all_to_all"}) {
      if (std::string(algorithm) != "hierarchical" && std::string(collective) == "all_to_all") continue;
      const Words words{{"topology", "RI(4)_FC(3)_RI(2)"}, {"size", "480KB"},         {"chunks", "5"}, {"alpha", "1us"},
                        {"algorithm", algorithm},          {"collective", collective}};
      const auto all = row_of(point(words));
      ASSERT_EQ(all.verified, Verified::yes) << all.reason;
      EXPECT_EQ(row_of(point(with_setting(words, "window", "5"))).collective_time_ps, all.collective_time_ps);
      for (const auto* window : {"1", "2"}) {
        const auto held = row_of(point(with_setting(words, "window", window)));
        EXPECT_EQ(held.verified, Verified::yes) << held.reason;
        const auto quick = with_setting(with_setting(words, "window", window), "simulation_engine", "orbit");
        EXPECT_EQ(row_of(point(quick)).collective_time_ps, held.collective_time_ps) << algorithm << collective;
      }
    }
}

// RI(2)_RI(2), 4 slices of 4 chunks of 3000000 / 16 = 187500 B, a link of 3333333 B/s, under `transfer`: a message of
// one chunk takes 0.5 us + 56250.005626 us. Themis sends two of an NPU's slices one way first and two the other way. So
// each link of an NPU carries two messages of one chunk and two of two chunks: 4 alpha + 6 * 56250.005626 us (each
// rounded up).
TEST(Bounds, CountNoChunksWhereMessagesCarrySeveral) {
  const auto row = row_of(point({{"topology", "RI(2)_RI(2)"},
                                 {"alpha", "0.5us"},
                                 {"npu_bandwidth", "3333333B/s"},
                                 {"size", "3MB"},
                                 {"chunks", "4"},
                                 {"algorithm", "themis"},
                                 {"occupancy", "transfer"}}));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.collective_time_ps, 337'502'033'754);
  EXPECT_LE(row.bound_ps, row.collective_time_ps);
}

TEST(Window, SlowsDirectDown) {
  // A switch of 4: without a window the up-links are never idle; with one message in flight each waits for the one
  // before.
  const Words words{{"topology", "SW(4)"}, {"algorithm", "direct"}, {"size", "4KB"}, {"alpha", "1us"}};
  EXPECT_LT(row_of(point(words)).collective_time_ps,
            row_of(point(with_setting(words, "window", "1"))).collective_time_ps);
}

TEST(Stragglers, SlowTheirLinksAndMoveTheBound) {
  // A ring of 3 gathers 1 KB chunks in one step of 1 us; NPU 0's links take twice as long.
  const Words words{{"topology", "RI(3)"}, {"algorithm", "direct"}, {"size", "3KB"}};
  EXPECT_EQ(row_of(point(words)).collective_time_ps, 1'000'000);
  const auto slow = row_of(point(with_setting(words, "stragglers", "npu 0 x2")));
  EXPECT_EQ(slow.collective_time_ps, 2'000'000);
  EXPECT_EQ(slow.bound_ps, 2'000'000);
  EXPECT_EQ(slow.verified, Verified::yes);
  const auto link = row_of(point(with_setting(words, "stragglers", "link 1->2 x1.25")));
  EXPECT_EQ(link.collective_time_ps, 1'250'000);
  // A synthesizer sees the slow link and may avoid it; the row stays valid and not below its bound.
  const auto around =
      row_of(point({{"topology", "RI(3)"}, {"algorithm", "tacos"}, {"size", "3KB"}, {"stragglers", "link 1->2 x10"}}));
  EXPECT_EQ(around.status, PointStatus::ok) << around.reason;
  EXPECT_EQ(around.collective_time_ps, 2'000'000);
}

TEST(Stragglers, OfAlphaAddToEachHopAndNotToEachSend) {
  // A ring of 3 with 1 us of latency gathers 1 KB chunks in one step of 2 us. NPU 0's links take three times the
  // latency: 4 us. The link from 1 to 2 takes 2.5 us: 3.5 us, which is below the 4 us of the two hops over NPU 0.
  const Words words{{"topology", "RI(3)"}, {"algorithm", "direct"}, {"size", "3KB"}, {"alpha", "1us"}};
  EXPECT_EQ(row_of(point(words)).collective_time_ps, 2'000'000);
  const auto slow = row_of(point(with_setting(words, "stragglers", "npu 0 alpha x3")));
  EXPECT_EQ(slow.collective_time_ps, 4'000'000);
  EXPECT_EQ(slow.bound_ps, 4'000'000);
  EXPECT_EQ(slow.verified, Verified::yes);
  const auto link = row_of(point(with_setting(words, "stragglers", "link 1->2 alpha x2.5")));
  EXPECT_EQ(link.collective_time_ps, 3'500'000);
  EXPECT_EQ(link.bound_ps, 3'500'000);
  // Ten times the latency, 11 us: a synthesizer goes over NPU 0, in 4 us.
  const Words searched{{"topology", "RI(3)"}, {"algorithm", "tacos"}, {"size", "3KB"}, {"alpha", "1us"}};
  const auto around = row_of(point(with_setting(searched, "stragglers", "link 1->2 alpha x10")));
  EXPECT_EQ(around.status, PointStatus::ok) << around.reason;
  EXPECT_EQ(around.collective_time_ps, 4'000'000);
  EXPECT_EQ(around.bound_ps, 4'000'000);
  // Around a ring of 4, one way, every chunk makes three hops of 2 us: 6 us. Three chunks take the link from 1 to 2, at
  // 0, 2 and 4 us. With three times the latency they arrive at 4, 6 and 8 us, of which the last one ends there: 8 us.
  // With three times the beta a hop takes 4 us, too, but the link is busy for 3 us of them: the chunks leave at 0, 3
  // and 6 us, and the last one arrives at 10 us.
  const Words rings{{"topology", "RI(4)"}, {"algorithm", "ring_unidirectional"}, {"size", "4KB"}, {"alpha", "1us"}};
  EXPECT_EQ(row_of(point(rings)).collective_time_ps, 6'000'000);
  const auto late = row_of(point(with_setting(rings, "stragglers", "link 1-2 alpha x3")));
  EXPECT_EQ(late.collective_time_ps, 8'000'000);
  EXPECT_EQ(late.verified, Verified::yes);
  EXPECT_EQ(row_of(point(with_setting(rings, "stragglers", "link 1-2 x3"))).collective_time_ps, 10'000'000);
}

TEST(Stragglers, OfAlphaStayWhenSwitchesAreUnwound) {
  // SW(4), unwound to a ring one way, 1 us of latency and 1 us for 1 KB: three hops of 2 us. NPU 0's links take 3 us
  // of latency: two of the three hops of a chunk (into and out of NPU 0) take 4 us, the third 2 us: 10 us.
  const Words words{{"topology", "SW(4)"}, {"algorithm", "tacos"}, {"size", "4KB"}, {"alpha", "1us"}, {"unwind", "1"}};
  EXPECT_EQ(row_of(point(words)).collective_time_ps, 6'000'000);
  const auto slow = row_of(point(with_setting(words, "stragglers", "npu 0 alpha x3")));
  EXPECT_EQ(slow.collective_time_ps, 10'000'000);
  EXPECT_GE(slow.switched_time_ps, slow.switched_bound_ps);
}

TEST(Stragglers, ThatStartLateDelayWhatTheySend) {
  const Words words{{"topology", "RI(3)"}, {"algorithm", "direct"}, {"size", "3KB"}};
  const auto late = row_of(point(with_setting(words, "stragglers", "npu 1 delay 5us")));
  EXPECT_EQ(late.collective_time_ps, 6'000'000);
  EXPECT_EQ(late.verified, Verified::yes);
  EXPECT_EQ(late.bound_ps, 6'000'000);  // NPU 1 sends a chunk for 1 us after its delay
  EXPECT_EQ(late.bound_name, "late_start");
}

TEST(Stragglers, KeepBoundsBelowTimesOnShapes) {
  // Corners, edges and middles are slow in turn: bounds must not assume that all NPUs have the same links.
  for (const auto* topology : {"mesh(3,3)", "torus(3,3)", "LI(6)"})
    for (const auto* collective : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"})
      for (const auto* stragglers : {"npu 0 x8", "npu 4 x8", "link 0-1 x8", "link 3->4 x3", "npu 0 alpha x8",
                                     "npu 4 alpha x8", "link 0-1 alpha x80", "link 3->4 x3; link 3->4 alpha x3"}) {
        const auto row = row_of(point({{"topology", topology},
                                       {"alpha", "1us"},
                                       {"collective", collective},
                                       {"algorithm", "direct"},
                                       {"size", "36KB"},
                                       {"stragglers", stragglers}}));
        if (row.status == PointStatus::infeasible) continue;  // no such link
        EXPECT_EQ(row.status, PointStatus::ok) << topology << ' ' << collective << ' ' << stragglers << row.reason;
        EXPECT_GE(row.collective_time_ps, row.bound_ps);
      }
}

TEST(SimulationEngine, IsInTheRowAndNeverChangesTheTime) {
  // Nothing recorded: the engine `orbit`, then `window`.
  const Words words{{"topology", "torus(4,4)"}, {"algorithm", "direct"}, {"size", "64KB"}};
  const auto recorded = row_of(point(words));
  EvaluateOptions small;
  small.memory_limit_bytes = static_cast<std::size_t>(recorded.memory_planned_bytes) - 1;
  const auto quotient = row_of(point(words), small);
  ASSERT_EQ(quotient.status, PointStatus::ok) << quotient.reason;
  EXPECT_EQ(quotient.verified, Verified::skipped);
  EXPECT_THAT(quotient.reason, HasSubstr("bytes"));
  EXPECT_EQ(quotient.simulation_engine, "orbit");
  EXPECT_EQ(recorded.verified, Verified::yes);
  EXPECT_EQ(recorded.simulation_engine, "window");
  EXPECT_EQ(quotient.collective_time_ps, recorded.collective_time_ps);
  EXPECT_EQ(quotient.sends, recorded.sends);
  EXPECT_DOUBLE_EQ(quotient.efficiency, recorded.efficiency);
}

TEST(SimulationEngine, MayBeNamed) {
  const Words words{{"topology", "RI(8)"}, {"algorithm", "direct"}, {"size", "64KB"}, {"alpha", "1us"}};
  const auto automatic = row_of(point(words));
  for (const auto* engine : {"window", "trains", "orbit"}) {
    const auto row = row_of(point(with_setting(words, "simulation_engine", engine)));
    EXPECT_EQ(row.status, PointStatus::ok) << engine << ": " << row.reason;
    EXPECT_EQ(row.simulation_engine, engine);
    EXPECT_EQ(row.collective_time_ps, automatic.collective_time_ps) << engine;
    EXPECT_EQ(row.verified, std::string(engine) == "window" ? Verified::yes : Verified::skipped);
  }
  EXPECT_EQ(row_of(point(with_setting(words, "simulation_engine", "static_order"))).status, PointStatus::unsupported)
      << "direct is no cycle";
}

TEST(Observations, AddUpToTheSameBusyTime) {
  for (const auto* overlap : {"true", "false"})
    for (const auto* algorithm : {"ring", "rhd", "tacos"}) {
      EvaluateOptions options;
      options.link_loads = true;
      options.utilization_bins = 7;
      options.arrivals = true;
      const auto row = row_of(point({{"topology", "RI(4)"},
                                     {"collective", "all_reduce"},
                                     {"algorithm", algorithm},
                                     {"size", "4KB"},
                                     {"alpha", "10ns"},
                                     {"overlap", overlap}}),
                              options);
      ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
      ASSERT_EQ(row.utilization_ps.size(), 7U) << algorithm << overlap;
      std::int64_t busy = 0;
      for (const auto& load : row.link_loads) busy += load.busy.count();
      EXPECT_EQ(std::accumulate(row.utilization_ps.begin(), row.utilization_ps.end(), std::int64_t{0}), busy);
      EXPECT_GE(7 * row.utilization_bin_ps, row.collective_time_ps);
      ASSERT_FALSE(row.arrivals.empty());
      EXPECT_EQ(row.arrivals.back().time.count(), row.collective_time_ps);
    }
}

TEST(Observations, HaveAnArrivalForEveryChunkThatAMessageCarries) {
  // Each of 16 NPUs gets 15 chunks. Along dimension 1 messages carry one chunk, along dimension 2 a row of four.
  EvaluateOptions options;
  options.arrivals = true;
  for (const auto* backend : {"congestion_aware", "congestion_unaware"}) {
    const auto row = row_of(point({{"topology", "FC(4)_FC(4)"},
                                   {"collective", "all_gather"},
                                   {"algorithm", "hierarchical"},
                                   {"size", "4KB"},
                                   {"backend", backend}}),
                            options);
    ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
    ASSERT_EQ(row.arrivals.size(), 16U * 15U) << backend;
    std::set<std::pair<std::uint32_t, std::uint32_t>> distinct;
    for (const auto& delivery : row.arrivals) {
      EXPECT_LT(delivery.chunk.value(), 16U);
      EXPECT_NE(delivery.chunk.value(), delivery.npu.value()) << "an NPU's own chunk";
      distinct.emplace(delivery.npu.value(), delivery.chunk.value());
    }
    EXPECT_EQ(distinct.size(), 16U * 15U);
  }
}

}  // namespace
}  // namespace tenex
