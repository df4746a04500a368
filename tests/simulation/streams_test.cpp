// The streams that simulations record: valid schedules of their collectives whose totals equal those of the
// simulations.
#include <gtest/gtest.h>

#include <string>

#include "simulation/programs.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

struct Case {
  std::string_view shape;
  std::string_view groups;
};
constexpr Case kCases[] = {
    {"RI(8)", "all"},
    {"RI(8)", "0-3; 4-7"},
    {"FC(6)", "all"},
    {"FC(6)", "0,2,4; 1,3,5"},
    {"LI(3)_LI(3)", "all"},
    {"LI(3)_LI(3)", "0,4,8; 1,5,6,7"},
    {"RI(4)_RI(3)", "all"},
    {"RI(4)_RI(3)", "0-5; 6-11"},
    {"SW(5)", "all"},
    {"SW(6,3)", "all"},
    {"SW(5)", "0,1; 2,4"},
    {"RI(3)_FC(2)_SW(2)", "all"},
    {"RI(3)_FC(2)_SW(2)", "0-9:3; 1-10:3; 2-11:3"},
};

template <class Check>
void for_every_stream(Check&& check) {
  for (const auto& [shape, groups] : kCases)
    for (const auto& algorithm : algorithms())
      for (const auto kind : algorithm.collectives)
        for (const std::int64_t chunks : {1, 3})
          for (const auto occupancy : support::kOccupancies) {
            SCOPED_TRACE(std::string(algorithm.name) + " " + std::string(to_string(kind)) + " on " +
                         std::string(shape) + ", groups " + std::string(groups) + ", c = " + std::to_string(chunks) +
                         ", " + std::string(to_string(occupancy)));
            const auto topology = support::shape(shape);
            const auto collective = support::any_collective(kind, topology.npus(), bytes(1'000'000), chunks, groups,
                                                            static_cast<std::uint64_t>(chunks));
            if (!support::program_if_defined(algorithm, topology, collective)) continue;
            check(topology, collective, occupancy, support::run(algorithm.name, topology, collective, occupancy));
            if (testing::Test::HasFailure()) return;
          }
}

TEST(SimulatedStream, IsAValidScheduleWithoutWaste) {
  for_every_stream(
      [](const Topology& topology, const Collective& collective, Occupancy occupancy, const Simulation& simulation) {
        const auto verdict = verify({topology, collective, occupancy}, simulation.sends);
        ASSERT_TRUE(verdict.valid()) << support::first_finding(verdict);
        ASSERT_EQ(verdict.waste, 0U);
        ASSERT_EQ(verdict.sends, simulation.hops);
        ASSERT_EQ(verdict.collective_time, simulation.finish);
      });
}

TEST(SimulatedStream, ConservesBytes) {
  for_every_stream([](const Topology& topology, const Collective& collective, Occupancy, const Simulation& simulation) {
    // Bytes are added send by send, since groups may differ in chunk size and sends in their number of chunks.
    Bytes sent;
    const auto* payloads = simulation.sends.payloads();
    for (const auto& send : list_sends(simulation.sends)) {
      if (send.chunk.index() < collective.chunks())
        sent += collective.chunk_bytes(send.chunk);
      else
        for (const auto chunk : payloads->of(send.chunk.index() - collective.chunks()))
          sent += collective.chunk_bytes(chunk);
    }
    Bytes carried;
    for (const auto& load : simulation.links) carried += load.bytes;
    ASSERT_EQ(carried, sent);
    ASSERT_EQ(simulation.links.size(), topology.links());
    ASSERT_EQ(simulation.sends.sends(), simulation.hops);
  });
}

TEST(SimulatedStream, KeepsNoLinkBusyLongerThanItTakes) {
  for_every_stream([](const Topology&, const Collective&, Occupancy, const Simulation& simulation) {
    for (const auto& load : simulation.links) ASSERT_LE(load.busy, simulation.finish);
  });
}

