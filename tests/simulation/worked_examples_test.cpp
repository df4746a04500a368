// The ASTRA-sim2.0 thesis, section 3.4.2 (Fig. 3.4 and 3.5): two flows of 1 MiB over one link of 50 GiB/s and 0.5 us.
#include <gtest/gtest.h>

#include "simulation/programs.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

using support::flow;

// 1 MiB / 50 GiB/s = 1 / (50 * 1024) s = 19,531,250 ps exactly.
constexpr auto kSerialization = picoseconds(19'531'250);
constexpr auto kAlpha = nanoseconds(500);

class WorkedExamples : public testing::Test {
 protected:
  // An All-Gather over 4 NPUs with c = 2 and S = 8 MiB has chunks of 1 MiB; chunks 0 and 1 start at NPU 0.
  const Topology line_ = support::line(4, kAlpha, gibibytes_per_second(50));
  const Collective collective_ = support::collective(CollectiveKind::all_gather, 4, mebibytes(8), 2);
  const support::ScriptedProgram two_flows_{{flow(0, 1, 0), flow(0, 1, 1)}};
  const support::ScriptedProgram two_far_flows_{{flow(0, 3, 0), flow(0, 3, 1)}};

  Simulation run(const Program& program, Backend backend, Occupancy occupancy = Occupancy::serialization) {
    SimulationOptions options;
    options.backend = backend;
    options.occupancy = occupancy;
    options.record_links = true;
    return simulate(line_, collective_, program, options).value();
  }
};

TEST_F(WorkedExamples, WithoutCongestionEachFlowTakes20_03Microseconds) {
  // 0.5 us x 1 hop + 19.53125 us = 20.03125 us, for both.
  const auto simulation = run(two_flows_, Backend::congestion_unaware);
  EXPECT_EQ(simulation.finish, picoseconds(20'031'250));
  EXPECT_EQ(simulation.messages, 2U);
  EXPECT_EQ(simulation.hops, 2U);
}

TEST_F(WorkedExamples, WithCongestionTheSecondFlowEndsAt39_56Microseconds) {
  // The second flow starts when the link is free, at 19.53125 us: 19.53125 + 20.03125 = 39.5625 us.
  const auto simulation = run(two_flows_, Backend::congestion_aware);
  EXPECT_EQ(simulation.finish, picoseconds(39'562'500));
  EXPECT_EQ(simulation.messages, 2U);
  EXPECT_EQ(simulation.hops, 2U);
}

TEST_F(WorkedExamples, UnderTransferTheLinkStaysTakenUntilTheArrival) {
  // The second flow starts at 20.03125 us: 2 x 20.03125 us.
  EXPECT_EQ(run(two_flows_, Backend::congestion_aware, Occupancy::transfer).finish, picoseconds(40'062'500));
}

TEST_F(WorkedExamples, WithoutCongestionFurtherHopsCostTheirLatencyOnly) {
  // 3 hops: 3 x 0.5 us + 19.53125 us.
  const auto simulation = run(two_far_flows_, Backend::congestion_unaware);
  EXPECT_EQ(simulation.finish, 3 * kAlpha + kSerialization);
  EXPECT_EQ(simulation.hops, 6U);
}

TEST_F(WorkedExamples, WithCongestionFurtherHopsStoreAndForward) {
  // The first flow arrives at 3 x 20.03125 us. The second follows 19.53125 us behind on every link and never waits
  // again.
  const auto simulation = run(two_far_flows_, Backend::congestion_aware);
  EXPECT_EQ(simulation.finish, 3 * (kAlpha + kSerialization) + kSerialization);
  EXPECT_EQ(simulation.hops, 6U);
}

TEST_F(WorkedExamples, BothBackendsCountTheSameLoads) {
  const auto aware = run(two_far_flows_, Backend::congestion_aware);
  const auto unaware = run(two_far_flows_, Backend::congestion_unaware);
  for (std::uint32_t link = 0; link < line_.links(); ++link) {
    // 2 MiB over each of the links 0 -> 1 -> 2 -> 3, nothing the other way.
    const bool rightward = line_.source(LinkId(link)) < line_.target(LinkId(link));
    EXPECT_EQ(aware.links[link].bytes, mebibytes(rightward ? 2 : 0));
    EXPECT_EQ(aware.links[link].busy, rightward ? 2 * kSerialization : SimTime::zero());
    EXPECT_EQ(unaware.links[link].bytes, aware.links[link].bytes);
    EXPECT_EQ(unaware.links[link].busy, aware.links[link].busy);
  }
}

TEST(CongestionUnaware, TakesTheLeastBandwidthOfTheRoute) {
  // 0 -> 2 over 4 GB/s, 1 us and 1 GB/s, 2 us; a chunk of 1 MB: 3 us + 1 MB / 1 GB/s = 3 us + 1000 us.
  const auto topology = support::line3_heterogeneous();
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(3'000'000));
  const support::ScriptedProgram program({flow(0, 2, 0)});
  SimulationOptions options;
  options.backend = Backend::congestion_unaware;
  EXPECT_EQ(simulate(topology, collective, program, options)->finish, microseconds(1003));
  // Store-and-forward instead: 1 us + 250 us, then 2 us + 1000 us.
  options.backend = Backend::congestion_aware;
  EXPECT_EQ(simulate(topology, collective, program, options)->finish, microseconds(1253));
}

TEST(CongestionAware, CountsASwitchAsAHopWithItsOwnLatencyAndSerialization) {
  // 50 GB/s: 1 MB takes 20 us. NPUs 0 and 1 send to 2 at once. Both messages are at the switch at 20.5 us and share its
  // link to 2, the second from 40.5 us on: 40.5 + 20.5 = 61 us.
  const auto topology = support::switched(3);
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(3'000'000));
  const support::ScriptedProgram program({flow(0, 2, 0), flow(1, 2, 1)});
  const auto simulation = simulate(topology, collective, program, {});
  EXPECT_EQ(simulation->finish, microseconds(61));
  EXPECT_EQ(simulation->hops, 4U);
}

TEST(CongestionAware, HandlesSimultaneousArrivalsInTheOrderOfTheirPorts) {
  // 1 and 2 both send to 3 through 0 and arrive there at 20.5 us. The link from 2 is 0's first in-link, so 2's message
  // goes on first although 1 has the smaller id.
  const auto alpha = support::kAlpha;
  const auto rate = support::kBandwidth;
  const auto topology = support::graph(4, {{VertexId(2), VertexId(0), alpha, rate},
                                           {VertexId(1), VertexId(0), alpha, rate},
                                           {VertexId(0), VertexId(3), alpha, rate}});
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(4'000'000));
  const support::ScriptedProgram program({flow(1, 3, 1), flow(2, 3, 2)});
  SimulationOptions options;
  options.record_sends = true;
  const auto simulation = simulate(topology, collective, program, options);
  const auto sends = list_sends(simulation->sends);
  ASSERT_EQ(sends.size(), 4U);
  EXPECT_EQ(sends[2], (Send{picoseconds(20'500'000), LinkId(2), ChunkId(2), Stage::copy, MessageId(1), NpuId(3)}));
  EXPECT_EQ(sends[3], (Send{picoseconds(40'500'000), LinkId(2), ChunkId(1), Stage::copy, MessageId(0), NpuId(3)}));
}

}  // namespace
}  // namespace tenex
