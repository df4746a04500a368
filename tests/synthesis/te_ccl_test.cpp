// te_ccl: optima of small machines against brute force, other synthesizers and published times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/topologies.hpp"
#include "support/wired.hpp"
#include "synthesis/hop_steps.hpp"
#include "synthesis/solvers/plan_player.hpp"
#include "synthesis/solvers/solve.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/te_ccl/epochs.hpp"
#include "synthesis/te_ccl/model.hpp"
#include "synthesis/te_ccl/search.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::kBusy;
using support::kMegabyte;
using support::random_graph;
using support::steps_by_brute_force;
using support::synthesize_checked;
using te_ccl::Rounding;

Synthesis te_ccl_of(const Instance& instance, Formulation formulation = Formulation::automatic,
                    EpochChoice epoch = {}) {
  SynthesisProblem problem{instance};
  problem.solver = {.formulation = formulation, .epoch = epoch, .nodes = 2000, .time_limit = {}};
  return synthesize_checked("te_ccl", problem);
}

// A hop of 20.5 us (busy 20 us) in epochs of 10 us: up, 2 busy epochs and arrival after 3; down, 2 and 2. In epochs of
// 50 us two sends fit into an epoch, and the second one of them arrives after 40.5 us.
TEST(TeCclEpochs, RoundUpToPlansAndDownToBounds) {
  const Topology topology = support::line(2);
  const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 2);
  const Instance instance{topology, gather};
  const auto up = te_ccl::epoch_grid(instance, kBusy / 2, Rounding::up);
  EXPECT_EQ(up.links[0].span, 2);
  EXPECT_EQ(up.links[0].latency, 3);
  EXPECT_FALSE(up.exact);
  const auto down = te_ccl::epoch_grid(instance, kBusy / 2, Rounding::down);
  EXPECT_EQ(down.links[0].span, 2);
  EXPECT_EQ(down.links[0].latency, 2);
  const auto long_ones = te_ccl::epoch_grid(instance, kBusy / 2 * 5, Rounding::up);
  EXPECT_EQ(long_ones.links[0].most, 2);
  EXPECT_EQ(long_ones.links[0].latency, 1);
  EXPECT_EQ(te_ccl::epoch_grid(instance, kBusy / 2 * 5, Rounding::down).links[0].most, 3);
  EXPECT_TRUE(te_ccl::epoch_grid(instance, nanoseconds(500), Rounding::up).exact);
}

// With alpha 0 an epoch is a hop, so the model is exact: te_ccl ends with a proof, and the proof is right.
TEST(TeCclProperty, EqualsBruteForceAndNoHeuristicIsFaster) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Topology topology = random_graph(4, static_cast<std::uint32_t>(seed % 5), seed);
    const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 4);
    const auto made = te_ccl_of({topology, gather});
    ASSERT_TRUE(made.solver.has_value());
    EXPECT_TRUE(made.solver->optimal) << seed;
    EXPECT_EQ(made.time, kBusy * steps_by_brute_force(topology)) << seed;
  }
}

// The search itself, without an incumbent that may already be best: it starts from a schedule that is too long.
TEST(TeCclProperty, SearchFromALongScheduleFindsTheOptimum) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Topology topology = random_graph(4, static_cast<std::uint32_t>(seed % 5), seed);
    const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 4);
    const Instance instance{topology, gather};
    auto sends = list_sends(support::tacos(instance).schedule);
    for (Send& send : sends) send.start = send.start * 2;  // every second epoch: twice as long
    const auto grid = te_ccl::epoch_grid(instance, kBusy, Rounding::up);
    SolverBudget budget = SolverBudget::of(0, 0);
    // One chunk after another: the order of this schedule needs more epochs than the best one.
    std::ranges::stable_sort(sends, {}, &Send::chunk);
    for (std::size_t i = 0; i < sends.size(); ++i) sends[i].start = kBusy * static_cast<std::int64_t>(i);
    const auto found = te_ccl::search_whole_chunks(instance, grid, make_list_schedule(sends), SimTime::zero(), budget);
    EXPECT_EQ(found.bound, kBusy * steps_by_brute_force(topology)) << seed;
    if (!found.schedule) continue;
    const Verdict verdict = verify(instance, *found.schedule);
    EXPECT_TRUE(verdict.valid());
    EXPECT_EQ(verdict.collective_time, found.bound) << seed;
  }
}

