// The engine `orbit` of pccl: All-to-Alls at the bound on rings, tori, hypercubes, fully connected blocks and their
// products, verified in full and by orbit; the other collectives; refusals; costs.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/verdicts.hpp"
#include "synthesis/pccl/orbit/exchange_ways.hpp"
#include "synthesis/pccl/orbit/orbit.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/bound/flow.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"

namespace tenex {
namespace {

using support::kStep;
using support::of_megabytes;

constexpr std::uint64_t kFlowWork = 1'000'000;  ///< link visits

/// Synthesizes; verifies in full, and by orbit with equal results where the schedule is symmetric; compares with
/// bounds.
Synthesis orbit(const SynthesisProblem& problem) {
  EXPECT_EQ(pccl_orbit_unsuitable(problem), std::nullopt);
  const Synthesis made = synthesize_pccl_orbit(problem).value();
  EXPECT_EQ(made.engine, "orbit");
  const Verdict verdict = support::expect_valid(problem, made.schedule, made.time);
  const BoundProblem bounded{{problem.topology, problem.collective, problem.occupancy}};
  EXPECT_GE(made.time, best_cheap_bound(bounded).time);
  EXPECT_GE(made.time, flow_bound(bounded, kFlowWork).value_or(CertifiedBound{}).time);
  if (!has_orbit_check(problem.topology, problem.collective, made.schedule)) return made;
  const Verdict by_orbit = verify_symmetric(problem, made.schedule);
  EXPECT_TRUE(by_orbit.valid());
  EXPECT_EQ(by_orbit.collective_time, made.time);
  EXPECT_EQ(by_orbit.sends, verdict.sends);
  EXPECT_EQ(by_orbit.waste, 0U);
  return made;
}

Collective exchange_of(const Topology& topology, std::int64_t chunks = 1) {
  return of_megabytes(CollectiveKind::all_to_all, topology.npus(), chunks);
}

/// Steps of an All-to-All whose hops all take kStep.
std::int64_t steps(std::string_view shape, std::int64_t chunks = 1) {
  const Topology topology = support::shape(shape);
  const Collective exchange = exchange_of(topology, chunks);
  const SimTime time = orbit({{topology, exchange, Occupancy::transfer}}).time;
  EXPECT_EQ(time.count() % kStep.count(), 0);
  return time.count() / kStep.count();
}

TEST(PcclOrbit, TakesTheStepsThatCountingGives) {
  for (const std::int64_t c : {1, 2, 3}) {
    SCOPED_TRACE(c);
    // Offsets 1 .. 7 take 1+2+3+4+3+2+1 = 16 hops, over two out-links.
    EXPECT_EQ(steps("RI(8)", c), 8 * c);
    // 1+2+3+3+2+1 = 12 over two.
    EXPECT_EQ(steps("RI(7)", c), 6 * c);
    // Four columns of 1+2+1 = 4 hops in each dimension, over two out-links.
    EXPECT_EQ(steps("torus(4,4)", c), 8 * c);
    // Every NPU is a neighbour.
    EXPECT_EQ(steps("FC(8)", c), c);
    // Half of the 16 offsets change a given bit.
    EXPECT_EQ(steps("hypercube(4)", c), 8 * c);
    // The ring: 8 rows of 16 hops over two out-links are 64; the block: 8 hops over each out-link.
    EXPECT_EQ(steps("RI(8)_FC(8)", c), 64 * c);
    // 16 lines of 4 hops in each dimension, over two out-links.
    EXPECT_EQ(steps("torus(4,4,4)", c), 32 * c);
    // Line: one hop each way.
    EXPECT_EQ(steps("RI(2)", c), c);
  }
}

TEST(PcclOrbit, SplitsAnOddNumberOfChunksForHalfWayRoundOverTheOwners) {
  // Ring of k, one chunk: the chunk for half way round goes k/2 hops one way. If all NPUs sent it the same way, that
  // way would carry (1 + .. + k/2) and the other one less: RI(4) 3 and 1. Half of the NPUs each way: 4 / 2 = 2.
  EXPECT_EQ(steps("RI(4)"), 2);
  // RI(6): 1+2+3+2+1 = 9 hops over two out-links: 4.5, so 5; one way for all would take 6.
  EXPECT_EQ(steps("RI(6)"), 5);
  // Three chunks: 27 / 2, so 14.
  EXPECT_EQ(steps("RI(6)", 3), 14);
  // torus(4,3): 3 rows of 4 hops over two out-links are 6; one way for all would take 7.
  EXPECT_EQ(steps("torus(4,3)"), 6);
  EXPECT_EQ(steps("RI(4)_FC(5)"), 10);
}

TEST(PcclOrbit, KeepsOnePlanForAllWhereItMeetsTheBound) {
  for (const auto shape : {"RI(5)", "torus(4,4)", "FC(6)", "hypercube(3)", "RI(4)_FC(4)", "torus(3,4,5)"}) {
    SCOPED_TRACE(shape);
    const Topology topology = support::shape(shape);
    const Collective exchange = exchange_of(topology);
    EXPECT_NE(symmetric_storage(orbit({{topology, exchange, Occupancy::transfer}}).schedule), nullptr);
  }
}

TEST(PcclOrbit, ServesGroupsThatTranslationsMapToEachOther) {
  const auto grouped = [](std::string_view shape, std::string_view groups, std::int64_t chunks) {
    const Topology topology = support::shape(shape);
    const std::int64_t members =
        static_cast<std::int64_t>(parse_groups(groups, topology.npus()).value()[0].members.size());
    const Collective exchange = support::collective(CollectiveKind::all_to_all, topology.npus(),
                                                    support::kMegabyte * (members * chunks), chunks, groups);
    return orbit({{topology, exchange, Occupancy::transfer}}).time.count() / kStep.count();
  };
  for (const std::int64_t c : {1, 2}) {
    // Rows of torus(8,4): each a ring of 8, 8 steps (16 hops over two out-links). One chunk per pair is odd for half
    // way.
    EXPECT_EQ(grouped("torus(8,4)", "0-7; 8-15; 16-23; 24-31", c), 8 * c);
    // Columns: rings of 4, 4 hops over two out-links.
    EXPECT_EQ(grouped("torus(4,4)", "0,4,8,12; 1,5,9,13; 14,2,6,10; 3,7,11,15", c), 2 * c);
    // Every second NPU of a ring of 8: offsets 2, 4, 6 take 2 + 4 + 2 hops over two out-links.
    EXPECT_EQ(grouped("RI(8)", "0,2,4,6; 1,3,5,7", c), 4 * c);
    // Every second row and column of torus(4,4): partners are 2 hops away in x, in y, or in both, so 4 steps at least;
    // 4 hops in each dimension over two out-links, so 2c.
    EXPECT_EQ(grouped("torus(4,4)", "0,2,8,10; 1,3,9,11; 4,6,12,14; 5,7,13,15", c), 4);
    // Blocks of FC(4): neighbours.
    EXPECT_EQ(grouped("FC(4)_RI(3)", "0-3; 4-7; 8-11", c), c);
  }
}

/// Dimensions with a speed and a latency of their own.
struct UnevenCase {
  std::string_view shape;
  std::vector<Bandwidth> bandwidth;
  std::vector<SimTime> alpha;
};

TEST(PcclOrbit, KeepsTheBusiestDimensionBusy) {
  const auto gbps = gigabytes_per_second;
  const auto ns = nanoseconds;
  const std::vector<UnevenCase> cases = {{"RI(8)_FC(8)", {gbps(200), gbps(10)}, {ns(500), ns(500)}},
                                         {"RI(8)_FC(8)", {gbps(50), gbps(200)}, {ns(500), ns(900)}},
                                         {"RI(8)_FC(8)", {gbps(160), gbps(20)}, {ns(0), ns(0)}},  // both as busy
                                         {"torus(8,8)", {gbps(100), gbps(70)}, {ns(500), ns(300)}},
                                         {"torus(8,5)", {gbps(200), gbps(50)}, {ns(500), ns(500)}},
                                         {"torus(4,4,4)", {gbps(50), gbps(60), gbps(70)}, {ns(500), ns(700), ns(2500)}},
                                         {"hypercube(4)", {gbps(50), gbps(49), gbps(48), gbps(47)}, {ns(500)}},
                                         {"RI(4)_FC(3)_RI(2)", {gbps(50), gbps(100), gbps(25)}, {ns(1000)}}};
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
    for (const auto& [shape, bandwidth, alpha] : cases)
      for (const std::int64_t chunks : {1, 2}) {
        SCOPED_TRACE(std::string(shape) + " with chunks: " + std::to_string(chunks));
        const Topology topology = support::shape(shape, alpha, bandwidth);
        const Collective exchange = exchange_of(topology, chunks);
        const Instance instance{topology, exchange, occupancy};
        EXPECT_EQ(support::efficiency(instance, orbit({instance}).time), 1.0);
      }
}

TEST(PcclOrbit, TakesTheTimeOfTheBusiestDimension) {
  // RI(8)_FC(8): a ring link carries 64 chunks, a link of the block 8. At 160 and 20 GB/s a megabyte takes 6.25 us and
  // 50 us: 400 us both.
  const Topology topology =
      support::shape("RI(8)_FC(8)", {nanoseconds(0)}, {gigabytes_per_second(160), gigabytes_per_second(20)});
  const Collective exchange = exchange_of(topology);
  EXPECT_EQ(orbit({{topology, exchange, Occupancy::serialization}}).time, microseconds(400));
}

TEST(PcclOrbit, AlternatesDimensionsWhereLatencyIsLong) {
  // FC(4)_RI(3), serialization, alpha 30 us; a chunk takes 0.5 us in the block and 2 us in the ring. Each direction of
  // the ring carries 9 chunks that also cross the block. If all of them crossed it first, they would reach the ring
  // from 30.5 us on and end at 30.5 + 8*2 + 32 = 78.5 us. If 5 do, those end at 30.5 + 4*2 + 32 = 70.5 us; the other 4
  // leave the ring at 3*2 + 32 = 38 us and end soon after 68.5 us.
  const Topology topology =
      support::shape("FC(4)_RI(3)", {microseconds(30)}, {gigabytes_per_second(2000), gigabytes_per_second(500)});
  const Collective exchange = exchange_of(topology, 3);
  EXPECT_LE(orbit({{topology, exchange, Occupancy::serialization}}).time, nanoseconds(71'000));
}

TEST(PcclOrbit, LetsTheFarthestChunksGoOnWithoutAPause) {
  // RI(17), alpha 16 us, a chunk takes 4 us: 8 hops of 20 us. Each direction carries 1 + .. + 8 = 36 hops, 144 us:
  // there is room for the others in between.
  const Topology ring = support::ring(17, microseconds(16), gigabytes_per_second(250));
  const Collective exchange = exchange_of(ring);
  EXPECT_EQ(orbit({{ring, exchange, Occupancy::serialization}}).time, microseconds(160));
  // Where the latency is no multiple of the 4 us: 8 hops of 26.5 us.
  const Topology odd = support::ring(17, nanoseconds(22'500), gigabytes_per_second(250));
  EXPECT_EQ(orbit({{odd, exchange, Occupancy::serialization}}).time, microseconds(212));
}

TEST(PcclOrbitProperty, IsAtTheBoundOnRandomProducts) {
  rc::check("valid, not below the cheap bounds, at most 3 % above", [] {
    Random random(*rc::gen::arbitrary<std::uint64_t>(), 0x6F726269);
    std::string text;
    std::vector<Bandwidth> bandwidth;
    std::vector<SimTime> alpha;
    std::uint32_t npus = 1;
    for (std::uint32_t left = 1 + random.below(4); left > 0; --left) {
      const std::uint32_t size = 2 + random.below(std::min(9U, 120 / npus - 1));
      text += (text.empty() ? "" : "_") + std::string(random.below(2) == 0 ? "RI" : "FC") + "(" + std::to_string(size) +
              ")";
      bandwidth.push_back(gigabytes_per_second(20 + random.below(180)));
      alpha.push_back(nanoseconds(random.below(600)));
      npus *= size;
      if (npus > 40) break;
    }
    const std::int64_t chunks = 1 + random.below(3);
    RC_LOG() << text << ", " << chunks << " chunks\n";
    const Topology topology = support::shape(text, alpha, bandwidth);
    const Collective exchange = exchange_of(topology, chunks);
    const auto occupancy = random.below(2) == 0 ? Occupancy::transfer : Occupancy::serialization;
    const SynthesisProblem problem{{topology, exchange, occupancy}};
    const Synthesis made = synthesize_pccl_orbit(problem).value();
    const Verdict verdict = verify(problem, made.schedule);
    RC_ASSERT(verdict.valid());
    RC_ASSERT(verdict.waste == 0U);
    RC_ASSERT(verdict.collective_time == made.time);
    const double efficiency = support::efficiency(problem, made.time);
    RC_LOG() << "efficiency " << efficiency << '\n';
    RC_ASSERT(efficiency <= 1.0);
    RC_ASSERT(efficiency >= 0.97);
  });
}

TEST(PcclOrbit, MeetsTheBoundOnLargerShapes) {
  for (const auto shape : {"torus(32,32)", "FC(64)", "hypercube(10)", "RI(16)_FC(16)", "torus(10,10,10)"})
    for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization}) {
      SCOPED_TRACE(shape);
      const Topology topology = support::shape(shape);
      const Collective exchange = exchange_of(topology);
      const Instance instance{topology, exchange, occupancy};
      const Synthesis made = synthesize_pccl_orbit({instance}).value();
      const Verdict verdict = verify_symmetric(instance, made.schedule);
      EXPECT_TRUE(verdict.valid());
      EXPECT_EQ(verdict.collective_time, made.time);
      EXPECT_EQ(support::efficiency(instance, made.time), 1.0);
    }
}

TEST(PcclOrbit, DrawsNoDifferenceFromThreadsAndKeepsMoreAttemptsNoWorse) {
  const Topology topology = support::shape("FC(11)_FC(5)", {microseconds(29)});
  const Collective exchange = exchange_of(topology);
  SynthesisProblem problem{{topology, exchange, Occupancy::serialization}};
  const Synthesis alone = orbit(problem);
  problem.threads = 4;
  const Synthesis shared = orbit(problem);
  EXPECT_EQ(schedule_hash(alone.schedule), schedule_hash(shared.schedule));
  problem.attempts = 300;
  EXPECT_LE(orbit(problem).time, alone.time);
}

TEST(PcclOrbit, MakesTheOtherCollectivesOfOneGather) {
  // torus(4,4): 15 chunks from elsewhere over 4 in-links: 4 steps.
  const Topology torus = support::torus(4, 4);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 16);
  EXPECT_EQ(orbit({{torus, gather, Occupancy::transfer}}).time, kStep * 4);
  EXPECT_EQ(orbit({{torus, gather.as(CollectiveKind::reduce_scatter), Occupancy::transfer}}).time, kStep * 4);
  EXPECT_LE(orbit({{torus, gather.as(CollectiveKind::all_reduce), Occupancy::transfer}}).time, kStep * 8);
  // torus(32,32): 1023 / 4, so 256 steps.
  const Topology large = support::torus(32, 32);
  const Collective chunks = of_megabytes(CollectiveKind::all_gather, 1024);
  const Synthesis made = synthesize_pccl_orbit({{large, chunks, Occupancy::transfer}}).value();
  EXPECT_EQ(made.time, kStep * 256);
  EXPECT_TRUE(verify_symmetric({large, chunks, Occupancy::transfer}, made.schedule).valid());
}

TEST(PcclOrbit, SaysWhyItCannotServe) {
  const auto why = [](const Topology& topology, const Collective& collective) {
    return pccl_orbit_unsuitable({{topology, collective, Occupancy::transfer}}).value_or("");
  };
  const Topology line = support::line(4);
  EXPECT_NE(why(line, exchange_of(line)).find("RI and FC blocks"), std::string::npos);
  const Topology ring = support::ring(4);
  EXPECT_NE(why(ring, of_megabytes(CollectiveKind::broadcast, 4)).find("All-to-All only"), std::string::npos);
  CollectiveRequest halves;
  halves.kind = CollectiveKind::all_to_all;
  halves.npus = 4;
  halves.size = bytes(1'000'000);
  halves.groups = parse_groups("0,1; 2,3", 4).value();
  EXPECT_NE(why(ring, Collective::make(halves).value()).find("equal groups of all NPUs"), std::string::npos);
  halves.kind = CollectiveKind::all_gather;
  EXPECT_NE(why(ring, Collective::make(halves).value()).find("one group of all NPUs"), std::string::npos);
}

TEST(PcclOrbit, PlansMoreForMore) {
  const auto cost = [](std::string_view shape, std::int64_t chunks) {
    const Topology topology = support::shape(shape);
    const Collective exchange = exchange_of(topology, chunks);
    const SynthesisProblem problem{{topology, exchange}};
    return std::pair(pccl_orbit_bytes(problem), pccl_orbit_work(problem).seconds());
  };
  const auto small = cost("torus(8,8)", 2);
  EXPECT_LT(small.first, cost("torus(8,8)", 4).first);
  EXPECT_LT(small.second, cost("torus(8,8)", 4).second);
  EXPECT_LT(small.first, cost("torus(10,8)", 2).first);
  EXPECT_LT(small.second, cost("torus(10,8)", 2).second);
}

TEST(PcclOrbit, ServesFortyThousandNpusAtTheBound) {
  // torus(200,200): each dimension takes 200 lines of 200^2/4 = 10,000 hops over two out-links: 10^6 steps, 1.6e11
  // sends for 1.6e9 pairs.
  const Topology torus = support::torus(200, 200);
  const Collective exchange = exchange_of(torus);
  const SynthesisProblem problem{{torus, exchange, Occupancy::transfer}};
  const Synthesis made = synthesize_pccl_orbit(problem).value();
  EXPECT_EQ(made.time, kStep * 1'000'000);
  const Verdict verdict = verify_by_size(problem, made.schedule);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.sends, 160'000'000'000U);
  EXPECT_EQ(verdict.collective_time, made.time);
}

TEST(ExchangeWays, LoadBothWaysRoundAlike) {
  for (const auto shape : {"RI(8)", "torus(4,4)", "torus(4,3)", "RI(6)_FC(4)", "torus(3,4,5)", "RI(4)_RI(2)"})
    for (const std::uint32_t chunks : {1U, 2U, 3U}) {
      SCOPED_TRACE(shape);
      const TranslationGroup group = TranslationGroup::of(support::shape(shape)).value();
      const auto ring = uneven_ring(group, {chunks, true});
      const ExchangeWays ways(group, {chunks, true}, ring);
      EXPECT_EQ(ways.cosets, ring ? 2U : 1U);
      for (const auto& dimension : group.dimensions())
        for (std::uint32_t i = 1; i < dimension.directions; ++i)
          EXPECT_EQ(ways.load[dimension.first_direction + i], ways.load[dimension.first_direction]);
    }
  // n/k * c: 12/4 = 3 is odd, 16/4 = 4 is not; RI(5) has no half way; RI(2) has one way only.
  EXPECT_EQ(uneven_ring(TranslationGroup::of(support::shape("torus(3,4)")).value(), {1, true}), 1U);
  EXPECT_EQ(uneven_ring(TranslationGroup::of(support::shape("torus(3,4)")).value(), {2, true}), std::nullopt);
  EXPECT_EQ(uneven_ring(TranslationGroup::of(support::shape("torus(4,4)")).value(), {1, true}), std::nullopt);
  EXPECT_EQ(uneven_ring(TranslationGroup::of(support::shape("torus(5,3)")).value(), {1, true}), std::nullopt);
  EXPECT_EQ(uneven_ring(TranslationGroup::of(support::shape("RI(2)_FC(3)")).value(), {1, true}), std::nullopt);
}

}  // namespace
}  // namespace tenex
