// The symmetric engine: valid schedules of all kinds, at the bound on rings, tori, hypercubes, fully connected blocks
// and their products; refusals; costs.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "synthesis/synthesis_support.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::of_megabytes;

/// Synthesizes with the symmetric engine; verifies in full and by orbit, with equal results.
Synthesis symmetric(const Instance& instance, std::uint32_t attempts = 1, std::uint64_t seed = 1) {
  const Synthesis made = support::synthesize_checked("tacos", {instance, {seed, attempts, "symmetric"}});
  EXPECT_EQ(made.engine, "symmetric");
  const Verdict by_orbit = verify_symmetric(instance, made.schedule);
  EXPECT_TRUE(by_orbit.valid());
  EXPECT_EQ(by_orbit.collective_time, made.time);
  EXPECT_EQ(by_orbit.sends, made.schedule.sends());
  return made;
}

/// Efficiency of an All-Gather: bound / time.
double orbit_efficiency(const Topology& topology, Occupancy occupancy, std::int64_t chunks = 1) {
  const Collective gather = of_megabytes(CollectiveKind::all_gather, topology.npus(), chunks);
  return support::efficiency({topology, gather, occupancy}, symmetric({topology, gather, occupancy}).time);
}

TEST(SymmetricEngine, MeetsTheBoundUnderTransfer) {
  for (const auto shape : {"RI(2)",        "RI(5)",         "RI(8)",        "torus(5,5)",   "torus(8,8)",
                           "torus(4,4,4)", "torus(3,3,3)",  "torus(3,4,5)", "torus(4,2,3)", "torus(10,10)",
                           "torus(7,3)",   "torus(50,3)",   "FC(8)",        "hypercube(4)", "hypercube(6)",
                           "RI(4)_FC(8)",  "FC(16)_RI(16)", "FC(5)_RI(7)",  "FC(4)_FC(4)",  "RI(3)_FC(4)_RI(2)",
                           "RI(2)_RI(64)", "LI(2)_RI(5)"})
    for (const std::int64_t chunks : {1, 2, 3}) {
      SCOPED_TRACE(std::string(shape) + " with chunks: " + std::to_string(chunks));
      EXPECT_EQ(orbit_efficiency(support::shape(shape), Occupancy::transfer, chunks), 1.0);
    }
}

TEST(SymmetricEngine, TakesTheStepsThatCountingGives) {
  // torus(3,4,5): 59 chunks from elsewhere over 6 in-links are 9.83, so 10 steps; with 3 chunks 177 / 6 = 29.5, so 30.
  const Topology torus = support::shape("torus(3,4,5)");
  EXPECT_EQ(symmetric({torus, of_megabytes(CollectiveKind::all_gather, 60), Occupancy::transfer}).time,
            support::kStep * 10);
  EXPECT_EQ(symmetric({torus, of_megabytes(CollectiveKind::all_gather, 60, 3), Occupancy::transfer}).time,
            support::kStep * 30);
}

TEST(SymmetricEngine, MeetsTheBoundUnderSerializationWithSeveralChunks) {
  // With one chunk the second send on a link waits for the first arrival; only the bound `relay` counts that.
  for (const auto shape : {"RI(9)", "torus(5,5)", "torus(8,8)", "torus(4,4,4)", "torus(3,3,3)", "torus(3,4,5)",
                           "torus(4,2,3)", "FC(8)", "hypercube(6)", "RI(4)_FC(8)"})
    for (const std::int64_t chunks : {2, 3}) {
      SCOPED_TRACE(std::string(shape) + " with chunks: " + std::to_string(chunks));
      EXPECT_EQ(orbit_efficiency(support::shape(shape), Occupancy::serialization, chunks), 1.0);
    }
  for (const auto shape : {"torus(5,5)", "torus(8,8)", "torus(4,4,4)", "torus(3,4,5)", "hypercube(6)"}) {
    SCOPED_TRACE(shape);
    EXPECT_GE(orbit_efficiency(support::shape(shape), Occupancy::serialization), 0.99);
  }
}

