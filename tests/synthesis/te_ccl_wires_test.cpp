// te_ccl over switches that cut through: optima against brute force over signals, and the players of its plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "schedule/naive_oracle.hpp"
#include "support/topologies.hpp"
#include "support/wired.hpp"
#include "synthesis/hop_steps.hpp"
#include "synthesis/solvers/plan_player.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/te_ccl/epochs.hpp"
#include "synthesis/te_ccl/search.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using support::kBusy;
using support::of_megabytes;
using support::synthesize_checked;
using support::wired;
using te_ccl::Rounding;

Synthesis te_ccl_on_wires(const Instance& instance) {
  SynthesisProblem problem{instance};
  problem.solver.nodes = 2000;
  return synthesize_checked("te_ccl", problem);
}

/// NPUs on two or three switches in a row, without alpha; some of them copy.
Topology random_row_of_switches(std::uint64_t seed, std::uint32_t npus) {
  Random random(seed, 0x726f77);
  TopologyBuilder builder(npus);
  const std::uint32_t count = 2 + random.below(2);
  std::vector<VertexId> switches;
  for (std::uint32_t i = 0; i < count; ++i)
    switches.push_back(builder.add_switch({.copy = random.below(2) == 0, .forwarding = Forwarding::cut_through}));
  const auto join = [&](VertexId a, VertexId b) { builder.add_link_pair({a, b, {}, support::kBandwidth}); };
  for (std::uint32_t i = 0; i < npus; ++i) join(VertexId(i), switches[random.below(count)]);
  for (std::uint32_t i = 1; i < count; ++i) join(switches[i - 1], switches[i]);
  return wires_of(std::move(builder).build().value()).value();
}

bool copies_somewhere(const Topology& wires) {
  const Topology& network = physical_network(wires);
  for (std::size_t vertex = network.npus(); vertex < network.vertices(); ++vertex)
    if (network.switch_properties(VertexId::at(vertex)).copy) return true;
  return false;
}

/// A chunk over a wire in one step.
struct Step {
  LinkId wire;
  std::uint32_t chunk;
};

/// Whether two sends may start at once: the paths have no link in common, or are one signal until they part at a switch
/// that copies, and do not meet again.
bool compatible(const Topology& topology, const Step& a, const Step& b) {
  const auto first = topology.wires()->spans(a.wire);
  const auto second = topology.wires()->spans(b.wire);
  std::size_t same = 0;
  while (same < std::min(first.size(), second.size()) && first[same].link == second[same].link) ++same;
  for (std::size_t i = same; i < first.size(); ++i)
    for (std::size_t j = same; j < second.size(); ++j)
      if (first[i].link == second[j].link) return false;
  if (same == 0) return true;
  const Topology& network = topology.wires()->network();
  return a.chunk == b.chunk && network.switch_properties(network.target(first[same - 1].link)).copy;
}

using WireState = std::vector<std::uint32_t>;  ///< chunks by NPU

/// All holdings after one more step in which no further send fits.
void follow(const Topology& topology, const std::vector<Step>& open, std::size_t next, std::vector<Step>& taken,
            const WireState& state, std::set<WireState>& reached) {
  if (next == open.size()) {
    WireState after = state;
    for (const Step& step : taken) after[topology.target(step.wire).index()] |= 1U << step.chunk;
    reached.insert(std::move(after));
    return;
  }
  const Step& step = open[next];
  const bool fits = std::ranges::all_of(taken, [&](const Step& other) { return compatible(topology, step, other); });
  const bool twice = std::ranges::any_of(taken, [&](const Step& other) {
    return other.chunk == step.chunk && topology.target(other.wire) == topology.target(step.wire);
  });
  if (fits && !twice) {
    taken.push_back(step);
    follow(topology, open, next + 1, taken, state, reached);
    taken.pop_back();
  }
  follow(topology, open, next + 1, taken, state, reached);
}

/// The least steps of a collective whose hops all take one step, over all holdings.
int steps_by_brute_force_over_wires(const Instance& instance) {
  const Topology& topology = instance.topology;
  const auto chunks = static_cast<std::uint32_t>(instance.collective.chunks());
  WireState first(topology.npus());
  WireState wanted(topology.npus());
  for (std::uint32_t npu = 0; npu < topology.npus(); ++npu)
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
      if (instance.collective.holds_at_start(NpuId(npu), ChunkId(chunk))) first[npu] |= 1U << chunk;
      if (instance.collective.must_hold(NpuId(npu), ChunkId(chunk))) wanted[npu] |= 1U << chunk;
    }
  const auto done = [&](const WireState& state) {
    for (std::size_t npu = 0; npu < state.size(); ++npu)
      if ((state[npu] & wanted[npu]) != wanted[npu]) return false;
    return true;
  };
  std::set<WireState> states{first};
  for (int step = 0;; ++step) {
    std::set<WireState> reached;
    for (const WireState& state : states) {
      if (done(state)) return step;
      std::vector<Step> open;
      for (std::uint32_t wire = 0; wire < topology.links(); ++wire)
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk)
          if ((state[topology.source(LinkId(wire)).index()] >> chunk & 1U) != 0 &&
              (state[topology.target(LinkId(wire)).index()] >> chunk & 1U) == 0)
            open.push_back({LinkId(wire), chunk});
      std::vector<Step> taken;
      follow(topology, open, 0, taken, state, reached);
    }
    states = std::move(reached);
  }
}

