// The exact engine for links that differ: valid, at the bound, with any groups and missing NPUs, the same for any
// number of threads.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "synthesis/synthesis_support.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::of_megabytes;
using enum CollectiveKind;

Topology with_bandwidths(std::string_view shape, const std::vector<int>& gbps) {
  std::vector<Bandwidth> bandwidth;
  for (const int each : gbps) bandwidth.push_back(gigabytes_per_second(each));
  return support::shape(shape, {support::kAlpha}, std::move(bandwidth));
}

SynthesisProblem levels_problem(const Instance& instance, std::uint32_t attempts = 1, int threads = 1) {
  return {instance, {1, attempts, "exact"}, threads};
}

/// Synthesizes and verifies; returns bound / time.
double levels_efficiency(const Instance& instance, std::uint32_t attempts = 1) {
  const auto made = support::synthesize_checked("tacos", levels_problem(instance, attempts));
  EXPECT_EQ(made.engine, "exact");
  return support::efficiency(instance, made.time);
}

TEST(LevelsEngine, MeetsTheBoundOnMeshesOfTwoBandwidths) {
  for (const auto& gbps : std::vector<std::vector<int>>{{200, 50}, {100, 200}, {150, 100}}) {
    const auto mesh = with_bandwidths("mesh(24,24)", gbps);
    SCOPED_TRACE(std::to_string(gbps[0]) + " and " + std::to_string(gbps[1]) + " GB/s");
    EXPECT_EQ(levels_efficiency({mesh, of_megabytes(all_gather, 576), Occupancy::transfer}), 1.0);
    EXPECT_EQ(levels_efficiency({mesh, of_megabytes(all_gather, 576, 2), Occupancy::serialization}), 1.0);
    EXPECT_GE(levels_efficiency({mesh, of_megabytes(all_gather, 576), Occupancy::serialization}), 0.99);
  }
}

TEST(LevelsEngine, MeetsTheBoundOnGridsOfThreeBandwidths) {
  for (const auto& gbps : std::vector<std::vector<int>>{{200, 100, 50}, {50, 200, 100}}) {
    const auto grid = with_bandwidths("grid(8,10,12)", gbps);
    EXPECT_GE(levels_efficiency({grid, of_megabytes(all_gather, 960), Occupancy::transfer}), 0.98);
    EXPECT_GE(levels_efficiency({grid, of_megabytes(all_gather, 960, 2), Occupancy::serialization}), 0.98);
  }
}

TEST(LevelsEngine, GathersInGroupsAlongDimensions) {
  // Each half of the mesh by itself, cut across the slow and across the fast dimension.
  for (const auto& gbps : std::vector<std::vector<int>>{{200, 50}, {50, 200}}) {
    const auto mesh = with_bandwidths("mesh(20,20)", gbps);
    const auto gather = support::collective(all_gather, 400, bytes(400'000'000), 2, "0-199; 200-399");
    EXPECT_GE(levels_efficiency({mesh, gather, Occupancy::transfer}), 0.98);
    EXPECT_GE(levels_efficiency({mesh, gather, Occupancy::serialization}), 0.98);
  }
}

TEST(LevelsEngine, CopesWithRemovedLinks) {
  auto mesh = with_bandwidths("mesh(20,20)", {200, 50});
  // A slow link and two fast ones in the middle.
  mesh = remove_links(mesh,
                      {{VertexId(210), VertexId(230)}, {VertexId(105), VertexId(106)}, {VertexId(287), VertexId(288)}})
             .value();
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
    EXPECT_GE(levels_efficiency({mesh, of_megabytes(all_gather, 400), occupancy}, 4), 0.98);
}

TEST(LevelsEngine, CopesWithAMissingNpu) {
  auto mesh = with_bandwidths("mesh(20,20)", {200, 50});
  std::vector<std::pair<VertexId, VertexId>> links;
  for (const std::uint32_t neighbour : {209U, 211U, 190U, 230U}) links.emplace_back(VertexId(210), VertexId(neighbour));
  mesh = remove_links(mesh, links).value();
  const auto gather = support::collective(all_gather, 400, bytes(399'000'000), 1, "0-209,211-399");
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
    EXPECT_GE(levels_efficiency({mesh, gather, occupancy}, 4), 0.98);
}

TEST(LevelsEngine, MakesReductionsToo) {
  const auto mesh = with_bandwidths("mesh(9,7)", {100, 50});
  for (const auto kind : {reduce_scatter, all_reduce})
    (void)support::synthesize_checked("tacos",
                                      levels_problem({mesh, of_megabytes(kind, 63, 2), Occupancy::serialization}));
}

TEST(LevelsEngine, GivesTheSameScheduleForAnyNumberOfThreads) {
  // More than a million deliveries are work enough for eight threads, the grid has enough for two.
  const std::vector<std::pair<Topology, std::int64_t>> cases{{with_bandwidths("mesh(25,30)", {200, 50}), 2},
                                                             {with_bandwidths("grid(8,8,9)", {50, 100, 200}), 1}};
  for (const auto& [topology, chunks] : cases) {
    const auto gather = of_megabytes(all_gather, topology.npus(), chunks);
    const auto hash = [&](int threads) {
      const auto problem = levels_problem({topology, gather, Occupancy::serialization}, 1, threads);
      return schedule_hash(find_synthesizer("tacos")->synthesize(problem).value().schedule);
    };
    const auto one = hash(1);
    for (const int threads : {2, 4, 8}) EXPECT_EQ(hash(threads), one) << threads;
  }
}

TEST(LevelsEngine, IsChosenWhereProblemsAreLargeAndLinksDiffer) {
  const auto engine_of = [](const Topology& topology) {
    const auto gather = of_megabytes(all_gather, topology.npus());
    return find_synthesizer("tacos")->synthesize({topology, gather, Occupancy::transfer}).value().engine;
  };
  EXPECT_EQ(engine_of(with_bandwidths("mesh(32,32)", {200, 50})), "exact");
  EXPECT_EQ(engine_of(with_bandwidths("mesh(8,5)", {200, 50})), "event_driven");
}

}  // namespace
}  // namespace tenex