TEST(TeCclProperty, HeuristicsAreNeverFasterWithTwoChunks) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Topology topology = random_graph(4 + static_cast<std::uint32_t>(seed % 3), 4, seed);
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                            CollectiveKind::all_to_all}) {
      const Collective what = support::of_megabytes(kind, topology.npus(), 2);
      const Instance instance{topology, what};
      const auto made = te_ccl_of(instance);
      for (const char* other : {"tacos_reference", "pccl"})
        EXPECT_LE(made.time, synthesize_checked(other, {instance}).time) << other << ' ' << seed;
      EXPECT_GE(made.solver->gap, 0);
      EXPECT_LE(made.solver->gap, 1);
      EXPECT_EQ(made.solver->optimal, made.solver->gap == 0) << seed;
    }
  }
}

// Links that differ, either occupancy, reductions by reversal: schedules are valid (synthesize_checked), no slower than
// others, and never below what the solver proved.
TEST(TeCclProperty, HoldsWithAlphaAndUnequalLinks) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Topology topology = support::random_connected_topology(seed, 5, true);
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::broadcast,
                            CollectiveKind::all_to_all})
      for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
        const Collective what = support::of_megabytes(kind, topology.npus());
        const Instance instance{topology, what, occupancy};
        SynthesisProblem problem{instance};
        problem.solver.nodes = 200;
        problem.solver.epoch.by = EpochChoice::By::slowest;
        const auto made = synthesize_checked("te_ccl", problem);
        EXPECT_LE(made.time, synthesize_checked("pccl", {instance}).time) << seed;
        EXPECT_GE(made.solver->gap, 0) << seed;
      }
  }
}

// An All-Gather over one switch: without copies a link up carries a chunk three times, 3 * 20 us, one more chunk time
// from the switch down, and two alphas. A switch that copies gets each chunk once, but each link down carries three.
TEST(TeCcl, SendsOverSwitchesThatStoreAndForward) {
  const Topology plain = support::switched(4);
  const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 4);
  EXPECT_EQ(te_ccl_of({plain, gather}).time, kBusy * 4 + support::kAlpha * 2);
  const Topology copying = plain.with_switches(SwitchProperties{.copy = true});
  const auto made = te_ccl_of({copying, gather});
  EXPECT_EQ(made.time, kBusy * 4 + support::kAlpha * 2);
  // The model by itself, in epochs of 30 us: a hop takes one. The third copy of a chunk leaves its NPU in epoch 2
  // (where the switch copies, the third chunk leaves the switch in epoch 3), and arrives in epoch 4.
  for (const Topology* topology : {&plain, &copying}) {
    const Instance instance{*topology, gather};
    const auto grid = te_ccl::epoch_grid(instance, kBusy / 2 * 3, Rounding::up);
    const auto state = te_ccl::first_state(instance);
    SolverBudget budget = SolverBudget::of(0, 0);
    const auto three = te_ccl::build_model(instance, grid, state, {.horizon = 3});
    EXPECT_EQ(solve_mixed(three.program, SolveGoal::any_solution, budget).status, SolveStatus::infeasible);
    const auto four = te_ccl::build_model(instance, grid, state, {.horizon = 4});
    const auto solved = solve_mixed(four.program, SolveGoal::any_solution, budget);
    ASSERT_EQ(solved.status, SolveStatus::feasible);
    const auto plan = te_ccl::sends_of(four, solved.values);
    const auto played = play_plan(instance, plan);
    ASSERT_TRUE(played.has_value());
    EXPECT_TRUE(verify(instance, *played).valid());
    EXPECT_TRUE(verify(instance, make_list_schedule(te_ccl::timed(instance, grid, plan))).valid());
  }
}