TEST(SimulatedStream, CarriesNoMessageIdsWhereEveryMessageIsOneHop) {
  const auto collective = support::collective(CollectiveKind::all_reduce, 6, bytes(6'000));
  for (const auto& send : list_sends(support::run("direct", support::fully_connected(6), collective).sends)) {
    EXPECT_FALSE(send.message.exists());
    EXPECT_FALSE(send.destination.exists());
  }
  // Neighbours on a ring: one hop too; over a switch: two.
  EXPECT_FALSE(list_sends(support::run("ring", support::ring(6), collective).sends)[0].message.exists());
  EXPECT_TRUE(list_sends(support::run("ring", support::switched(6), collective).sends)[0].message.exists());
}

TEST(SimulatedStream, NumbersMessagesInTheOrderOfInjection) {
  // 3 NPUs on a line, Direct All-Gather: 0 sends messages 0 (to 1), 1 (to 2); 1 sends 2 (to 2), 3 (to 0); 2 sends 4 (to
  // 0), 5 (to 1).
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(3'000'000));
  const auto simulation = support::run("direct", support::line(3), collective);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> first_hops;
  for (const auto& send : list_sends(simulation.sends)) {
    const auto source = support::line(3).source(send.link);
    if (source == vertex_of(collective.owner(send.chunk)))
      first_hops.emplace_back(send.message.value(), send.destination.value());
  }
  std::sort(first_hops.begin(), first_hops.end());
  EXPECT_EQ(first_hops,
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {1, 2}, {2, 2}, {3, 0}, {4, 0}, {5, 1}}));
}

TEST(Simulation, RecordsNothingUnlessAsked) {
  const auto ring = support::ring(4);
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(4'000));
  const auto simulation = simulate(ring, collective, *support::program_of("ring", ring, collective), {});
  EXPECT_EQ(simulation->sends.sends(), 0U);
  EXPECT_TRUE(simulation->links.empty());
  EXPECT_EQ(simulation->messages, 12U);
}

TEST(Simulation, OfNoMessagesTakesNoTime) {
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(4'000));
  const support::ScriptedProgram nothing({});
  for (const auto backend : {Backend::congestion_aware, Backend::congestion_unaware}) {
    SimulationOptions options;
    options.backend = backend;
    const auto simulation = simulate(support::ring(4), collective, nothing, options);
    EXPECT_EQ(simulation->finish, SimTime::zero());
    EXPECT_EQ(simulation->messages, 0U);
  }
}

TEST(Simulation, RefusesAMessageThatCannotReachItsDestination) {
  // No link leaves NPU 2.
  const auto topology = support::graph(3, {{VertexId(0), VertexId(1), support::kAlpha, support::kBandwidth},
                                           {VertexId(1), VertexId(0), support::kAlpha, support::kBandwidth},
                                           {VertexId(1), VertexId(2), support::kAlpha, support::kBandwidth}});
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(3'000));
  const auto program = support::program_of("direct", topology, collective);
  for (const auto backend : {Backend::congestion_aware, Backend::congestion_unaware}) {
    SimulationOptions options;
    options.backend = backend;
    const auto simulation = simulate(topology, collective, *program, options);
    ASSERT_FALSE(simulation.ok());
    EXPECT_EQ(simulation.errors()[0].fault, Fault::input);
    EXPECT_EQ(simulation.errors()[0].problem, "a message from NPU 2 cannot reach NPU 0");
    EXPECT_EQ(simulation.errors()[0].why, "no path leads on from vertex 2");
  }
}

TEST(Simulation, RefusesToRecordStreamsThatOverlap) {
  const auto ring = support::ring(4);
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(4'000));
  SimulationOptions options;
  options.backend = Backend::congestion_unaware;
  options.record_sends = true;
  const auto simulation = simulate(ring, collective, *support::program_of("ring", ring, collective), options);
  ASSERT_FALSE(simulation.ok());
  EXPECT_EQ(simulation.errors()[0].fault, Fault::unsupported);
}

TEST(Simulation, RefusesACollectiveOfAnotherTopology) {
  const auto collective = support::collective(CollectiveKind::all_gather, 5, bytes(5'000));
  const auto simulation = simulate(support::ring(4), collective, support::ScriptedProgram({}), {});
  ASSERT_FALSE(simulation.ok());
  EXPECT_EQ(simulation.errors()[0].problem, "the collective is for 5 NPUs");
}

TEST(Backends, HaveTheNamesThatStudiesUse) {
  EXPECT_EQ(to_string(Backend::congestion_aware), "congestion_aware");
  EXPECT_EQ(to_string(Backend::congestion_unaware), "congestion_unaware");
}

TEST(CongestionUnaware, IsNeverLaterThanCongestionAware) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto topology = support::random_connected_topology(seed, 10, true);
    for (const auto& algorithm : algorithms())
      for (const auto kind : support::kGathersAndSums) {
        const auto collective = support::collective(kind, topology.npus(), bytes(300'000), 2);
        if (!support::program_if_defined(algorithm, topology, collective)) continue;
        SimulationOptions unaware;
        unaware.backend = Backend::congestion_unaware;
        ASSERT_LE(support::finish(algorithm.name, topology, collective, unaware),
                  support::finish(algorithm.name, topology, collective));
      }
  }
}

}  // namespace
}  // namespace tenex
