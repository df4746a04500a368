// The exact engine: valid, at the bound where it should be, the same for any number of threads, the same read by time
// and by link.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "synthesis/synthesis_support.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::of_megabytes;
using ::testing::HasSubstr;
using enum CollectiveKind;

SynthesisProblem exact_problem(const Instance& instance, int threads = 1, std::uint32_t attempts = 1) {
  return {instance, {1, attempts, "exact"}, threads};
}

/// Synthesizes and verifies; returns bound / time.
double exact_efficiency(const Instance& instance, std::uint32_t attempts = 1) {
  const auto made = support::synthesize_checked("tacos", exact_problem(instance, 1, attempts));
  EXPECT_EQ(made.engine, "exact");
  return support::efficiency(instance, made.time);
}

/// `topology` without about one in `rate` of its pairs of links, still connected.
Topology degraded(Topology topology, std::uint64_t seed, std::uint32_t rate) {
  Random random(seed, 0x6661756c74);
  for (std::size_t left = topology.links() / 2 / rate; left > 0;) {
    const LinkId link(random.below(static_cast<std::uint32_t>(topology.links())));
    auto without = remove_links(topology, {{topology.source(link), topology.target(link)}}).value();
    if (find_disconnected_pair(without)) continue;
    topology = std::move(without);
    --left;
  }
  return topology;
}

TEST(ExactEngine, MeetsTheBoundOnMeshesAndGrids) {
  for (const char* shape : {"mesh(5,5)", "mesh(16,16)", "mesh(9,31)", "mesh(7,12)", "grid(3,3,3)", "grid(3,4,5)",
                            "grid(4,2,3)", "grid(7,7,7)"}) {
    SCOPED_TRACE(shape);
    const auto topology = support::shape(shape);
    EXPECT_EQ(exact_efficiency({topology, of_megabytes(all_gather, topology.npus()), Occupancy::transfer}), 1.0);
  }
  EXPECT_EQ(exact_efficiency({support::mesh(10, 10), of_megabytes(all_gather, 100, 2), Occupancy::transfer}), 1.0);
  EXPECT_EQ(exact_efficiency({support::mesh(7, 12), of_megabytes(all_gather, 84, 3), Occupancy::transfer}), 1.0);
}

TEST(ExactEngine, MeetsTheBoundOnTori) {
  const auto torus = support::shape("torus(8,8,8)");
  EXPECT_EQ(exact_efficiency({torus, of_megabytes(all_gather, 512), Occupancy::transfer}), 1.0);
}

TEST(ExactEngine, ForwardsInTimeOverManyHops) {
  // A corner takes in 2,999 chunks over two links, the last of them over 168 hops: about one in nine rows.
  EXPECT_EQ(exact_efficiency({support::mesh(20, 150), of_megabytes(all_gather, 3000), Occupancy::transfer}), 1.0);
  // In a torus all NPUs need the last chunks at once. At most one row of 256 is lost.
  EXPECT_GE(exact_efficiency({support::shape("torus(32,32)"), of_megabytes(all_gather, 1024), Occupancy::transfer}),
            255.0 / 256);
}

TEST(ExactEngine, DoesNotLetAlphaIdleALinkUnderSerialization) {
  // Two chunks each: the second covers the alpha of the first. One chunk each: nothing can cover the first alpha, which
  // is 1/40 of a step, and the last chunk waits for alpha again.
  EXPECT_EQ(exact_efficiency({support::mesh(10, 10), of_megabytes(all_gather, 100, 2), Occupancy::serialization}), 1.0);
  EXPECT_EQ(exact_efficiency({support::mesh(16, 16), of_megabytes(all_gather, 256, 2), Occupancy::serialization}), 1.0);
  const auto torus = support::shape("torus(3,4,5)");
  EXPECT_EQ(exact_efficiency({torus, of_megabytes(all_gather, 60, 3), Occupancy::serialization}), 1.0);
  EXPECT_GE(exact_efficiency({support::mesh(20, 20), of_megabytes(all_gather, 400), Occupancy::serialization}), 0.999);
}

TEST(ExactEngine, PassesHopsThatTakeManySteps) {
  // alpha is 20 times beta*m: a chunk is under way for 21 rows.
  const auto topology = support::mesh(6, 6, microseconds(400));
  for (const std::int64_t chunks : {1, 5})
    EXPECT_GT(exact_efficiency({topology, of_megabytes(all_gather, 36, chunks), Occupancy::serialization}), 0.3);
}

TEST(ExactEngine, CopesWithRemovedLinks) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    const auto topology = degraded(support::mesh(16, 16), seed, 50);
    EXPECT_GE(exact_efficiency({topology, of_megabytes(all_gather, 256), Occupancy::transfer}), 0.98);
    EXPECT_GE(exact_efficiency({topology, of_megabytes(all_gather, 256, 2), Occupancy::serialization}), 0.98);
  }
}

TEST(ExactEngine, MakesValidSchedulesOfAnyGraph) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    for (const bool heterogeneous : {false, true})
      for (const Occupancy occupancy : {Occupancy::transfer, Occupancy::serialization}) {
        SCOPED_TRACE(seed);
        const auto topology = support::random_connected_topology(seed, 24, heterogeneous);
        const auto gather = of_megabytes(all_gather, topology.npus(), 1 + static_cast<std::int64_t>(seed % 3));
        (void)support::synthesize_checked("tacos", exact_problem({topology, gather, occupancy}, 1, 1 + seed % 4));
      }
}

