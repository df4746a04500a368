// te_ccl with small buffers: in switches an optimum by counting, and the rule by a slow twin; none in NPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "synthesis/hop_steps.hpp"
#include "synthesis/switch_twins.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {
namespace {

using support::kBusy;
using support::of_megabytes;
using support::synthesize_checked;
using ::testing::HasSubstr;

Synthesis buffered_te_ccl(const Instance& instance, std::int64_t nodes) {
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
    const auto made = buffered_te_ccl({star, gather}, 2000);
    ASSERT_TRUE(made.solver.has_value());
    EXPECT_TRUE(made.solver->optimal) << buffer;
    EXPECT_EQ(made.time, kBusy * steps) << buffer;
  }
}

/// The times at which NPUs pass on what they received, each later than the arrival by this much.
std::vector<SimTime> waits_at_npus(const Instance& instance, const Schedule& schedule) {
  const Topology& topology = instance.topology;
  std::map<std::pair<ChunkId, VertexId>, SimTime> arrivals;
  std::vector<SimTime> waits;
  for (const Send& send : list_sends(schedule)) {  // in order of their starts
    if (const auto arrived = arrivals.find({send.chunk, topology.source(send.link)}); arrived != arrivals.end())
      waits.push_back(send.start - arrived->second);
    const auto& link = topology.classes()[topology.class_of(send.link)];
    const SimTime latency = hop_time(link, instance.collective.chunk_bytes(send.chunk), instance.occupancy).latency;
    arrivals[{send.chunk, topology.target(send.link)}] = send.start + latency;
  }
  return waits;
}

// TE-CCL, Fig. 11: buffers do not change how good schedules are. All-Gather of 25 KB on a DGX-1 takes 2.9 us with them,
// the eccentricity: 0.7 + 0.5 us over a link of 50 GB/s and 0.7 + 1 us over one of 25 GB/s. Epochs of 100 ns divide all
// times. Without buffers it takes as long, although every chunk that is passed on leaves when it arrives.
TEST(TeCclUnbuffered, AGatherOnDgx1TakesNoLonger) {
  const Topology topology = support::dgx1();
  const Collective gather = support::collective(CollectiveKind::all_gather, 8, bytes(25'000 * 8), 1);
  SynthesisProblem problem{Instance{topology, gather}};
  problem.solver.epoch = {.by = EpochChoice::By::length, .length = nanoseconds(100)};
  problem.solver.formulation = Formulation::unbuffered;
  const Synthesis made = synthesize_checked("te_ccl", problem);
  EXPECT_EQ(made.engine, "milp");
  EXPECT_EQ(made.time, nanoseconds(2'900));
  EXPECT_TRUE(made.solver->optimal);
  EXPECT_EQ(made.solver->epochs, 29);
  const auto waits = waits_at_npus(problem, made.schedule);
  EXPECT_GE(waits.size(), 8U);  // no NPU has links to all others
  for (const SimTime wait : waits) EXPECT_EQ(wait, SimTime::zero());
}

TEST(TeCclUnbuffered, RefusesReductionsAndSaysWhenNoneIsFound) {
  const Topology ring = support::ring(4);
  const Collective all_reduce = of_megabytes(CollectiveKind::all_reduce, 4);
  SynthesisProblem reduction{ring, all_reduce};
  reduction.solver.formulation = Formulation::unbuffered;
  const auto refused = find_synthesizer("te_ccl")->synthesize(reduction);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(to_string(refused.errors()), HasSubstr("no reductions"));
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 4);
  SynthesisProblem large{ring, gather};
  large.solver.formulation = Formulation::unbuffered;
  large.solver.epoch = {.by = EpochChoice::By::length, .length = picoseconds(100)};  // 205,000 epochs for one hop
  const auto none = find_synthesizer("te_ccl")->synthesize(large);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(to_string(none.errors()), HasSubstr("found no schedule without buffers"));
}

// Chains of switches with buffers of 0, 1 and 2 chunks or without a limit, that copy or not: valid (synthesize_checked
// and the twin), no slower than pccl, and a gap that its bound supports.
TEST(TeCclBuffersProperty, SchedulesKeepThem) {
  const auto seeds = static_cast<std::uint64_t>(support::draws(4, 12));
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Topology topology = support::random_switches(seed, true, false);
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
      const Collective what = of_megabytes(kind, topology.npus());
      const Instance instance{topology, what};
      const auto made = buffered_te_ccl(instance, 100);
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
    const Topology any = support::random_switches(seed, false, false, seed % 2 == 0);
    if (any.npus() > 4) continue;
    const Collective what = of_megabytes(CollectiveKind::all_gather, any.npus());
    std::optional<SimTime> smaller;
    for (const std::uint32_t buffer : {0U, 1U, kUnlimitedBuffer}) {
      SwitchProperties properties = any.switch_properties(VertexId::at(any.npus()));
      properties.buffer = buffer;
      const Topology topology = any.with_switches(properties);
      const auto made = buffered_te_ccl({topology, what}, 300);
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
