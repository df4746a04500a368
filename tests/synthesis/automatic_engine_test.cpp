// The engine `auto`: no engine that may be named makes a faster schedule of a small problem, on random graphs and
// products; levels by dimension; what trials add to estimates.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/draws.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/base/random.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::of_megabytes;

/// A product of up to three blocks of up to five NPUs, each dimension as fast as the others or not.
Topology random_product(Random& random) {
  constexpr std::string_view kBlocks[] = {"RI", "FC", "SW", "LI"};
  const std::uint32_t dimensions = 1 + random.below(3);
  std::string text;
  std::vector<Bandwidth> bandwidths;
  const bool alike = random.below(2) == 0;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    text +=
        (i == 0 ? "" : "_") + std::string(kBlocks[random.below(4)]) + "(" + std::to_string(2 + random.below(3)) + ")";
    bandwidths.push_back(gigabytes_per_second(alike ? 50 : 25 << random.below(4)));
  }
  return unwind_switches(support::shape(text, {support::kAlpha}, bandwidths), 1 + random.below(2)).value();
}

Collective random_collective(Random& random, std::size_t npus) {
  const auto kind = static_cast<CollectiveKind>(random.below(5));
  const std::int64_t chunks = 1 + random.below(3);
  const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  const Bytes chunk = random.below(2) == 0 ? bytes(20'000) : support::kMegabyte;
  return support::collective(kind, npus, chunk * (rooted ? chunks : chunks * static_cast<std::int64_t>(npus)), chunks);
}

TEST(AutomaticEngine, IsAsGoodAsEveryNamedEngineOnSmallProblems) {
  const auto seeds = static_cast<std::uint64_t>(support::draws(150, 600));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, 0x6175746f);
    const Topology topology = random.below(2) == 0 ? random_product(random)
                                                   : support::random_connected_topology(seed, 16, random.below(2) == 0);
    const Collective collective = random_collective(random, topology.npus());
    const auto occupancy = random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer;
    const std::uint32_t attempts = 1 + random.below(3);
    const Synthesis made = support::tacos({topology, collective, occupancy}, attempts, seed);
    for (const std::string_view engine : find_synthesizer("tacos")->engines) {
      const auto named = find_synthesizer("tacos")->synthesize(
          {topology, collective, occupancy, {seed, attempts, std::string(engine)}});
      if (!named) continue;  // it does not suit
      EXPECT_LE(made.time, named->time) << engine << " against " << made.engine;
    }
  }
}

TEST(AutomaticEngine, FindsTheScheduleOfTheFastestNamedEngine) {
  // Each NPU of RI(4)_FC(8)_SW(8) has 2 + 7 + 1 in-links (the switches are unwound to degree 1): 255 chunks take 26
  // steps.
  const Topology cluster = unwind_switches(support::shape("RI(4)_FC(8)_SW(8)"), 1).value();
  EXPECT_EQ(support::tacos({cluster, of_megabytes(CollectiveKind::all_gather, 256), Occupancy::transfer}).time,
            support::kStep * 26);
}

TEST(AutomaticEngine, BringsAlongALineWhatFullyConnectedBlocksSpread) {
  // An NPU at an end of the line has 1 + 6 + 1 in-links: 153 chunks take 19.1, so 20 steps.
  const Topology layers = support::shape("LI(11)_LI(2)_FC(7)");
  const Synthesis made = support::tacos({layers, of_megabytes(CollectiveKind::all_gather, 154), Occupancy::transfer});
  EXPECT_EQ(made.time, support::kStep * 20);
}

TEST(AutomaticEngine, GivesTheSameScheduleForAnyNumberOfThreads) {
  const Topology topology =
      support::shape("LI(4)_FC(3)_RI(3)", {support::kAlpha},
                     {gigabytes_per_second(50), gigabytes_per_second(100), gigabytes_per_second(25)});
  const Collective all_reduce = of_megabytes(CollectiveKind::all_reduce, topology.npus(), 2);
  const auto hash = [&](int threads) {
    const SynthesisProblem problem{topology, all_reduce, Occupancy::serialization, {7, 2}, threads};
    return schedule_hash(find_synthesizer("tacos")->synthesize(problem).value().schedule);
  };
  const std::uint64_t one = hash(1);
  for (const int threads : {2, 5}) EXPECT_EQ(hash(threads), one) << threads;
}

TEST(AutomaticEngine, TriesNothingThatDoesNotFitIntoTheMemory) {
  const Topology mesh = support::mesh(5, 4);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 20);
  SynthesisProblem problem{mesh, gather, Occupancy::transfer};
  const Synthesizer& tacos = *find_synthesizer("tacos");
  const std::size_t with_trials = tacos.estimate_bytes(problem);
  problem.engine = "event_driven";
  const std::size_t alone = tacos.estimate_bytes(problem);
  EXPECT_LT(alone, with_trials);
  problem.engine = kAutomaticEngine;
  problem.memory_limit_bytes = alone;
  EXPECT_EQ(tacos.estimate_bytes(problem), alone);
  EXPECT_TRUE(verify(problem, tacos.synthesize(problem).value().schedule).valid());
}

}  // namespace
}  // namespace tenex