// SW(3), alpha 0.5 us a link, D = 20 us. In epochs of 0.5 us a wire arrives after 42; its link up is busy from the
// start and its link down one epoch later, for 40 epochs each. Two wires leave an NPU and two enter one.
TEST(TeCclWires, ShareTheRoomOfPhysicalLinks) {
  const Topology three = wired("SW(3)");
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 3);
  const Instance instance{three, gather};
  for (const Rounding rounding : {Rounding::up, Rounding::down}) {
    const auto grid = te_ccl::epoch_grid(instance, nanoseconds(500), rounding);
    EXPECT_TRUE(grid.exact);
    ASSERT_EQ(grid.rooms.size(), 6U);
    int ups = 0;
    for (const auto& room : grid.rooms) {
      EXPECT_EQ(room.span, 40);
      EXPECT_EQ(room.most, 1);
      std::size_t wires = 0;
      for (const auto& use : room.uses) wires += use.links.size();
      EXPECT_EQ(wires, 2U);
      const bool up = room.uses.front().span == 0;
      ups += up ? 1 : 0;
      for (const auto& use : room.uses) EXPECT_EQ(use.offset, up ? 0 : 1);
    }
    EXPECT_EQ(ups, 3);
    EXPECT_EQ(grid.links[0].latency, 42);
  }
}

// Every network with alpha 0 is exact in epochs of a hop, so te_ccl proves its optimum. It equals the least steps.
TEST(TeCclWiresProperty, EqualsBruteForce) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const auto kind = seed % 3 == 0 ? CollectiveKind::all_gather : CollectiveKind::broadcast;
    const Topology topology = random_row_of_switches(seed, kind == CollectiveKind::all_gather ? 3 : 4);
    const Collective what = of_megabytes(kind, topology.npus(), seed % 3 == 2 ? 2 : 1);
    const Instance instance{topology, what};
    const auto made = te_ccl_on_wires(instance);
    ASSERT_TRUE(made.solver.has_value());
    EXPECT_TRUE(made.solver->optimal) << seed;
    EXPECT_EQ(made.time, kBusy * steps_by_brute_force_over_wires(instance)) << seed;
    if (copies_somewhere(topology)) continue;  // the oracle knows sends, no signals of several sends
    const auto answer = test::NaiveOracle(instance, made.schedule).answer();
    EXPECT_TRUE(answer.valid) << seed;
    EXPECT_EQ(answer.collective_time, made.time) << seed;
  }
}

// Products with unequal links, alphas, both occupancies, reductions backward: valid (synthesize_checked), no slower
// than pccl, and the searches by themselves are no shorter than what they prove.
TEST(TeCclWiresProperty, SchedulesAreValidAndNoSlowerThanOthers) {
  Random random(1, 0x77697265);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto product = support::random_switched_product(random, 8);
    const Topology topology = wired(product.text, product.alpha, product.bandwidth);
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all})
      for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
        const Collective what = of_megabytes(kind, topology.npus());
        const Instance instance{topology, what, occupancy};
        SynthesisProblem problem{instance};
        problem.solver.nodes = 50;
        problem.solver.epoch.by = EpochChoice::By::slowest;
        const auto made = synthesize_checked("te_ccl", problem);
        EXPECT_LE(made.time, synthesize_checked("pccl", {instance}).time) << product.text;
        EXPECT_GE(made.solver->gap, 0) << product.text;
      }
  }
}

// Two copies of a chunk in one epoch are one signal where the switch copies, and follow each other where it does not.
TEST(TeCclWires, PlayedSendsAreOneSignalWhereTheirSwitchCopies) {
  const Collective what = of_megabytes(CollectiveKind::broadcast, 3);
  for (const bool copy : {false, true}) {
    const SwitchProperties properties{.copy = copy, .forwarding = Forwarding::cut_through};
    const Topology topology = wires_of(support::shape("SW(3)").with_switches(properties)).value();
    std::vector<PlannedSend> plan;
    for (std::uint32_t wire = 0; wire < topology.links(); ++wire)
      if (topology.source(LinkId(wire)) == VertexId(0)) plan.push_back({0, LinkId(wire), ChunkId(0)});
    const Instance instance{topology, what};
    const auto played = play_plan(instance, plan);
    ASSERT_TRUE(played.has_value());
    const Verdict verdict = verify(instance, *played);
    EXPECT_TRUE(verdict.valid());
    EXPECT_EQ(verdict.collective_time, kBusy * (copy ? 1 : 2) + support::kAlpha * 2);
  }
}

// A broadcast over SW(4) with alpha 0: 2 chunks take 3 steps where the switch does not copy (the root sends 2, and each
// of 3 NPUs needs 2), and 2 where it does.
TEST(TeCclWires, ABroadcastTakesTheStepsOfItsSwitch) {
  for (const bool copy : {false, true}) {
    const SwitchProperties properties{.copy = copy, .forwarding = Forwarding::cut_through};
    const Topology topology = wires_of(support::shape("SW(4)", {SimTime::zero()}).with_switches(properties)).value();
    const Collective what = of_megabytes(CollectiveKind::broadcast, 4, 2);
    const auto made = te_ccl_on_wires({topology, what});
    EXPECT_TRUE(made.solver->optimal);
    EXPECT_EQ(made.time, kBusy * (copy ? 2 : 3));
  }
}

}  // namespace
}  // namespace tenex
