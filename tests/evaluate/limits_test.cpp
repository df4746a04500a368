// Points that are too large or too slow to be computed are refused before any work, with the reason in the row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "evaluate/points.hpp"
#include "execution/concatenate.hpp"
#include "support/draws.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/design/study.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::point;
using support::row_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(TimeRange, RefusesAPointThatMayTakeMonths) {
  // A quarter of 1 TiB over 1 KB/s takes 2.7e8 s, longer than picoseconds reach.
  const auto slow =
      row_of(point({{"topology", "RI(4)"}, {"bandwidth", "1KB/s"}, {"size", "1TiB"}, {"algorithm", "ring"}}));
  EXPECT_EQ(slow.status, PointStatus::infeasible);
  EXPECT_THAT(slow.reason, AllOf(HasSubstr("1TiB"), HasSubstr("1KB/s"), HasSubstr("26 days")));
  EXPECT_EQ(slow.bound_ps, -1);
  for (const auto* backend : {"congestion_aware", "congestion_unaware"}) {
    const auto late = row_of(point(
        {{"topology", "RI(4)"}, {"alpha", "5000000s"}, {"size", "1MiB"}, {"algorithm", "ring"}, {"backend", backend}}));
    EXPECT_EQ(late.status, PointStatus::infeasible) << backend;
    EXPECT_THAT(late.reason, HasSubstr("5000000s"));
  }
  const auto synthesized =
      row_of(point({{"topology", "RI(4)"}, {"alpha", "5000000s"}, {"size", "1MiB"}, {"algorithm", "tacos"}}));
  EXPECT_EQ(synthesized.status, PointStatus::infeasible);
}

TEST(TimeRange, LeavesSlowPointsThatFit) {
  // TACOS between two NPUs: 2 chunks and 2 vertices, so 4 hops of up to 2^61/4 ps = 576,460.7 s each. Chunks of S/2 at
  // 1 B/s.
  const support::Words words{{"topology", "LI(2)"}, {"bandwidth", "1B/s"}, {"algorithm", "tacos"}};
  auto fits = words;
  fits.emplace_back("size", "1152920B");
  const auto row = row_of(point(fits));
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.collective_time_ps, 576'460'000'000'000'000);
  auto beyond = words;
  beyond.emplace_back("size", "1152922B");
  EXPECT_EQ(row_of(point(beyond)).status, PointStatus::infeasible);
}

TEST(TimeRange, DoesNotStopLargePointsOfOrdinarySpeed) {
  // 65,536 NPUs, 1 GiB at 1 GB/s: chunks of 16 KiB take 16 us; 2 * 65,536 of them on a link take 2 s.
  const auto large = point({{"topology", "torus(256,256)"},
                            {"size", "1GiB"},
                            {"algorithm", "ring"},
                            {"alpha", "1us"},
                            {"collective", "all_reduce"}});
  ExecutionCache cache(std::size_t{256} << 20);
  const auto prepared = prepare(large, std::size_t{1} << 30, cache);
  ASSERT_TRUE(prepared.ok());
  EXPECT_TRUE(check_time_range(*prepared));
  // Direct on 256 positions a dimension: 256 * 2 * 65,536 of 16 us are 550 s, although it sends 8.6e9 messages.
  auto direct = large;
  direct.algorithm = "direct";
  EXPECT_TRUE(check_time_range(prepare_with(direct, prepared->network, prepared->collective)));
}

TEST(Plays, AreOnlyOnSwitches) {
  const auto plays = [](const char* topology, const char* algorithm, const char* unwind = "0") {
    return plays_on_switches(
        point({{"topology", topology}, {"size", "1MiB"}, {"algorithm", algorithm}, {"unwind", unwind}}));
  };
  EXPECT_TRUE(plays("SW(4)", "tacos"));
  EXPECT_TRUE(plays("fat_tree(4)", "tacos"));
  EXPECT_FALSE(plays("SW(4)", "tacos", "1"));
  EXPECT_FALSE(plays("SW(4)", "pccl"));
  EXPECT_FALSE(plays("fat_tree(4)", "trees"));
  EXPECT_FALSE(plays("SW(4)", "ring"));
  EXPECT_FALSE(plays("mesh(4,4)", "tacos"));
}

TEST(MemoryLimit, RefusesATopologyBeforeItIsBuilt) {
  // 20,000 * 19,999 links of 58 B and 20,000 NPUs of 32 B: 23.2 GB, which this test never allocates.
  const auto huge = point({{"topology", "FC(20000)"}, {"size", "1GiB"}, {"algorithm", "ring"}});
  const auto row = row_of(huge);
  EXPECT_EQ(row.status, PointStatus::out_of_memory);
  EXPECT_EQ(row.memory_planned_bytes, 23'199'480'000);
  EXPECT_THAT(row.reason, AllOf(HasSubstr("23199480000"), HasSubstr("8589934592")));
  const auto built = build_point_topology(huge);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.errors().front().fault, Fault::resource);
}

