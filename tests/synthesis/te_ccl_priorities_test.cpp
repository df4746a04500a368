// te_ccl with priorities of process groups: which group ends first, and sums against brute force.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "synthesis/hop_steps.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/te_ccl/epochs.hpp"
#include "synthesis/te_ccl/search.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {
namespace {

using support::kBusy;
using support::kMegabyte;
using te_ccl::Rounding;
using Weights = std::vector<std::int64_t>;
using Members = std::vector<std::vector<std::uint32_t>>;

/// A collective of chunks of 1 MB side by side in groups of equal sizes.
Collective in_groups(CollectiveKind kind, std::size_t npus, const Members& members, std::int64_t chunks = 1) {
  CollectiveRequest request{.kind = kind, .npus = npus, .groups = {}, .chunks = chunks, .size = {}};
  for (const auto& group : members) {
    ProcessGroup part;
    for (const auto npu : group) part.members.emplace_back(npu);
    request.groups.push_back(std::move(part));
  }
  const auto owners = kind == CollectiveKind::broadcast ? 1 : static_cast<std::int64_t>(members.front().size());
  request.size = kMegabyte * (owners * chunks);
  return Collective::make(std::move(request)).value();
}

Synthesis by_priority(const Instance& instance, Weights weights) {
  SynthesisProblem problem{instance};
  problem.solver.nodes = 2000;
  problem.solver.priorities = {std::move(weights)};
  return support::synthesize_checked("te_ccl", problem);
}

/// The last arrival of each group.
std::vector<SimTime> finishes(const Instance& instance, const Schedule& schedule) {
  const HopTimes hops(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  std::vector<SimTime> last(instance.collective.groups().size());
  for (const Send& send : list_sends(schedule)) {
    SimTime& of_group = last[instance.collective.group_of(send.chunk).index()];
    of_group = std::max(of_group, send.start + hops.at(instance.topology.class_of(send.link), 0).latency);
  }
  return last;
}

/// Two sources, a bridge, two ends: 0 and 1 to 2, 2 to 3, 3 to 4 and 5, and links back from the ends.
std::vector<Link> links_of_bridge(SimTime alpha) {
  std::vector<Link> links;
  for (const auto& [from, to] : {std::pair(0U, 2U), {1U, 2U}, {2U, 3U}, {3U, 4U}, {3U, 5U}, {4U, 0U}, {5U, 1U}})
    links.push_back({VertexId(from), VertexId(to), alpha, support::kBandwidth});
  return links;
}
Topology bridge(SimTime alpha) { return support::graph(6, links_of_bridge(alpha)); }

// Each group broadcasts a chunk over the bridge, three hops of 20 us. Both chunks are there after one hop, and the
// bridge takes them one after the other: the first group ends after 60 us, the second after 80 us.
TEST(TeCclPriorities, DecideWhichGroupCrossesABridgeFirst) {
  const Topology topology = bridge(SimTime::zero());
  const Collective both = in_groups(CollectiveKind::broadcast, 6, {{0, 4}, {1, 5}});
  const Instance instance{topology, both};
  for (const auto& [weights, expected] :
       {std::pair(Weights{2, 1}, std::vector{kBusy * 3, kBusy * 4}), {Weights{1, 2}, {kBusy * 4, kBusy * 3}}}) {
    const auto made = by_priority(instance, weights);
    EXPECT_EQ(made.time, kBusy * 4);
    EXPECT_EQ(finishes(instance, made.schedule), expected);
    EXPECT_TRUE(made.solver->optimal);
    EXPECT_EQ(made.left_out, "");
  }
}

// With a latency of 0.5 us a hop takes 20.5 us, two epochs of 20 us. The plan in epochs is re-timed: 61.5 us, and 81.5
// us for the group that waits 20 us for the bridge.
TEST(TeCclPriorities, AreWeighedInPlansThatRoundHopsUp) {
  const Topology topology = bridge(support::kAlpha);
  const Collective both = in_groups(CollectiveKind::broadcast, 6, {{0, 4}, {1, 5}});
  const Instance instance{topology, both};
  const SimTime first = (kBusy + support::kAlpha) * 3;
  EXPECT_EQ(finishes(instance, by_priority(instance, {5, 1}).schedule), (std::vector{first, first + kBusy}));
  EXPECT_EQ(finishes(instance, by_priority(instance, {1, 5}).schedule), (std::vector{first + kBusy, first}));
}

// A line 0-1-2-3: two chunks from 0 to 3 and back, and two chunks from 1 to 2 and back. Each way, the outer group needs
// the middle link in steps 1 and 2 to end after four steps, so the inner one gets steps 0 and 3 and ends after four,
// too. It could end after two if the outer one ended after five, but no priority makes the last group later.
TEST(TeCclPriorities, NeverDelayTheLastGroup) {
  const Topology topology = support::line(4, SimTime::zero());
  const Collective both = in_groups(CollectiveKind::all_gather, 4, {{0, 3}, {1, 2}}, 2);
  const Instance instance{topology, both};
  const auto made = by_priority(instance, {1, 1000});
  EXPECT_EQ(made.time, kBusy * 4);
  EXPECT_EQ(finishes(instance, made.schedule), (std::vector{kBusy * 4, kBusy * 4}));
}

// NPU 0 has a chunk for each of two NPUs behind a switch: groups that share NPU 0. Its link takes one at a time, and
// the switch passes it on: 40 us and 60 us.
TEST(TeCclPriorities, OfGroupsThatShareAnNpu) {
  const Topology topology = support::switched(3, SimTime::zero());
  const Collective both = in_groups(CollectiveKind::broadcast, 3, {{0, 1}, {0, 2}});
  ASSERT_EQ(both.kind(), CollectiveKind::mixed);
  const Instance instance{topology, both};
  EXPECT_EQ(finishes(instance, by_priority(instance, {2, 1}).schedule), (std::vector{kBusy * 2, kBusy * 3}));
  EXPECT_EQ(finishes(instance, by_priority(instance, {1, 2}).schedule), (std::vector{kBusy * 3, kBusy * 2}));
}

/// By brute force over all holdings, step by step: the least steps in which all groups are done, and the least sum of
/// weight * step in which a group is done among these ways.
struct LeastSum {
  int steps = 0;
  std::int64_t sum = 0;
};
/// One chunk per NPU, of the NPU's number. `wanted`: by group, what all its members want, as bits.
LeastSum least_sum(const Topology& topology, const Members& groups, const std::vector<std::uint32_t>& wanted,
                   const Weights& weights) {
  const auto done = [&](const support::Holdings& held, std::size_t group) {
    return std::ranges::all_of(groups[group], [&](auto npu) { return (held[npu] & wanted[group]) == wanted[group]; });
  };
  support::Holdings first = support::own_chunks(topology.npus());
  for (auto& held : first) held &= wanted[0] | wanted[1];
  // What is held, and the step in which each group was done: -1 before.
  std::set<std::pair<support::Holdings, std::vector<int>>> states{{first, std::vector<int>(groups.size(), -1)}};
  for (int step = 1;; ++step) {
    std::set<std::pair<support::Holdings, std::vector<int>>> next;
    LeastSum least{step, -1};
    for (const auto& [state, before] : states)
      for (auto& held : support::holdings_after(topology, state)) {
        auto ends = before;
        for (std::size_t g = 0; g < groups.size(); ++g)
          if (ends[g] < 0 && done(held, g)) ends[g] = step;
        std::int64_t sum = 0;
        for (std::size_t g = 0; g < groups.size(); ++g) sum += weights[g] * ends[g];
        const bool all = std::ranges::all_of(ends, [](int end) { return end > 0; });
        if (all && (least.sum < 0 || sum < least.sum)) least.sum = sum;
        next.emplace(std::move(held), std::move(ends));
      }
    if (least.sum >= 0) return least;
    states = std::move(next);
  }
}

/// Expects the brute force's steps and sums for several weights. Returns whether the weights decide when groups end.
bool equals_brute_force(const Instance& instance, const Members& groups, const std::vector<std::uint32_t>& wanted) {
  std::set<std::vector<SimTime>> ways;
  for (const Weights& weights : {Weights{3, 1}, Weights{1, 3}, Weights{1, 1}}) {
    const auto made = by_priority(instance, weights);
    const auto least = least_sum(instance.topology, groups, wanted, weights);
    const auto ends = finishes(instance, made.schedule);
    EXPECT_EQ(made.time, kBusy * least.steps);
    EXPECT_EQ(ends[0] * weights[0] + ends[1] * weights[1], kBusy * least.sum) << weights[0];
    ways.insert(ends);
  }
  return ways.size() > 1;
}

// Hops take one step each, so that the models are exact.
TEST(TeCclPrioritiesProperty, SumsOfAllGathersEqualBruteForce) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    const std::uint32_t npus = 4 + static_cast<std::uint32_t>(seed % 2);
    const Topology topology = support::random_graph(npus, static_cast<std::uint32_t>(seed % 3), seed);
    const Members groups{{0, 2}, {1, 3}};
    equals_brute_force({topology, in_groups(CollectiveKind::all_gather, npus, groups)}, groups, {0b0101, 0b1010});
  }
}