TEST(ExactEngine, GivesEachDimensionItsOwnStep) {
  const auto topology =
      support::shape("mesh(8,5)", {support::kAlpha}, {gigabytes_per_second(100), gigabytes_per_second(50)});
  EXPECT_EQ(exact_efficiency({topology, of_megabytes(all_gather, 40), Occupancy::transfer}), 1.0);
}

TEST(ExactEngine, GathersInSeveralGroupsAtOnce) {
  // Two halves of a mesh and two bystanders; the groups have chunks of different sizes.
  const auto topology = support::mesh(6, 6);
  const auto gather = support::collective(all_gather, 36, bytes(18'000'000), 2, "0-17; 18-33");
  for (const Occupancy occupancy : {Occupancy::transfer, Occupancy::serialization})
    (void)support::synthesize_checked("tacos", exact_problem({topology, gather, occupancy}));
}

TEST(ExactEngine, MakesReductionsToo) {
  const auto topology = support::mesh(5, 4);
  for (const auto kind : {reduce_scatter, all_reduce})
    (void)support::synthesize_checked("tacos",
                                      exact_problem({topology, of_megabytes(kind, 20, 2), Occupancy::serialization}));
}

TEST(ExactEngine, RefusesWhatStepsCannotDo) {
  const auto errors = [](const Topology& topology, const Collective& collective) {
    return to_string(
        find_synthesizer("tacos")->synthesize(exact_problem({topology, collective, Occupancy::transfer})).errors());
  };
  EXPECT_THAT(errors(support::switched(4), of_megabytes(all_gather, 4)), HasSubstr("switches"));
  EXPECT_THAT(errors(support::line(4), of_megabytes(broadcast, 4)), HasSubstr("All-Gathers"));
  EXPECT_THAT(errors(support::line(4), support::collective(all_gather, 4, bytes(4000), 1, "0,2; 1,3")),
              HasSubstr("relays"));
}

TEST(ExactEngine, GivesTheSameScheduleForAnyNumberOfThreads) {
  // A million deliveries are work enough for eight threads.
  const auto mesh = support::mesh(33, 31);
  const auto gather = of_megabytes(all_gather, mesh.npus());
  const auto hash = [&](int threads) {
    const auto problem = exact_problem({mesh, gather, Occupancy::transfer}, threads);
    return schedule_hash(find_synthesizer("tacos")->synthesize(problem).value().schedule);
  };
  const auto one = hash(1);
  for (const int threads : {2, 4, 8}) EXPECT_EQ(hash(threads), one) << threads;
}

TEST(ExactEngine, GivesTheSameAttemptsForAnyNumberOfThreads) {
  const auto topology = degraded(support::mesh(12, 12), 5, 20);
  const auto gather = of_megabytes(all_gather, 144, 2);
  const auto run = [&](int threads) {
    return find_synthesizer("tacos")
        ->synthesize(exact_problem({topology, gather, Occupancy::serialization}, threads, 6))
        .value();
  };
  const auto one = run(1);
  for (const int threads : {2, 4, 8}) {
    const auto other = run(threads);
    EXPECT_EQ(schedule_hash(other.schedule), schedule_hash(one.schedule));
    EXPECT_EQ(other.best_attempt, one.best_attempt);
  }
}

/// All sends in (start, link) order, read link by link.
std::vector<Send> list_by_link(const Topology& topology, const Schedule& schedule) {
  std::vector<Send> sends;
  SendBuffer buffer;
  for (std::size_t tile = 0; tile < schedule.tiles(); ++tile) {
    const std::size_t before = sends.size();
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
      schedule.read_link(tile, LinkId(link), buffer);
      for (std::size_t i = 0; i < buffer.batch.size(); ++i) sends.push_back(buffer.batch[i]);
    }
    std::stable_sort(sends.begin() + static_cast<std::ptrdiff_t>(before), sends.end(),
                     [](const Send& a, const Send& b) { return a.start < b.start; });
  }
  return sends;
}

TEST(ExactEngine, IsReadAlikeByTimeAndByLink) {
  const std::vector<Topology> topologies{
      support::mesh(12, 9), support::random_connected_topology(3, 30, true),
      support::shape("grid(4,4,4)", {support::kAlpha},
                     {gigabytes_per_second(90), gigabytes_per_second(50), gigabytes_per_second(20)})};
  for (const auto& topology : topologies)
    for (const Occupancy occupancy : {Occupancy::transfer, Occupancy::serialization}) {
      const auto gather = of_megabytes(all_gather, topology.npus(), 2);
      const auto made = find_synthesizer("tacos")->synthesize(exact_problem({topology, gather, occupancy})).value();
      ASSERT_GT(made.schedule.tiles(), 0U);
      EXPECT_EQ(list_by_link(topology, made.schedule), list_sends(made.schedule));
    }
}

TEST(ExactEngine, IsChosenWhereProblemsAreLarge) {
  const auto engine_of = [](const Topology& topology) {
    const auto gather = of_megabytes(all_gather, topology.npus());
    return find_synthesizer("tacos")->synthesize({topology, gather, Occupancy::transfer}).value().engine;
  };
  EXPECT_EQ(engine_of(support::mesh(32, 32)), "exact");
  EXPECT_EQ(engine_of(support::mesh(5, 5)), "event_driven");
}

}  // namespace
}  // namespace tenex
