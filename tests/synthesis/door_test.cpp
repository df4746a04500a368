// What every synthesizer expects and ensures, by entries that break it.
#include <gtest/gtest.h>

#include <vector>

#include "support/contracts.hpp"
#include "support/topologies.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

using support::breaks;
using support::kStep;
using support::of_megabytes;

/// Two NPUs exchange a chunk each: NPU 0 sends at once and NPU 1 a microsecond later, so it takes that and a hop. The
/// bound is a hop.
struct DoorExchange {
  Topology topology = support::line(2);
  Collective gather = of_megabytes(CollectiveKind::all_gather, 2);
  SynthesisProblem problem{{topology, gather}};

  [[nodiscard]] static Synthesis made() {
    Synthesis synthesis;
    synthesis.schedule =
        make_list_schedule({{SimTime::zero(), LinkId(0), ChunkId(0)}, {microseconds(1), LinkId(1), ChunkId(1)}});
    synthesis.without_overlap = synthesis.schedule;
    synthesis.time = synthesis.time_without_overlap = microseconds(1) + kStep;
    return synthesis;
  }
};

Synthesizer entry(Result<Synthesis> (*make)(const SynthesisProblem&)) {
  Synthesizer made{};
  made.make = make;
  made.collectives = {CollectiveKind::all_gather};
  return made;
}

TEST(SynthesizerDoor, PassesWhatKeepsItsWord) {
  const DoorExchange exchange;
  const auto honest = entry([](const SynthesisProblem&) -> Result<Synthesis> { return DoorExchange::made(); });
  EXPECT_EQ(honest.synthesize(exchange.problem)->time, microseconds(1) + kStep);
}

TEST(SynthesizerDoor, FindsProblemsThatTheEntryExcludes) {
  TENEX_NEEDS_CONTRACTS();
  const DoorExchange exchange;
  const auto honest = entry([](const SynthesisProblem&) -> Result<Synthesis> { return DoorExchange::made(); });
  const Collective of_three = of_megabytes(CollectiveKind::all_gather, 3);
  EXPECT_THAT(
      [&] {
        (void)honest.synthesize({{exchange.topology, of_three}});
      },
      breaks("synthesize() expects a collective of the topology's NPUs"));
  const Collective reduce = of_megabytes(CollectiveKind::reduce, 2);
  EXPECT_THAT(
      [&] {
        (void)honest.synthesize({{exchange.topology, reduce}});
      },
      breaks("synthesize() expects a collective that the entry names"));
  SynthesisProblem without_threads = exchange.problem;
  without_threads.threads = 0;
  EXPECT_THAT([&] { (void)honest.synthesize(without_threads); }, breaks("synthesize() expects at least one thread"));
  SynthesisProblem late = exchange.problem;
  late.start_delays = {{NpuId(0), microseconds(1)}};
  EXPECT_THAT([&] { (void)honest.synthesize(late); }, breaks("synthesize() expects NPUs that start late only for"));
}

TEST(SynthesizerDoor, FindsATimeThatIsNotTheSchedules) {
  TENEX_NEEDS_CONTRACTS();
  const auto early = entry([](const SynthesisProblem&) -> Result<Synthesis> {
    Synthesis synthesis = DoorExchange::made();
    synthesis.time = synthesis.time_without_overlap = kStep;
    return synthesis;
  });
  const DoorExchange exchange;
  EXPECT_THAT([&] { (void)early.synthesize(exchange.problem); },
              breaks("synthesize() ensures times that agree with the schedule"));
}

TEST(SynthesizerDoor, FindsATimeBelowTheBound) {
  TENEX_NEEDS_CONTRACTS();
  const auto idle = entry([](const SynthesisProblem&) -> Result<Synthesis> { return Synthesis{}; });
  const DoorExchange exchange;
  EXPECT_THAT([&] { (void)idle.synthesize(exchange.problem); }, breaks("synthesize() ensures no time below the bound"));
}

TEST(SynthesizerDoor, FindsAFalseOptimum) {
  TENEX_NEEDS_CONTRACTS();
  const auto boasting = entry([](const SynthesisProblem&) -> Result<Synthesis> {
    Synthesis synthesis = DoorExchange::made();
    synthesis.solver.emplace();
    synthesis.solver->bound = kStep;
    synthesis.solver->optimal = true;
    synthesis.solver->gap = 0;
    return synthesis;
  });
  const DoorExchange exchange;
  EXPECT_THAT([&] { (void)boasting.synthesize(exchange.problem); },
              breaks("synthesize() ensures proofs that agree with the time"));
}

TEST(SynthesizerDoor, FindsASendOfALateNpu) {
  TENEX_NEEDS_CONTRACTS();
  Synthesizer hasty = entry([](const SynthesisProblem&) -> Result<Synthesis> { return DoorExchange::made(); });
  hasty.delays = {CollectiveKind::all_gather};
  const DoorExchange exchange;
  SynthesisProblem late = exchange.problem;
  late.start_delays = {{NpuId(0), microseconds(1)}};  // the bound is the schedule's time now
  EXPECT_THAT([&] { (void)hasty.synthesize(late); }, breaks("synthesize() ensures no send of a late NPU"));
  late.start_delays = {{NpuId(1), microseconds(1)}};  // it does send then
  EXPECT_TRUE(hasty.synthesize(late).ok());
}

}  // namespace
}  // namespace tenex