// Broadcasts from 0 and 1 that meet on a bridge, with other ways around it in some networks.
TEST(TeCclPrioritiesProperty, SumsOfBroadcastsEqualBruteForce) {
  int decided = 0;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<Link> links = links_of_bridge(SimTime::zero());
    Random random(seed, 0);
    for (std::uint64_t further = 0; further < seed % 4; ++further) {
      const std::uint32_t from = random.below(6);
      const std::uint32_t to = (from + 1 + random.below(5)) % 6;
      links.push_back({VertexId(from), VertexId(to), SimTime::zero(), support::kBandwidth});
    }
    const Topology topology = support::graph(6, links);
    const Members groups{{0, 4}, {1, 5}};
    if (equals_brute_force({topology, in_groups(CollectiveKind::broadcast, 6, groups)}, groups, {0b01, 0b10}))
      ++decided;
  }
  EXPECT_GE(decided, 4);  // those without further links at least
  EXPECT_LT(decided, 16);
}

TEST(TeCclPriorities, SayWhyTheyWereNotWeighed) {
  const Topology topology = bridge(SimTime::zero());
  const Collective both = in_groups(CollectiveKind::broadcast, 6, {{0, 4}, {1, 5}});
  const Instance instance{topology, both};
  const auto grid = te_ccl::epoch_grid(instance, kBusy, Rounding::up);
  SolverBudget none = SolverBudget::of(1, 0);
  none.nodes_used = 1;
  const auto spent = te_ccl::search_by_priority(instance, grid, 4, {{2, 1}}, none);
  EXPECT_FALSE(spent.schedule);
  EXPECT_EQ(spent.left_out, "priorities were not weighed: the solver's limit came first");
  SolverBudget enough = SolverBudget::of(1000, 0);
  const auto large = te_ccl::search_by_priority(instance, grid, 100'000, {{2, 1}}, enough);
  EXPECT_FALSE(large.schedule);
  EXPECT_EQ(large.left_out,
            "priorities were not weighed: a model of 100000 epochs has more than 60000 sends or "
            "1000000 terms");
}

TEST(TeCclPriorities, AreForGroupsThatCopy) {
  const Topology topology = support::ring(4);
  for (const auto& [kind, weights, problem_text] :
       {std::tuple(CollectiveKind::all_reduce, Weights{1, 2}, "priorities of groups that form sums"),
        {CollectiveKind::all_gather, Weights{1, 2, 3}, "3 priorities for 2 process groups"}}) {
    const Collective both = in_groups(kind, 4, {{0, 1}, {2, 3}});
    SynthesisProblem problem{{topology, both}};
    problem.solver.priorities = {weights};
    const auto refused = find_synthesizer("te_ccl")->synthesize(problem);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.errors()[0].problem, problem_text);
  }
}

}  // namespace
}  // namespace tenex
