// A synthesis depends on the seed and on what the key hashes, never on threads, names or absolute scale.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/draws.hpp"
#include "synthesis/synthesis_support.hpp"

namespace tenex {
namespace {

using support::of_megabytes;

Synthesis run(const SynthesisProblem& problem) { return find_synthesizer("tacos")->synthesize(problem).value(); }

TEST(SynthesisDeterminism, GivesTheSameScheduleForAnyNumberOfThreads) {
  const auto draws = static_cast<std::uint64_t>(support::draws(1, 4));
  for (const bool heterogeneous : {false, true})
    for (std::uint64_t draw = 1; draw <= draws; ++draw) {
      const Topology topology = support::random_connected_topology(draw, 16, heterogeneous);
      const Collective all_reduce = of_megabytes(CollectiveKind::all_reduce, topology.npus(), 2);
      const auto with_threads = [&](int threads) {
        return run({topology, all_reduce, Occupancy::serialization, {7, 9}, threads});
      };
      const auto one = with_threads(1);
      for (const int threads : {2, 4}) {
        const auto other = with_threads(threads);
        EXPECT_EQ(schedule_hash(one.schedule), schedule_hash(other.schedule));
        EXPECT_EQ(one.best_attempt, other.best_attempt);
        EXPECT_EQ(one.time, other.time);
      }
    }
}

TEST(SynthesisDeterminism, RepeatsWithTheSameSeedAndDiffersWithAnother) {
  const Topology mesh = support::mesh(4, 4);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 16);
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto hash = schedule_hash(run({mesh, gather, Occupancy::transfer, {seed}}).schedule);
    EXPECT_EQ(hash, schedule_hash(run({mesh, gather, Occupancy::transfer, {seed}}).schedule));
    hashes.insert(hash);
  }
  EXPECT_GT(hashes.size(), 1U);
}

TEST(SynthesisDeterminism, IsNeverWorseWithMoreAttempts) {
  const Topology topology = support::random_connected_topology(3, 20, true);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, topology.npus(), 2);
  SimTime last = SimTime::max();
  for (const std::uint32_t attempts : {1U, 2U, 4U, 16U}) {
    const auto made = run({topology, gather, Occupancy::transfer, {1, attempts}});
    EXPECT_LE(made.time, last);
    EXPECT_LT(made.best_attempt, attempts);
    last = made.time;
  }
}

TEST(SynthesisKey, HashesWhatASynthesizerReads) {
  const Topology mesh = support::mesh(3, 3);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 9);
  const auto key = [](const Topology& topology, const Collective& collective,
                      Occupancy occupancy = Occupancy::serialization) {
    return synthesis_key({topology, collective, occupancy});
  };
  const Digest base = key(mesh, gather);
  EXPECT_EQ(base, key(mesh, gather));
  EXPECT_NE(base, key(support::torus(3, 3), gather));
  EXPECT_NE(base, key(mesh.reversed(), gather));
  EXPECT_NE(base, key(mesh, of_megabytes(CollectiveKind::all_gather, 9, 2)));
  EXPECT_NE(base, key(mesh, of_megabytes(CollectiveKind::all_reduce, 9)));
  EXPECT_NE(base, key(mesh, gather, Occupancy::transfer));
  const auto grouped = [](std::string_view groups) {
    return support::collective(CollectiveKind::all_gather, 9, support::kMegabyte * 9, 1, groups);
  };
  EXPECT_NE(key(mesh, grouped("0-3")), key(mesh, grouped("0-3; 4-7")));
  EXPECT_NE(key(mesh, grouped("0,1,2,3")), key(mesh, grouped("1,0,2,3")));
}

TEST(SynthesisKey, IgnoresScale) {
  // Ten times the latency and a tenth of the bandwidth: all times are ten times as long, their ratios as before.
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 9);
  const Topology fast = support::mesh(3, 3, nanoseconds(500), gigabytes_per_second(50));
  const Topology slow = support::mesh(3, 3, nanoseconds(5'000), gigabytes_per_second(5));
  EXPECT_EQ(synthesis_key({fast, gather}), synthesis_key({slow, gather}));
  const auto in_fast = run({fast, gather});
  const auto in_slow = run({slow, gather});
  EXPECT_EQ(in_slow.time, in_fast.time * 10);
}

TEST(SynthesisRegistry, FindsByName) {
  EXPECT_EQ(find_synthesizer("tacos")->name, "tacos");
  EXPECT_EQ(find_synthesizer("tacos_reference")->name, "tacos_reference");
  EXPECT_EQ(find_synthesizer("taco"), nullptr);
}

TEST(SynthesisRegistry, HasOrLacksEverySynthesizerWithASolver) {
  for (const std::string_view name : {"te_ccl", "taccl", "sccl"}) {
    const bool lacks = std::ranges::count(missing_synthesizers(), name, &Synthesizer::name) == 1;
    EXPECT_NE(find_synthesizer(name) != nullptr, lacks) << name;
  }
  for (const auto* table : {&synthesizers(), &missing_synthesizers()})
    for (const Synthesizer& entry : *table) EXPECT_EQ(entry.reads.solves, !entry.packages.empty()) << entry.name;
}

TEST(SynthesisRegistry, EstimatesMoreForMore) {
  const Topology small = support::mesh(8, 8);
  const Topology large = support::mesh(16, 16);
  const Collective small_gather = of_megabytes(CollectiveKind::all_gather, 64);
  const Collective large_gather = of_megabytes(CollectiveKind::all_gather, 256);
  for (const Synthesizer& synthesizer : synthesizers()) {
    const SynthesisProblem less{small, small_gather};
    const SynthesisProblem more{large, large_gather};
    EXPECT_GT(synthesizer.count_work(less).seconds(), 0);
    EXPECT_GT(synthesizer.count_work(more).seconds(), synthesizer.count_work(less).seconds());
    EXPECT_GT(synthesizer.estimate_bytes(more), synthesizer.estimate_bytes(less));
  }
}

}  // namespace
}  // namespace tenex
