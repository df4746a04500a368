// sccl: costs of synchronous schedules against brute force and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "synthesis/hop_steps.hpp"
#include "synthesis/sccl/satisfy.hpp"
#include "synthesis/synthesis_support.hpp"

namespace tenex {
namespace {

using support::kBusy;
using support::synthesize_checked;
using ::testing::HasSubstr;

Synthesis sccl_of(const Instance& instance, std::int64_t nodes = 0) {
  SynthesisProblem problem{instance};
  problem.solver.nodes = nodes;
  return synthesize_checked("sccl", problem);
}

/// A line of three NPUs both ways at 1 MB a microsecond.
Topology three_in_line(SimTime alpha) {
  TopologyBuilder builder(3);
  for (const auto& [from, to] : {std::pair(0, 1), {1, 0}, {1, 2}, {2, 1}})
    builder.add_link({VertexId(static_cast<std::uint32_t>(from)), VertexId(static_cast<std::uint32_t>(to)), alpha,
                      bytes_per_second(1'000'000'000'000)});
  return std::move(builder).build().value();
}

// Without latency steps cost nothing, so the least rounds are the least steps of one round.
TEST(ScclProperty, RoundsEqualBruteForceWithoutLatency) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Topology topology = support::random_graph(4, static_cast<std::uint32_t>(seed % 5), seed);
    const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 4);
    EXPECT_EQ(sccl_of({topology, gather}).time, kBusy * support::steps_by_brute_force(topology)) << seed;
  }
}

// Two chunks go from one end of a line to the other. In two steps of two rounds each they take 2 alpha + 4 beta; in
// three steps of one round each, one behind the other, 3 alpha + 3 beta. So steps are saved where alpha > beta.
TEST(Sccl, SavesStepsOrRoundsByTheirCost) {
  const SimTime beta = nanoseconds(1'000);  // 1 MB
  const Collective broadcast = support::collective(CollectiveKind::broadcast, 3, bytes(2'000'000), 2);
  const Topology slow = three_in_line(beta * 3);
  EXPECT_EQ(sccl_of({slow, broadcast}).time, beta * 10);
  const Topology quick = three_in_line(nanoseconds(500));
  EXPECT_EQ(sccl_of({quick, broadcast}).time, nanoseconds(4'500));
}

// DGX-1: links of 50 GB/s carry two chunks of 25 KB in the microsecond of a round, links of 25 GB/s one. An NPU's
// in-links bring 6 chunks in a round. One chunk from each NPU needs 7 receipts, so two rounds; the diameter is 2. Two
// chunks need 14, so three rounds in two steps: 1.4 + 3 us.
TEST(Sccl, TakesTheLeastRoundsOnDgx1) {
  const Topology topology = support::dgx1();
  for (const std::int64_t chunks : {1, 2}) {
    const Collective gather = support::collective(CollectiveKind::all_gather, 8, bytes(25'000 * 8 * chunks), chunks);
    const Instance instance{topology, gather};
    const auto stepped = sccl::SteppedProblem::of(SynthesisProblem{instance});
    ASSERT_TRUE(stepped.ok());
    EXPECT_EQ(stepped->least_steps(), 2U);
    EXPECT_EQ(stepped->least_rounds(), static_cast<std::uint32_t>(chunks + 1));
    const auto made = sccl_of(instance);
    EXPECT_LE(made.time, stepped->cost(2, static_cast<std::uint32_t>(chunks + 1)));
    EXPECT_LE(made.time, nanoseconds(1'400 + 1'000 * (chunks + 1)));
  }
}

// One round fewer than an NPU's in-links need is refuted, and what is satisfied is valid.
TEST(Sccl, AnswersPairs) {
  const Topology topology = support::dgx1();
  const Collective gather = support::collective(CollectiveKind::all_gather, 8, bytes(25'000 * 8 * 2), 2);
  const Instance instance{topology, gather};
  const auto stepped = sccl::SteppedProblem::of(SynthesisProblem{instance});
  ASSERT_TRUE(stepped.ok());
  SolverBudget budget = SolverBudget::of(0, 0);
  EXPECT_EQ(sccl::satisfy(*stepped, 2, 2, budget).status, SolveStatus::infeasible);
  const auto three = sccl::satisfy(*stepped, 2, 3, budget);
  ASSERT_EQ(three.status, SolveStatus::feasible);
  EXPECT_EQ(three.plan.rounds.size(), 2U);
  EXPECT_LE(three.plan.rounds[0] + three.plan.rounds[1], 3U);
  EXPECT_TRUE(verify(instance, stepped->schedule(three.plan)).valid());
  EXPECT_TRUE(verify(instance, stepped->schedule(sccl::greedy_plan(*stepped))).valid());
}

// With proofs or without.
TEST(ScclProperty, MakesEveryCollectiveOnRandomGraphs) {
  const auto seeds = static_cast<std::uint64_t>(support::draws(3, 8));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Topology topology = support::random_graph(4 + static_cast<std::uint32_t>(seed % 3), 4, seed);
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                            CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all,
                            CollectiveKind::gather, CollectiveKind::scatter}) {
      const Collective what = support::of_megabytes(kind, topology.npus(), 2);
      const auto made = sccl_of({topology, what}, 5);  // a limit may come first
      ASSERT_TRUE(made.solver.has_value());
      EXPECT_EQ(made.solver->optimal, made.solver->gap == 0);
    }
  }
}

TEST(Sccl, RefusesMachinesThatAreNotHomogeneous) {
  const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 2);
  const auto refused = [&](SimTime alpha, std::int64_t gigabytes, Occupancy occupancy) {
    TopologyBuilder builder(2);
    builder.add_link({VertexId(0), VertexId(1), nanoseconds(500), bytes_per_second(50'000'000'000)});
    builder.add_link({VertexId(1), VertexId(0), alpha, bytes_per_second(gigabytes * 1'000'000'000)});
    const Topology topology = std::move(builder).build().value();
    const auto stepped = sccl::SteppedProblem::of(SynthesisProblem{{topology, gather, occupancy}});
    return stepped.ok() ? std::string() : stepped.errors()[0].problem;
  };
  EXPECT_EQ(refused(nanoseconds(500), 100, Occupancy::serialization), "");
  EXPECT_THAT(refused(nanoseconds(600), 50, Occupancy::serialization), HasSubstr("latencies differ"));
  EXPECT_THAT(refused(nanoseconds(500), 75, Occupancy::serialization), HasSubstr("no multiple"));
  EXPECT_THAT(refused(nanoseconds(500), 100, Occupancy::transfer), HasSubstr("bandwidths differ"));
}

}  // namespace
}  // namespace tenex
