// te_ccl over switches that store and forward with small buffers: an optimum by counting, and the rule by a slow twin.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "support/topologies.hpp"
#include "synthesis/hop_steps.hpp"
#include "synthesis/switch_twins.hpp"
#include "synthesis/synthesis_support.hpp"

namespace tenex {
namespace {

using support::kBusy;
using support::of_megabytes;
using support::synthesize_checked;

Synthesis te_ccl_of(const Instance& instance, std::int64_t nodes) {
  SynthesisProblem problem{instance};
  problem.solver.nodes = nodes;
  auto made = synthesize_checked("te_ccl", problem);
  support::expect_buffers_kept(instance, made.schedule);
  return made;
}

/// Four NPUs at a switch that copies. A chunk takes two steps on the way in and one on the way out.
Topology star_of_slow_uplinks(std::uint32_t buffer) {
  constexpr std::uint32_t kNpus = 4;
  TopologyBuilder builder(kNpus);
  const VertexId hub = builder.add_switch({.copy = true, .buffer = buffer});
  for (std::uint32_t npu = 0; npu < kNpus; ++npu) {
    builder.add_link({VertexId(npu), hub, {}, support::kBandwidth / 2});
    builder.add_link({hub, VertexId(npu), {}, support::kBandwidth});
  }
  return std::move(builder).build().value();
}

// All-Gather. Each link out of the switch takes three chunks, and the first chunk is at the switch after 2 steps: at
// least 5 steps, which four chunks that arrive together reach if they wait for their copies. Without a buffer, every
// arrival leaves at once. For 5 steps all links out are busy from 2 to 5, so at 3 as well. A chunk that arrives at 3
// arrives again at 5 at the earliest, so it leaves on all three of its links at 3. Its own NPU's link then waits for
// another chunk that arrives at 3, and that one needs the same links: 5 steps are impossible. Arrivals at 2, 3, 4 and 5
// take 6.
TEST(TeCclBuffers, AGatherWithoutThemTakesAStepMore) {
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 4);
  for (const auto& [buffer, steps] : {std::pair{kUnlimitedBuffer, 5}, std::pair{0U, 6}}) {
    const Topology star = star_of_slow_uplinks(buffer);
    const auto made = te_ccl_of({star, gather}, 2000);
    ASSERT_TRUE(made.solver.has_value());
    EXPECT_TRUE(made.solver->optimal) << buffer;
    EXPECT_EQ(made.time, kBusy * steps) << buffer;
  }
}

// Chains of switches with buffers of 0, 1 and 2 chunks or without a limit, that copy or not: valid (synthesize_checked
// and the twin), no slower than pccl, and a gap that its bound supports.
TEST(TeCclBuffersProperty, SchedulesKeepThem) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Topology topology = support::random_graph(seed, true, false);
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
      const Collective what = of_megabytes(kind, topology.npus());
      const Instance instance{topology, what};
      const auto made = te_ccl_of(instance, 100);
      EXPECT_LE(made.time, synthesize_checked("pccl", {instance}).time) << seed;
      ASSERT_TRUE(made.solver.has_value());
      EXPECT_GE(made.solver->gap, 0) << seed;
      EXPECT_EQ(made.solver->optimal, made.solver->gap == 0) << seed;
    }
  }
}

// A larger buffer allows all that a smaller one does: where both optima are proven, they are in order.
TEST(TeCclBuffersProperty, OptimaFallAsBuffersGrow) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Topology any = support::random_graph(seed, false, false, seed % 2 == 0);
    if (any.npus() > 4) continue;
    const Collective what = of_megabytes(CollectiveKind::all_gather, any.npus());
    std::optional<SimTime> smaller;
    for (const std::uint32_t buffer : {0U, 1U, kUnlimitedBuffer}) {
      SwitchProperties properties = any.switch_properties(VertexId::at(any.npus()));
      properties.buffer = buffer;
      const Topology topology = any.with_switches(properties);
      const auto made = te_ccl_of({topology, what}, 300);
      if (!made.solver->optimal) continue;
      if (smaller) {
        EXPECT_LE(made.time, *smaller) << seed << ' ' << buffer;
      }
      smaller = made.time;
    }
  }
}

}  // namespace
}  // namespace tenex