// TE-CCL, Table 3: All-Gather of 1, 2 and 3 chunks of 25 KB in 4, 5 and 6.1 us, All-to-All of one chunk in 4 us. Two
// hops over slow links take 2 * (0.7 + 1) us = 3.4 us.
TEST(TeCcl, MeetsThePublishedTimesOnDgx1) {
  const Topology topology = support::dgx1();
  const auto gather = [&](std::int64_t chunks) {
    const Collective what = support::collective(CollectiveKind::all_gather, 8, bytes(25'000 * 8 * chunks), chunks);
    return te_ccl_of({topology, what}).time;
  };
  EXPECT_LE(gather(1), nanoseconds(4'000));
  EXPECT_LE(gather(2), nanoseconds(5'000));
  EXPECT_LE(gather(3), nanoseconds(6'100));
  const Collective all_to_all = support::collective(CollectiveKind::all_to_all, 8, bytes(25'000 * 8), 1);
  EXPECT_LE(te_ccl_of({topology, all_to_all}).time, nanoseconds(4'000));
}

// All-Gather of 2 chunks on a DGX-1: the bound is 3.4 us, the best other schedule takes 3.9 us (0.872 of it), and the
// solver reaches 3.6 us (0.944).
TEST(TeCcl, EndsAtAScheduleThatIsGoodEnough) {
  const Topology topology = support::dgx1();
  const Collective gather = support::collective(CollectiveKind::all_gather, 8, bytes(25'000 * 8 * 2), 2);
  const auto at = [&](std::int64_t thousandths) {
    SynthesisProblem problem{Instance{topology, gather}};
    problem.solver.nodes = 2000;
    problem.good_enough = {thousandths};
    return synthesize_checked("te_ccl", problem);
  };
  const auto known = at(80'000);
  EXPECT_EQ(known.engine, "incumbent");
  EXPECT_EQ(known.solver->seconds, 0);
  EXPECT_FALSE(known.solver->optimal);
  EXPECT_LE(known.solver->gap, 0.2);
  const auto searched = at(90'000);
  EXPECT_EQ(searched.engine, "milp");
  EXPECT_GT(searched.solver->seconds, 0);
  EXPECT_LE(searched.solver->gap, 0.1);
  EXPECT_LT(searched.time, known.time);
}

// Each formulation makes a valid schedule, or keeps the known one; rates are refused where chunks are copied.
/// A list of conditions of 1 MB each among all NPUs.
Collective listed(CollectiveKind kind, std::size_t npus, std::vector<Condition> conditions) {
  CollectiveRequest request;
  request.kind = kind;
  request.npus = npus;
  request.groups = parse_groups("all", npus).value();
  request.size = kMegabyte;
  for (auto& each : conditions) each.size = kMegabyte;
  request.groups.front().conditions = std::make_shared<const std::vector<Condition>>(std::move(conditions));
  return Collective::make(std::move(request)).value();
}

TEST(TeCcl, ProvesTheOptimaOfListsOfConditions) {
  const auto line = support::line(4, SimTime::zero());
  // One multicast along the whole line, and a chunk the other way: three hops each, on links of their own.
  const auto lists = listed(CollectiveKind::conditions, 4, {{0, {1, 2, 3}, {}}, {3, {0}, {}}});
  const auto along = te_ccl_of({line, lists});
  EXPECT_EQ(along.time, kBusy * 3);
  EXPECT_TRUE(along.solver->optimal);
  // On a ring of 5 each NPU has a chunk one link away, and one that is two links away clockwise and three the other
  // way: 15 hops over 10 links. In two steps all five chunks of two hops would take all ten places clockwise, and the
  // others would be four hops away. In three steps all go clockwise: 15 places.
  const auto ring = support::ring(5, SimTime::zero());
  std::vector<Condition> pairs;
  for (std::uint32_t rank = 0; rank < 5; ++rank)
    for (const std::uint32_t step : {1U, 2U}) pairs.push_back({rank, {(rank + step) % 5}, {}});
  const auto matrix = listed(CollectiveKind::all_to_allv, 5, std::move(pairs));
  const auto around = te_ccl_of({ring, matrix});
  EXPECT_EQ(around.time, kBusy * 3);
  EXPECT_TRUE(around.solver->optimal);
  // Rates of chunks with one destination: fluid, two steps would carry one and a half hops per link.
  EXPECT_EQ(te_ccl_of({ring, matrix}, Formulation::lp).time, kBusy * 3);
  std::vector<Condition> both;
  for (std::uint32_t rank = 0; rank < 5; ++rank)
    for (const std::uint32_t step : {1U, 4U}) both.push_back({rank, {(rank + step) % 5}, {}});
  const auto halo = te_ccl_of({ring, listed(CollectiveKind::halo_exchange, 5, std::move(both))});
  EXPECT_EQ(halo.time, kBusy);
  EXPECT_TRUE(halo.solver->optimal);
}

TEST(TeCcl, HasThreeFormulations) {
  const Topology topology = random_graph(5, 3, 7);
  const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 5);
  const Collective all_to_all = support::of_megabytes(CollectiveKind::all_to_all, 5);
  const auto best = te_ccl_of({topology, gather}, Formulation::milp);
  EXPECT_GE(te_ccl_of({topology, gather}, Formulation::a_star).time, best.time);
  EXPECT_GE(te_ccl_of({topology, all_to_all}, Formulation::lp).time,
            te_ccl_of({topology, all_to_all}, Formulation::milp).time);
  SynthesisProblem problem{{topology, gather}};
  problem.solver.formulation = Formulation::lp;
  const auto refused = find_synthesizer("te_ccl")->synthesize(problem);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.errors()[0].problem, ::testing::HasSubstr("one destination"));
}

// With a slow link the fastest All-Reduce known may be by trees, which has no halves. The schedule without overlap is
// then another one, and as valid (synthesize_checked verifies both).
TEST(TeCcl, AnAllReduceHasHalvesWhereTheFastestHasNone) {
  const Topology ring = support::ring(3);
  for (const std::int64_t thousandths : {1000, 4000}) {
    const Topology topology = slow_links(ring, {{VertexId(0), VertexId(1), thousandths}}).value();
    const Collective reduce = support::collective(CollectiveKind::all_reduce, 3, kMegabyte, 2);
    const Synthesis made = te_ccl_of({topology, reduce});
    EXPECT_GT(made.without_overlap.sends(), 0U);
  }
}

// A straggler's link takes four times as long for the bytes, 80 us and alpha. A Broadcast on a ring of three goes the
// other way round, two hops of 20 us and alpha; its models know that, too: in epochs of 20.5 us the slow link's hop
// takes four, so that horizon 2 has a plan and horizon 1 has none.
TEST(TeCcl, GoesAroundAStraggler) {
  const Topology topology = slow_links(support::ring(3), {{VertexId(0), VertexId(1), 4000}}).value();
  const Collective broadcast = support::of_megabytes(CollectiveKind::broadcast, 3);
  const Instance instance{topology, broadcast};
  EXPECT_EQ(te_ccl_of(instance).time, (kBusy + support::kAlpha) * 2);
  const auto grid = te_ccl::epoch_grid(instance, kBusy + support::kAlpha, Rounding::up);
  EXPECT_EQ(te_ccl::least_horizon(instance, grid, te_ccl::first_state(instance)), 2);
  const auto slow = topology.out_links(VertexId(0)).front();
  EXPECT_EQ(grid.links[slow.index()].latency, topology.target(slow) == VertexId(1) ? 4 : 1);
}

// Links are busy for 20 us and have as much latency, and a straggler's twice as much: its hop takes 60 us, others 40
// us. A Broadcast of two chunks on a ring of three: before 80 us, NPU 1 gets one chunk over the slow link, which a
// second one leaves at 80 us, and nothing over two hops. At 80 us it has both. Counts of link times allow 60 us, the
// time without the straggler, so that only the model proves it; epochs of 20 us describe it exactly.
TEST(TeCcl, KnowsAStragglerByItsLatency) {
  const Topology ring = support::ring(3, kBusy);
  const Topology slow = slow_links(ring, {{VertexId(0), VertexId(1), kNoSlowdown, 2000}}).value().without_shape();
  const Collective broadcast = support::collective(CollectiveKind::broadcast, 3, kMegabyte * 2, 2);
  EXPECT_EQ(te_ccl_of({ring, broadcast}).time, kBusy * 3);
  const auto made = te_ccl_of({slow, broadcast});
  EXPECT_EQ(made.time, kBusy * 4);
  ASSERT_TRUE(made.solver.has_value());
  EXPECT_TRUE(made.solver->optimal);
}

// On a line of three, the second NPU may send on what it has to the third, and the third, in case it comes from there,
// to the second: for each of both in each of K epochs a row of all sends so far, K^2 terms together. Those are
// 810,000 at K = 900 (a few epochs less, in which nothing can be there), and at 2,000 four times what a model may
// have.
TEST(TeCcl, BuildsNoModelOfTooManyTerms) {
  const Topology topology = support::line(3);
  const Collective broadcast = support::of_megabytes(CollectiveKind::broadcast, 3);
  const Instance instance{topology, broadcast};
  const auto grid = te_ccl::epoch_grid(instance, kBusy, Rounding::up);
  const auto terms = [&](int horizon) {
    const auto model = te_ccl::build_model(instance, grid, te_ccl::first_state(instance), {.horizon = horizon});
    return model.program.columns.size();
  };
  EXPECT_GE(terms(900), 790'000);
  EXPECT_LE(terms(900), 830'000);
  EXPECT_EQ(terms(2000), 0);
}

// The rounds and the rates by themselves make valid schedules, whatever the known ones are.
TEST(TeCcl, SearchesMakeValidSchedules) {
  const Topology topology = support::dgx1();
  const Collective gather = support::collective(CollectiveKind::all_gather, 8, bytes(25'000 * 8), 1);
  const Instance gathers{topology, gather};
  SolverBudget budget = SolverBudget::of(2000, 0);
  const SimTime length = te_ccl::epoch_length(gathers, {});
  EXPECT_EQ(length, nanoseconds(500));  // 25 KB at 50 GB/s
  const auto rounds = te_ccl::search_in_rounds(gathers, te_ccl::epoch_grid(gathers, length, Rounding::up), budget);
  ASSERT_TRUE(rounds.schedule.has_value());
  EXPECT_TRUE(verify(gathers, *rounds.schedule).valid());
  const Collective all_to_all = support::collective(CollectiveKind::all_to_all, 8, bytes(25'000 * 8), 1);
  const Instance pairs{topology, all_to_all};
  SolverBudget more = SolverBudget::of(2000, 0);
  const auto rates = te_ccl::search_rates(pairs, te_ccl::epoch_grid(pairs, length, Rounding::up), nanoseconds(6'000),
                                          SimTime::zero(), more);
  ASSERT_TRUE(rates.schedule.has_value());
  const Verdict verdict = verify(pairs, *rates.schedule);
  EXPECT_TRUE(verdict.valid());
  EXPECT_GE(verdict.collective_time, rates.bound);
}

// All-to-All of chunks of 2 bytes over two leaves and two spines with an alpha of 1 us at 50 GB/s, `transfer`: the
// default epoch, five times the 40 ps of a chunk, makes a hop of 5,001 epochs, which a link is busy for. Rows of all
// windows of so many epochs would have hundreds of millions of terms. They are not built, and epochs four times as long
// are taken until models fit. (Where the known schedule is at its bound, as over one switch, no model is needed.)
TEST(TeCclLimits, TakeLongerEpochsWhereAlphaIsMuchLongerThanAChunk) {
  const Topology topology = support::shape("leaf_spine(2,3,2)", {microseconds(1)});
  const Collective exchange = support::collective(CollectiveKind::all_to_all, 6, bytes(12));
  SynthesisProblem problem{{topology, exchange, Occupancy::transfer}};
  problem.solver.time_limit = microseconds(10'000);
  const SimTime epoch = te_ccl::epoch_length(problem, problem.solver.epoch);
  EXPECT_EQ(epoch, picoseconds(200));
  const auto made = synthesize_checked("te_ccl", problem);
  ASSERT_TRUE(made.solver.has_value());
  EXPECT_GE(made.solver->epoch, epoch * 4);
  EXPECT_GE(made.solver->bound, best_cheap_bound({problem, true}).time);
}

// The same of whole chunks: a horizon of the known time has 25,000 epochs for each of two hops.
TEST(TeCclLimits, BuildNoModelOfMoreTermsThanTheMemoryThatIsPlanned) {
  const Topology topology = support::switched(4, microseconds(1));
  const Collective broadcast = support::collective(CollectiveKind::broadcast, 4, bytes(8), 2);
  const Instance instance{topology, broadcast, Occupancy::transfer};
  const auto grid = te_ccl::epoch_grid(instance, picoseconds(200), Rounding::up);
  const auto model =
      te_ccl::build_model(instance, grid, te_ccl::first_state(instance), {.horizon = 25'000, .limits = false});
  EXPECT_EQ(model.program.row_count(), 0);
  EXPECT_TRUE(model.sends.empty());
}

}  // namespace
}  // namespace tenex