TEST(SymmetricEngine, GivesEveryDimensionItsOwnStep) {
  const auto gbps = gigabytes_per_second;
  struct Case {
    std::string_view shape;
    std::vector<Bandwidth> bandwidth;
  };
  const std::vector<Case> cases = {{"torus(16,16)", {gbps(200), gbps(50)}},
                                   {"torus(16,16)", {gbps(50), gbps(200)}},
                                   {"torus(5,5)", {gbps(100), gbps(50)}},
                                   {"torus(8,5)", {gbps(200), gbps(50)}},
                                   {"torus(7,10)", {gbps(100), gbps(75)}},
                                   {"torus(30,30)", {gbps(51), gbps(50)}},
                                   {"RI(4)_FC(8)_RI(4)", {gbps(200), gbps(100), gbps(50)}}};
  for (const auto& [shape, bandwidth] : cases) {
    SCOPED_TRACE(shape);
    const Topology topology = support::shape(shape, {support::kAlpha}, bandwidth);
    EXPECT_GE(orbit_efficiency(topology, Occupancy::transfer), 0.995);
    EXPECT_GE(orbit_efficiency(topology, Occupancy::transfer, 2), 0.995);
    EXPECT_GE(orbit_efficiency(topology, Occupancy::serialization, 2), 0.995);
  }
}

TEST(SymmetricEngine, HonoursDifferentAlphas) {
  const Topology topology = support::shape("RI(6)_RI(4)_FC(3)", {microseconds(1), microseconds(30), nanoseconds(0)},
                                           {gigabytes_per_second(50)});
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce})
      symmetric({topology, of_megabytes(kind, topology.npus(), 2), occupancy});
}

TEST(SymmetricEngine, ReducesInTheTimeOfAGather) {
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
    for (const auto shape : {"torus(5,5)", "FC(4)_RI(5)", "hypercube(4)"}) {
      SCOPED_TRACE(shape);
      const Topology topology = support::shape(shape);
      const auto time = [&](CollectiveKind kind) {
        return symmetric({topology, of_megabytes(kind, topology.npus()), occupancy});
      };
      const SimTime gather = time(CollectiveKind::all_gather).time;
      EXPECT_EQ(time(CollectiveKind::reduce_scatter).time, gather);
      const Synthesis all = time(CollectiveKind::all_reduce);
      EXPECT_EQ(all.time_without_overlap, gather * 2);
      EXPECT_EQ(all.schedule.storage_kind(), "symmetric");
      EXPECT_EQ(all.without_overlap.storage_kind(), "symmetric");
    }
}

TEST(SymmetricEngine, IsTakenWhereItSuits) {
  const Topology torus = support::torus(4, 4);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 16);
  EXPECT_EQ(support::tacos({torus, gather, Occupancy::transfer}).engine, "symmetric");
  const Topology mesh = support::mesh(4, 4);
  EXPECT_NE(support::tacos({mesh, gather, Occupancy::transfer}).engine, "symmetric");
}

TEST(SymmetricEngine, GathersOverUnwoundSwitches) {
  // Each NPU of RI(4)_FC(8)_SW(8) unwound to degree 1 has 2 + 7 + 1 in-links: 255 chunks take 25.5, so 26 steps. To
  // degree 3 it has 12 of unlike speed, which the bound knows.
  const Topology cluster = unwind_switches(support::shape("RI(4)_FC(8)_SW(8)"), 1).value();
  EXPECT_EQ(symmetric({cluster, of_megabytes(CollectiveKind::all_gather, 256), Occupancy::transfer}).time,
            support::kStep * 26);
  // A one-way ring of n takes n-1 steps.
  const Topology one_way = unwind_switches(support::shape("SW(7)"), 1).value();
  EXPECT_EQ(symmetric({one_way, of_megabytes(CollectiveKind::all_gather, 7), Occupancy::transfer}).time,
            support::kStep * 6);
}

TEST(SymmetricEngine, ReducesOverLinksWithoutAnOpposite) {
  for (const auto shape : {"SW(7)", "RI(4)_SW(5)", "SW(3)_FC(4)_SW(4)"})
    for (const std::uint32_t degree : {1U, 2U})
      for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization}) {
        SCOPED_TRACE(shape);
        const Topology topology = unwind_switches(support::shape(shape), degree).value();
        const auto made = [&](CollectiveKind kind) {
          return symmetric({topology, of_megabytes(kind, topology.npus(), 2), occupancy});
        };
        const SimTime gather = made(CollectiveKind::all_gather).time;
        EXPECT_EQ(made(CollectiveKind::reduce_scatter).time, gather);
        EXPECT_LE(made(CollectiveKind::all_reduce).time, gather * 2);
      }
}