TEST(MemoryLimit, LeavesLargeTopologiesToTheirRows) {
  Study study;
  study.points = {point({{"topology", "RI(4)"}, {"size", "1GiB"}, {"algorithm", "ring"}}),
                  point({{"topology", "FC(20000)"}, {"size", "1GiB"}, {"algorithm", "ring"}}),
                  point({{"topology", "SW(20000000)"}, {"size", "1GiB"}, {"algorithm", "tacos"}}),
                  point({{"topology", "RI(2000000000)"}, {"size", "1TiB"}, {"algorithm", "direct"}})};
  EXPECT_TRUE(check_study(study).empty()) << to_string(check_study(study));
  for (std::size_t i = 1; i < study.points.size(); ++i)
    EXPECT_GT(estimate(study.points[i]).bytes, std::size_t{1} << 30) << i;
}

TEST(MemoryLimit, IsWhatAutoStaysWithinAndSays) {
  // 600 NPUs: enough for the engines of like links; `exact` is tried if it fits beside `coarse`.
  const auto given =
      point({{"topology", "mesh(24,25)"}, {"size", "600MB"}, {"occupancy", "transfer"}, {"algorithm", "tacos"}});
  Cache cache;
  EvaluateOptions options;
  const auto full = evaluate(given, cache, options).row;
  EXPECT_EQ(full.status, PointStatus::ok) << full.reason;
  EXPECT_EQ(full.reason, "");
  options.memory_limit_bytes = static_cast<std::size_t>(full.memory_planned_bytes) - 1;
  const auto least = evaluate(given, cache, options).row;
  EXPECT_EQ(least.status, PointStatus::ok) << least.reason;
  EXPECT_EQ(least.engine, "coarse");
  EXPECT_THAT(least.reason, HasSubstr("exact"));
  EXPECT_LT(least.memory_planned_bytes, full.memory_planned_bytes);
  EXPECT_EQ(static_cast<std::size_t>(least.memory_planned_bytes), estimate(given, options.memory_limit_bytes).bytes);
  options.memory_limit_bytes = static_cast<std::size_t>(least.memory_planned_bytes) - 1;
  const auto refused = evaluate(given, cache, options).row;
  EXPECT_EQ(refused.status, PointStatus::out_of_memory);
  EXPECT_EQ(refused.memory_planned_bytes, least.memory_planned_bytes);
  EXPECT_THAT(refused.reason, HasSubstr(std::to_string(least.memory_planned_bytes)));
}

TEST(MemoryLimit, LeavesRoomToRetimeWhereEverySendWaits) {
  // On a one-way ring every NPU awaits every chunk, so all sends of the re-timed halves are stored one by one. If
  // memory is left, they must be re-timed: the halves one after the other reach only half of the bound.
  std::vector<const char*> topologies{"SW(100)", "RI(300)", "FC(8)_SW(32)"};
  if (support::long_run()) topologies.push_back("SW(300)");
  for (const auto* occupancy : {"serialization", "transfer"})
    for (const auto* topology : topologies) {
      SCOPED_TRACE(std::string(topology) + " " + occupancy);
      const support::Words words{{"topology", topology},       {"size", "1GiB"},   {"algorithm", "tacos"},
                                 {"collective", "all_reduce"}, {"alpha", "0.5us"}, {"npu_bandwidth", "400GB/s"},
                                 {"occupancy", occupancy},     {"engine", "exact"}};
      auto asked = words;  // a play on the switches has no time without overlap
      if (std::string_view(topology).find("SW") != std::string_view::npos) asked.emplace_back("unwind", "1");
      const auto given = point(asked);
      const auto row = row_of(given);
      ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
      EXPECT_NE(row.overlap_method, "no_memory");
      EXPECT_EQ(row.reason, "");
      auto by_events = given;
      by_events.engine = "event_driven";
      const auto rival = row_of(by_events);
      EXPECT_LE(row.time_with_overlap_ps, row.time_without_overlap_ps);
      if (given.topology.text != "FC(8)_SW(32)") {
        EXPECT_LE(row.collective_time_ps, rival.collective_time_ps);
      }
      auto free = given;
      free.engine = "auto";
      EXPECT_LE(row_of(free).collective_time_ps, rival.collective_time_ps);
    }
}

TEST(MemoryLimit, SaysWhatAnOverlapWouldTake) {
  // Without switches, on which the schedule would be played beside its time with the most memory of all.
  const auto given = point({{"topology", "RI(400)"},
                            {"size", "1GiB"},
                            {"algorithm", "tacos"},
                            {"engine", "exact"},
                            {"collective", "all_reduce"},
                            {"alpha", "0.5us"}});
  EvaluateOptions options;
  const auto full = row_of(given, options);
  ASSERT_EQ(full.overlap_method, "retimed") << full.reason;
  options.memory_limit_bytes = static_cast<std::size_t>(full.memory_planned_bytes) - 1;
  const auto least = row_of(given, options);
  ASSERT_EQ(least.status, PointStatus::ok) << least.reason;
  EXPECT_EQ(least.overlap_method, "no_memory");
  EXPECT_THAT(least.reason, AllOf(HasSubstr("not overlapped"), HasSubstr("bytes")));
  EXPECT_LT(least.memory_planned_bytes, full.memory_planned_bytes);
  EXPECT_GT(least.collective_time_ps, full.collective_time_ps);
}

