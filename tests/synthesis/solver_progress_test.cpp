// What synthesizers with solvers tell while they work, and that they end when their time has passed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "synthesis/hop_steps.hpp"
#include "synthesis/solvers/solve.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/te_ccl/epochs.hpp"
#include "synthesis/te_ccl/model.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/synthesis/solver_progress.hpp"

namespace tenex {
namespace {

using support::synthesize_checked;

/// Synthesizes and records every moment.
Synthesis recorded(const std::string& name, SynthesisProblem problem, std::vector<SolverMoment>& moments) {
  problem.solver_progress = [&moments](const SolverMoment& moment) { moments.push_back(moment); };
  return synthesize_checked(name, problem);
}

void expect_progress(const std::vector<SolverMoment>& moments, const Synthesis& made, const std::string& what) {
  ASSERT_FALSE(moments.empty()) << what;
  for (std::size_t i = 1; i < moments.size(); ++i) {
    EXPECT_LE(moments[i].gap, moments[i - 1].gap) << what;
    EXPECT_GE(moments[i].bound, moments[i - 1].bound) << what;
    EXPECT_GE(moments[i].nodes, moments[i - 1].nodes) << what;
    EXPECT_GE(moments[i].seconds, moments[i - 1].seconds) << what;
    if (moments[i - 1].time > SimTime::zero()) {
      EXPECT_LE(moments[i].time, moments[i - 1].time) << what;
    }
  }
  ASSERT_TRUE(made.solver.has_value()) << what;
  EXPECT_EQ(moments.back().gap, made.solver->gap) << what;
  EXPECT_EQ(moments.back().time, made.time) << what;
  EXPECT_EQ(moments.back().nodes, made.solver->nodes) << what;
}

// Two chunks of 25 KB on a DGX-1: epochs of 100 ns divide all times, and the optimum is 3.6 us, 36 epochs. The bounds
// say 3.4 us, so the horizons of 34 and 35 epochs are refuted, and the gap falls from that of the best known schedule
// to 0.
TEST(SolverProgress, TellsOfAGapThatFallsToTheReportedOne) {
  const Topology topology = support::dgx1();
  const Collective gather = support::collective(CollectiveKind::all_gather, 8, bytes(25'000 * 16), 2);
  SynthesisProblem problem{Instance{topology, gather}};
  problem.solver.epoch = {.by = EpochChoice::By::length, .length = nanoseconds(100)};
  std::vector<SolverMoment> moments;
  const Synthesis made = recorded("te_ccl", problem, moments);
  expect_progress(moments, made, "te_ccl");
  EXPECT_EQ(moments.front().epochs, -1);
  EXPECT_EQ(moments.front().bound, nanoseconds(3'400));
  EXPECT_GT(moments.front().time, nanoseconds(3'600));
  EXPECT_EQ(moments.back().epochs, 36);
  EXPECT_EQ(moments.back().bound, nanoseconds(3'600));
  EXPECT_EQ(moments.back().time, nanoseconds(3'600));
  EXPECT_EQ(moments.back().gap, 0);
  EXPECT_GE(moments.back().nodes, 1);
}

// Reductions are gathers backwards, and an All-Reduce has two searches where links have no opposites.
TEST(SolverProgress, NeverRisesOverTheHalvesOfAReduction) {
  for (const char* name : {"te_ccl", "taccl", "sccl"})
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Topology topology = support::random_graph(4, 2, seed);
      for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
        const Collective what = support::of_megabytes(kind, 4, 2);
        std::vector<SolverMoment> moments;
        const Synthesis made = recorded(name, SynthesisProblem{Instance{topology, what}}, moments);
        expect_progress(moments, made, std::string(name) + ' ' + std::to_string(seed));
      }
    }
}

TEST(SolverProgress, ChangesNoResult) {
  const Topology topology = support::random_graph(5, 3, 1);
  const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 5, 2);
  for (const char* name : {"te_ccl", "taccl", "sccl"}) {
    const SynthesisProblem problem{Instance{topology, gather}};
    std::vector<SolverMoment> moments;
    const Synthesis told = recorded(name, problem, moments);
    const Synthesis silent = synthesize_checked(name, problem);
    EXPECT_EQ(list_sends(told.schedule), list_sends(silent.schedule)) << name;
    EXPECT_EQ(told.solver->nodes, silent.solver->nodes) << name;
  }
}

// An All-to-All of 25 KB for each pair on a DGX-1: 16 chunks go from NPUs 0 to 3 to the others, over two links of 50
// GB/s (0.5 us for a chunk) and two of 25 GB/s (1 us). In 2.5 us these start 5 + 5 + 2 + 2 = 14, in 3 us 18. With alpha
// 0.7 us, no schedule takes less than 3.7 us; the bounds that ask for no search say less. All state what that proves.
TEST(SolverReports, StateWhatTheCutProves) {
  const Topology topology = support::dgx1();
  const Collective pairs = support::collective(CollectiveKind::all_to_all, 8, bytes(25'000 * 8), 1);
  const SimTime cut = nanoseconds(3'700);
  EXPECT_LT(best_cheap_bound({topology, pairs}).time, cut);
  for (const char* name : {"te_ccl", "taccl", "sccl"}) {
    SynthesisProblem problem{Instance{topology, pairs}};
    problem.solver.nodes = 1;
    const Synthesis made = synthesize_checked(name, problem);
    EXPECT_EQ(made.solver->bound, cut) << name;
    EXPECT_EQ(made.solver->optimal, made.time == cut) << name;
    EXPECT_DOUBLE_EQ(made.solver->gap, proven_gap(made.time, cut)) << name;
  }
}

// The model of 36 epochs of 100 ns has more rows than the simplex can satisfy in no time. With a limit that has passed
// at once it ends before it has made a tenth of its iterations, and no node is searched.
TEST(SolverTimeLimit, EndsTheRelaxationOfAProgram) {
  const Topology topology = support::dgx1();
  const Collective gather = support::collective(CollectiveKind::all_gather, 8, bytes(25'000 * 16), 2);
  const Instance instance{topology, gather};
  const auto grid = te_ccl::epoch_grid(instance, nanoseconds(100), te_ccl::Rounding::up);
  const auto model = te_ccl::build_model(instance, grid, te_ccl::first_state(instance), {.horizon = 36});
  SolverBudget unlimited = SolverBudget::of(1, 0);
  (void)solve_mixed(model.program, SolveGoal::any_solution, unlimited);
  SolverBudget late = SolverBudget::of(0, 1e-9);
  EXPECT_EQ(solve_mixed(model.program, SolveGoal::any_solution, late).status, SolveStatus::unknown);
  EXPECT_TRUE(late.clock_ended);
  EXPECT_EQ(late.nodes_used, 1);
  EXPECT_LT(late.iterations_used, unlimited.iterations_used / 10);
}

// A picosecond passes before the first search ends. No second one begins: no longer horizon is tried, and an All-Reduce
// has one node for each of its halves (links of this graph have no opposites).
TEST(SolverTimeLimit, BeginsNoSearchWhenItHasPassed) {
  const Topology dgx1 = support::dgx1();
  const Topology one_way = support::random_graph(5, 3, 1);
  for (const char* name : {"te_ccl", "taccl"})
    for (const Topology* topology : {&dgx1, &one_way}) {
      const bool halves = topology == &one_way;
      const auto kind = halves ? CollectiveKind::all_reduce : CollectiveKind::all_gather;
      const Collective what = support::of_megabytes(kind, topology->npus(), 2);
      SynthesisProblem problem{Instance{*topology, what}};
      problem.solver.time_limit = picoseconds(1);
      const Synthesis made = synthesize_checked(name, problem);
      EXPECT_LE(made.solver->nodes, halves ? 2 : 1) << name;
      if (halves) continue;
      EXPECT_EQ(made.solver->nodes, 1) << name;
      EXPECT_TRUE(made.solver->clock_ended) << name;
    }
}

// Whenever the clock ends the search for the optimum of 3.6 us, in the simplex or in a node, the schedule is valid
// (synthesize_checked) and no bound is above the optimum.
TEST(SolverTimeLimit, NeverMakesAProofOfAnEndedSearch) {
  const Topology topology = support::dgx1();
  const Collective gather = support::collective(CollectiveKind::all_gather, 8, bytes(25'000 * 16), 2);
  SynthesisProblem problem{Instance{topology, gather}};
  problem.solver.epoch = {.by = EpochChoice::By::length, .length = nanoseconds(100)};
  std::vector<std::int64_t> limits{1, 50, 200};
  if (support::long_run()) limits = {1, 20, 50, 100, 200, 300, 400};
  for (const std::int64_t milliseconds : limits) {
    problem.solver.time_limit = nanoseconds(milliseconds * 1'000'000);
    const Synthesis made = synthesize_checked("te_ccl", problem);
    EXPECT_LE(made.solver->bound, nanoseconds(3'600)) << milliseconds;
    EXPECT_GE(made.time, nanoseconds(3'600)) << milliseconds;
  }
}

}  // namespace
}  // namespace tenex