TEST(SymmetricEngine, SharesChunksAmongLinksOfUnequalSpeed) {
  const auto gbps = gigabytes_per_second;
  for (const std::uint32_t degree : {1U, 4U})
    for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization}) {
      const Topology topology =
          unwind_switches(support::shape("RI(8)_FC(4)_SW(10)", {support::kAlpha}, {gbps(200), gbps(100), gbps(50)}),
                          degree)
              .value();
      EXPECT_GE(orbit_efficiency(topology, occupancy, 2), 0.99) << degree;
    }
}

// SW(9)_SW(5)_SW(7), unwound to one link each, with 25, 100 and 400 GB/s and chunks of 1 MB: sends take 40, 10 and 2.5
// us and 0.5 us more. By T the three in-links of an NPU bring floor((T - 0.5) / 40) and so on of the 314 chunks, which
// is 313 just before 600.5 us and 315 then: each of the 15 sends of the slowest has to bring what the others do not.
TEST(SymmetricEngine, LeavesToSlowLinksWhatFastOnesComeToLast) {
  const Topology topology =
      unwind_switches(support::shape("SW(9)_SW(5)_SW(7)", {support::kAlpha},
                                     {gigabytes_per_second(25), gigabytes_per_second(100), gigabytes_per_second(400)}),
                      1)
          .value();
  const Instance instance{topology, of_megabytes(CollectiveKind::all_gather, 315), Occupancy::serialization};
  const Synthesis made = support::synthesize_checked("tacos", {instance, {1, 1, "symmetric"}});
  EXPECT_GE(made.time, nanoseconds(600'500));
  EXPECT_LE(made.time, nanoseconds(606'500));  // 1 % more
}

TEST(SymmetricEngine, SaysWhyItCannot) {
  const auto errors = [](const Topology& topology, const Collective& collective) {
    return to_string(find_synthesizer("tacos")
                         ->synthesize({topology, collective, Occupancy::transfer, {1, 1, "symmetric"}})
                         .errors());
  };
  EXPECT_NE(
      errors(support::mesh(4, 4), of_megabytes(CollectiveKind::all_gather, 16)).find("needs dimensions that differ"),
      std::string::npos);
  EXPECT_NE(errors(support::ring(4), of_megabytes(CollectiveKind::broadcast, 4)).find("no root"), std::string::npos);
  const Collective pairs = support::collective(CollectiveKind::all_gather, 4, mebibytes(4), 1, "0-1; 2-3");
  EXPECT_NE(errors(support::ring(4), pairs).find("one group of all NPUs"), std::string::npos);
  const Collective shuffled = support::collective(CollectiveKind::all_gather, 4, mebibytes(4), 1, "1,0,2,3");
  EXPECT_NE(errors(support::ring(4), shuffled).find("in their order"), std::string::npos);
}

TEST(SymmetricEngine, GivesTheSameScheduleForAnyNumberOfThreads) {
  const Topology topology =
      support::shape("RI(5)_FC(4)_RI(3)", {support::kAlpha},
                     {gigabytes_per_second(50), gigabytes_per_second(70), gigabytes_per_second(30)});
  const Collective all_reduce = of_megabytes(CollectiveKind::all_reduce, topology.npus(), 2);
  const auto hash = [&](int threads) {
    const SynthesisProblem problem{topology, all_reduce, Occupancy::serialization, {7, 8}, threads};
    return schedule_hash(find_synthesizer("tacos")->synthesize(problem).value().schedule);
  };
  const std::uint64_t one = hash(1);
  for (const int threads : {2, 4, 8}) EXPECT_EQ(hash(threads), one) << threads;
}

TEST(SymmetricEngine, ScalesWithTheNumberOfNpus) {
  // torus(20,20,20): 7,999 deliveries over 6 in-links are 1333.2, so 1334 steps; 63,992,000 sends of all NPUs.
  const Topology torus = support::shape("torus(20,20,20)");
  const Collective gather = of_megabytes(CollectiveKind::all_gather, torus.npus());
  const SynthesisProblem problem{torus, gather, Occupancy::transfer};
  const Synthesis made = find_synthesizer("tacos")->synthesize(problem).value();
  EXPECT_EQ(made.time, support::kStep * 1334);
  EXPECT_EQ(made.schedule.sends(), 63'992'000U);
  EXPECT_LT(made.schedule.memory_bytes(), 64U * 8'000U);
  const Verdict verdict = verify_symmetric({torus, gather, Occupancy::transfer}, made.schedule);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.collective_time, made.time);
}

}  // namespace
}  // namespace tenex
