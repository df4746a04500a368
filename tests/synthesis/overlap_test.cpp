// All-Reduces of the engines for links that are alike: re-timed, proven to gain nothing, or not re-timed for lack of
// memory. Also the engines that `auto` leaves out under a limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "synthesis/synthesis_support.hpp"
#include "tenex/schedule/timing/retime.hpp"

namespace tenex {
namespace {

using support::kMegabyte;
using ::testing::HasSubstr;

TEST(Overlap, GainsNothingWhereTheReductionMirrorsAGatherWithoutPauses) {
  // One chunk each: the chunk that an NPU sends first is the one that it completes last. So a chain through the
  // reduction and its mirror image has no pause if the chain through the gather has none. In a chunk-exact gather no
  // send waits without need.
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization}) {
    // Under serialization alpha is as long as a chunk takes, so that arrivals fall on the grid of starts.
    const auto topology = support::shape("mesh(9,8)", {microseconds(1)}, {gigabytes_per_second(1000)});
    const auto all_reduce = support::collective(CollectiveKind::all_reduce, 72, kMegabyte * 72);
    const auto made = support::synthesize_checked("tacos", {topology, all_reduce, occupancy, {1, 1, "exact"}});
    EXPECT_EQ(made.overlap_method, "no_gain");
    EXPECT_EQ(made.time, made.time_without_overlap);
    const Schedule sooner = retime({topology, all_reduce, occupancy}, made.without_overlap);
    EXPECT_EQ(last_arrival({topology, all_reduce, occupancy}, sooner), made.time);
  }
}

TEST(Overlap, IsProvenToGainNothingWithoutRoomForRetiming) {
  // The corner of a mesh receives as many chunks as half of the others, one in every step from the first on. So a link
  // to it never pauses in the gather, nor its opposite in the reduction.
  for (const auto* shape : {"mesh(9,8)", "grid(4,3,3)", "LI(9)"}) {
    const auto topology = support::shape(shape, {microseconds(1)}, {gigabytes_per_second(1000)});
    const auto npus = static_cast<std::int64_t>(topology.npus());
    const auto all_reduce = support::collective(CollectiveKind::all_reduce, topology.npus(), kMegabyte * npus);
    SynthesisProblem problem{topology, all_reduce, Occupancy::transfer, {1, 1, "exact"}};
    const std::size_t planned = find_synthesizer("tacos")->estimate_bytes(problem);
    problem.memory_limit_bytes = planned;
    const auto made = support::synthesize_checked("tacos", problem);
    EXPECT_EQ(made.overlap_method, "no_gain") << shape;
    EXPECT_EQ(last_arrival(problem, retime(problem, made.without_overlap)), made.time) << shape;
    EXPECT_LT(planned, retime_bytes(problem, made.without_overlap.sends())) << shape;
  }
}

TEST(Overlap, OfLargeSchedulesIsThatOfLists) {
  // An owner's two chunks go in opposite orders: the chunk that is complete first is gathered first.
  for (const auto engine : {"exact", "coarse"})
    for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization}) {
      const auto topology = support::mesh(8, 9);
      const auto all_reduce = support::of_megabytes(CollectiveKind::all_reduce, 72, 2);
      const auto made =
          support::synthesize_checked("tacos", {topology, all_reduce, occupancy, {1, 1, std::string(engine)}, 2});
      const Schedule sooner = retime({topology, all_reduce, occupancy}, made.without_overlap);
      EXPECT_EQ(made.time, last_arrival({topology, all_reduce, occupancy}, sooner));
      EXPECT_EQ(made.overlap_method, made.time < made.time_without_overlap ? "retimed" : "no_gain");
      if (made.overlap_method == "retimed") {
        EXPECT_EQ(schedule_hash(made.schedule), schedule_hash(sooner));
      }
    }
}

TEST(Overlap, OfSymmetricSchedulesIsThatOfLists) {
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization}) {
    const auto topology = support::shape("torus(5,4)");
    const auto all_reduce = support::of_megabytes(CollectiveKind::all_reduce, 20, 2);
    const auto made = support::synthesize_checked("tacos", {topology, all_reduce, occupancy, {1, 1, "symmetric"}});
    const Schedule sooner = retime({topology, all_reduce, occupancy}, made.without_overlap);
    EXPECT_EQ(made.time, last_arrival({topology, all_reduce, occupancy}, sooner));
    EXPECT_EQ(made.overlap_method, made.time < made.time_without_overlap ? "retimed" : "no_gain");
  }
}

TEST(Overlap, IsLeftOutWhereReTimingDoesNotFit) {
  const auto topology = support::mesh(8, 9);
  const auto all_reduce = support::of_megabytes(CollectiveKind::all_reduce, 72, 2);
  const auto* tacos = find_synthesizer("tacos");
  SynthesisProblem problem{topology, all_reduce, Occupancy::transfer, {1, 1, "coarse"}};
  ASSERT_EQ(tacos->synthesize(problem)->overlap_method, "retimed");
  const auto needed = tacos->estimate_bytes(problem);
  problem.memory_limit_bytes = needed - 1;
  EXPECT_LT(tacos->estimate_bytes(problem), needed);
  const auto made = tacos->synthesize(problem).value();
  EXPECT_EQ(made.overlap_method, "no_memory");
  EXPECT_EQ(made.time, made.time_without_overlap);
  problem.memory_limit_bytes = needed;
  EXPECT_EQ(tacos->estimate_bytes(problem), needed);
  EXPECT_EQ(tacos->synthesize(problem)->overlap_method, "retimed");
}

TEST(LargeGathers, LeaveTheExactEngineOutWhereItDoesNotFit) {
  // 600 * 599 = 359,400 deliveries: large. The coarse engine stays above the bound of 300 steps here, so `auto` tries
  // the exact one.
  const auto topology = support::mesh(24, 25);
  const auto gather = support::of_megabytes(CollectiveKind::all_gather, 600);
  const auto* tacos = find_synthesizer("tacos");
  SynthesisProblem problem{topology, gather, Occupancy::transfer};
  const auto both = tacos->estimate_bytes(problem);
  EXPECT_EQ(tacos->synthesize(problem)->left_out, "");
  problem.memory_limit_bytes = both - 1;
  const auto coarse = tacos->estimate_bytes(problem);
  EXPECT_LT(coarse, both);
  const auto made = tacos->synthesize(problem).value();
  EXPECT_EQ(made.engine, "coarse");
  EXPECT_GT(made.time, support::kStep * 300);
  EXPECT_THAT(made.left_out, HasSubstr("bytes"));
  problem.memory_limit_bytes = coarse / 2;  // the planner has to refuse it
  EXPECT_EQ(tacos->estimate_bytes(problem), coarse);
}

}  // namespace
}  // namespace tenex