TEST(CheckStudy, StillFindsWhatTheTextDoesNotShow) {
  auto cut = point({{"topology", "LI(4)"}, {"size", "4KiB"}, {"algorithm", "ring"}});
  cut.topology.without = {{1, 2}};
  Study study;
  study.points = {
      cut,
      point({{"topology", "SW(8)"}, {"bandwidth", "3B/s"}, {"size", "8B"}, {"algorithm", "tacos"}, {"unwind", "4"}})};
  const auto wrong = check_study(study);
  ASSERT_EQ(wrong.size(), 2U);
  EXPECT_THAT(to_string(wrong[0]), HasSubstr("disconnected"));
  EXPECT_THAT(to_string(wrong[1]), HasSubstr("cannot be unwound"));
}

TEST(PaperIdeal, IsAbsentWhereItsDiameterWouldTakeTooLong) {
  // mesh(70,70) has 4,900 NPUs and 19,320 links. On a shape the diameter follows from the dimensions. Without one pair
  // of links there is no shape, and the searches would visit 4,900 * 19,318 = 9.5e7 links, more than 2^26 = 6.7e7; on
  // mesh(20,20) 400 * 1,518.
  const auto ideal = [](const char* shape, bool damaged) {
    const auto given = point({{"topology", shape}, {"size", "1MiB"}, {"algorithm", "ring"}});
    auto topology = build_point_topology(given).value();
    if (damaged) topology = remove_links(topology, {{VertexId(0), VertexId(1)}}).value();
    return paper_ideal(topology, build_point_collective(given, topology.npus()).value()).has_value();
  };
  EXPECT_TRUE(ideal("mesh(70,70)", false));
  EXPECT_FALSE(ideal("mesh(70,70)", true));
  EXPECT_TRUE(ideal("mesh(20,20)", true));
}

Collective all_gather_of_four() {
  return Collective::make({CollectiveKind::all_gather, 4, {}, 1, bytes(4), 0}).value();
}

TEST(Concatenate, NumbersTheGatherAfterTheReductionAndRefusesWhatIdsDoNotReach) {
  const auto collective = all_gather_of_four();
  const auto half = [](std::uint64_t messages) {
    Simulation simulation;
    simulation.finish = picoseconds(1000);
    simulation.messages = messages;
    simulation.sends =
        make_list_schedule({{picoseconds(5), LinkId(0), ChunkId(0), Stage::copy, MessageId(1), NpuId(2)}});
    return simulation;
  };
  const auto joined = concatenate(collective, half(10), half(3));
  ASSERT_TRUE(joined);
  const auto sends = list_sends(*joined);
  ASSERT_EQ(sends.size(), 2U);
  EXPECT_EQ(sends[1].start, picoseconds(1005));
  EXPECT_EQ(sends[1].message, MessageId(11));
  // Ids are below 2^32-1: 2^31 and 2^31-1 messages fit, one more does not.
  EXPECT_TRUE(concatenate(collective, half(std::uint64_t{1} << 31), half((std::uint64_t{1} << 31) - 1)));
  const auto refused = concatenate(collective, half(std::uint64_t{1} << 31), half(std::uint64_t{1} << 31));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors().front().fault, Fault::resource);
}

TEST(Concatenate, KeepsThePayloadsOfBothHalves) {
  // Four chunks, so ids from 4 are payloads: each half has payload 0, the gather's becomes payload 1.
  const auto collective = all_gather_of_four();
  const auto half = [](std::uint32_t first) {
    Simulation simulation;
    simulation.finish = picoseconds(100);
    simulation.messages = 1;
    simulation.sends =
        make_list_schedule({{picoseconds(5), LinkId(0), ChunkId(4)}}, {{0, 2}, {ChunkId(first), ChunkId(first + 1)}});
    return simulation;
  };
  const auto joined = concatenate(collective, half(0), half(2));
  ASSERT_TRUE(joined);
  const auto sends = list_sends(*joined);
  ASSERT_EQ(sends.size(), 2U);
  EXPECT_EQ(sends[0].chunk, ChunkId(4));
  EXPECT_EQ(sends[1].chunk, ChunkId(5));
  ASSERT_NE(joined->payloads(), nullptr);
  EXPECT_THAT(joined->payloads()->of(0), ::testing::ElementsAre(ChunkId(0), ChunkId(1)));
  EXPECT_THAT(joined->payloads()->of(1), ::testing::ElementsAre(ChunkId(2), ChunkId(3)));
}

}  // namespace
}  // namespace tenex
