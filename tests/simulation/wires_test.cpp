// Programs on paths over cut-through switches.
#include "tenex/topology/wires.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simulation/against_reference.hpp"
#include "simulation/programs.hpp"
#include "support/collectives.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using support::flow;

constexpr SwitchProperties kCuts{.forwarding = Forwarding::cut_through};

/// A shape whose switches cut through; alpha 500 ns and 50 GB/s where nothing else is said.
Topology wired(std::string_view text, std::vector<SimTime> alpha = {support::kAlpha},
               std::vector<Bandwidth> bandwidth = {support::kBandwidth}) {
  return wires_of(support::shape(text, std::move(alpha), std::move(bandwidth)).with_switches(kCuts)).value();
}

/// NPUs and switches of either kind on a cycle in random order, and as many further links; wires of at most three
/// alphas and bandwidths.
Topology random_network(std::uint64_t seed) {
  Random random(seed, 0x77697265);
  const std::uint32_t npus = 2 + random.below(7);
  const std::uint32_t switches = 1 + random.below(5);
  TopologyBuilder builder(npus);
  for (std::uint32_t i = 0; i < switches; ++i) builder.add_switch(random.below(3) == 0 ? SwitchProperties{} : kCuts);
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    builder.add_link({VertexId(from), VertexId(to), nanoseconds(300 * random.below(3)),
                      gigabytes_per_second(25 << random.below(3)), random.below(8) == 0 ? 1500 : 1000});
  };
  std::vector<std::uint32_t> cycle(npus + switches);
  for (std::uint32_t i = 0; i < cycle.size(); ++i) cycle[i] = i;
  random.shuffle(std::span(cycle));
  for (std::size_t i = 0; i < cycle.size(); ++i) link(cycle[i], cycle[(i + 1) % cycle.size()]);
  for (std::size_t i = 0; i < 2 * cycle.size(); ++i) link(random.below(npus + switches), npus + random.below(switches));
  for (std::size_t i = 0; i < cycle.size(); ++i) link(npus + random.below(switches), random.below(npus + switches));
  return wires_of(std::move(builder).build().value()).value();
}

/// The start of each chunk's only send.
std::map<std::uint32_t, SimTime> starts(const Simulation& simulation) {
  std::map<std::uint32_t, SimTime> result;
  for (const Send& send : list_sends(simulation.sends)) result[send.chunk.value()] = send.start;
  return result;
}

/// Written from the definition: no physical link carries two sends at once.
void expect_no_shared_link(const Topology& topology, Occupancy occupancy, Bytes chunk, const Schedule& schedule) {
  const Wires& wires = *topology.wires();
  std::map<std::uint32_t, std::vector<std::pair<SimTime, SimTime>>> taken;
  for (const Send& send : list_sends(schedule)) {
    const auto lasts = hop_time(topology.classes()[topology.class_of(send.link)], chunk, Occupancy::serialization).busy;
    for (const WireSpan& span : wires.spans(send.link)) {
      const auto begin = send.start + span.offset;
      const auto own = occupancy == Occupancy::transfer ? wires.network().alpha(span.link) : SimTime::zero();
      taken[span.link.value()].emplace_back(begin, begin + lasts + own);
    }
  }
  for (auto& [link, times] : taken) {
    std::sort(times.begin(), times.end());
    for (std::size_t i = 1; i < times.size(); ++i) ASSERT_LE(times[i - 1].second, times[i].first) << "link " << link;
  }
}

// Chunks of 50 kB take 1 us over 50 GB/s; a path over a switch has an alpha of 2 * 0.5 us.

TEST(WiresEngine, LetsTheFirstOfTwoThatMeetGoFirst) {
  // 0 and 1 send to 2 at time zero. Both become ready at once: 0's first link has the lower id. 1's send waits until
  // the link to 2 is free when it comes there: 1 us later.
  const auto topology = wired("SW(3)");
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(150'000));
  const auto program = support::ScriptedProgram({flow(0, 2, 0), flow(1, 2, 1)});
  const auto simulation = simulate(topology, collective, program, support::recording(Occupancy::serialization)).value();
  EXPECT_EQ(simulation.engine, SimulationEngine::wires);
  EXPECT_EQ(starts(simulation), (std::map<std::uint32_t, SimTime>{{0, microseconds(0)}, {1, microseconds(1)}}));
  EXPECT_EQ(simulation.finish, microseconds(3));
  // transfer: each link is busy for its own 0.5 us longer.
  EXPECT_EQ(simulate(topology, collective, program, support::recording(Occupancy::transfer))->finish,
            nanoseconds(3500));
}

TEST(WiresEngine, KeepsTheFirstLinkWhileAMessageWaitsForTheLast) {
  // As above, and 1 then sends to 0, whose link is free all the time: 1's link is taken from 1 us to 2 us, so chunk 2
  // follows at 2 us and arrives at 4 us. Nothing is stored in the switch.
  const auto topology = wired("SW(3)");
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(150'000));
  const auto program = support::ScriptedProgram({flow(0, 2, 0), flow(1, 2, 1), flow(1, 0, 2)});
  const auto simulation = simulate(topology, collective, program, support::recording(Occupancy::serialization)).value();
  EXPECT_EQ(starts(simulation).at(2), microseconds(2));
  EXPECT_EQ(simulation.finish, microseconds(4));
}

TEST(WiresEngine, LeavesAGapThatAnEarlierMessageLeft) {
  // NPU 0 - switch 4 - switch 5 - NPU 1; NPU 2 is on switch 4, NPU 3 on switch 5. Alpha 0; 1 us on each link.
  // 3 sends to 1 twice from 0 us (chunks 0, 1) and takes the link 5 -> 1 during [0, 2). 0 sends to 1 (chunk 2) and
  // reserves 4 -> 5 during [2, 3) at time zero. 2 sends to 3 (chunk 3): it becomes ready after 0 does, so it does not
  // pass before it though 4 -> 5 is free until 2 us: it starts at 3 us.
  TopologyBuilder builder(4);
  const auto left = builder.add_switch(kCuts);
  const auto right = builder.add_switch(kCuts);
  const auto join = [&](VertexId a, VertexId b) {
    builder.add_link_pair({a, b, SimTime::zero(), support::kBandwidth});
  };
  join(VertexId(0), left);
  join(VertexId(2), left);
  join(left, right);
  join(right, VertexId(1));
  join(right, VertexId(3));
  const auto topology = wires_of(std::move(builder).build().value()).value();
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(200'000));
  const auto program = support::ScriptedProgram({flow(3, 1, 0), flow(3, 1, 1), flow(0, 1, 2), flow(2, 3, 3)});
  // 0's first link comes before 3's: at time zero 0 reserves first. So 3 is made to begin first by a delay of 0 and 2.
  auto options = support::recording(Occupancy::serialization);
  options.start_delays = {{NpuId(0), nanoseconds(1100)}, {NpuId(2), nanoseconds(1100)}};
  const auto simulation = simulate(topology, collective, program, options).value();
  EXPECT_EQ(starts(simulation),
            (std::map<std::uint32_t, SimTime>{
                {0, microseconds(0)}, {1, microseconds(1)}, {2, microseconds(2)}, {3, microseconds(3)}}));
}

TEST(WiresEngine, RotatesAnAllToAllWithoutCollisions) {
  // In round k every NPU sends to the one k after it, so no two meet: n - 1 times 1 us, and an alpha of 1 us.
  for (const std::uint32_t npus : {2U, 3U, 8U, 17U}) {
    const auto topology = wired("SW(" + std::to_string(npus) + ")");
    const auto collective = support::collective(CollectiveKind::all_to_all, npus, bytes(50'000 * npus));
    EXPECT_EQ(support::finish("direct", topology, collective), microseconds(npus - 1) + microseconds(1));
  }
}

TEST(WiresEngine, TakesARingOverOneSwitchLikeARing) {
  // All-Gather in n - 1 steps, each of an alpha of 1 us and 1 us.
  const auto topology = wired("SW(8)");
  const auto collective = support::collective(CollectiveKind::all_gather, 8, bytes(400'000));
  for (const auto engine : {SimulationEngine::wires, SimulationEngine::static_order}) {
    SimulationOptions options;
    options.engine = engine;
    EXPECT_EQ(support::finish("ring_unidirectional", topology, collective, options), microseconds(14));
  }
}

TEST(WiresEngine, EqualsTheReferenceOnRandomNetworks) {
  int networks = 0;
  const int cases = support::draws(24, 60);
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(cases); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto topology = random_network(seed);
    if (topology.wires() == nullptr || find_disconnected_pair(topology)) continue;
    ++networks;
    support::expect_equal_for_all_algorithms(topology, static_cast<std::int64_t>(1 + seed % 3), bytes(100'000));
    if (HasFailure()) return;
  }
  EXPECT_GE(networks, cases * 2 / 3);
}

TEST(WiresEngine, EqualsTheReferenceOnShapes) {
  for (const auto* shape :
       {"SW(2)", "SW(7)", "SW(8)", "RI(3)_SW(4)", "SW(4)_SW(4)", "FC(2)_SW(3)_RI(2)", "SW(8,4:2)", "RI(2)_SW(6,3)"}) {
    SCOPED_TRACE(shape);
    support::expect_equal_for_all_algorithms(wired(shape), 3, bytes(1'000'000));
    if (HasFailure()) return;
  }
  support::expect_equal_for_all_algorithms(
      wired("SW(4)_SW(3)", {nanoseconds(700), nanoseconds(100)}, {gigabytes_per_second(100), gigabytes_per_second(25)}),
      2, bytes(1'000'000), "0,1,2,8; 3-7");
}

TEST(WiresEngine, EqualsTheReferenceWhereMessagesTriggerOthers) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto topology = seed % 2 == 0 ? wired("SW(4)_SW(4)") : wired("RI(4)_SW(4)");
    const auto collective = support::collective(CollectiveKind::all_gather, 16, bytes(16'000'000), 2);
    const support::WanderingProgram program(16, 30, seed);
    for (const auto occupancy : support::kOccupancies) {
      support::expect_equal_to_reference(topology, collective, program, occupancy);
      support::expect_equal_to_reference(topology, collective, program, occupancy,
                                         support::some_delays(topology, seed));
    }
    if (HasFailure()) return;
  }
}

TEST(WiresEngine, MakesValidSchedulesWhoseSendsShareNoLink) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto topology = seed % 2 == 0 ? wired(seed % 4 == 0 ? "SW(3)_SW(4)" : "SW(9)") : random_network(seed);
    if (topology.wires() == nullptr || find_disconnected_pair(topology)) continue;
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                            CollectiveKind::all_to_all})
      for (const auto occupancy : support::kOccupancies) {
        const auto collective = support::collective(kind, topology.npus(), bytes(1'000'000), 2);
        SCOPED_TRACE(std::string(to_string(kind)) + ", seed " + std::to_string(seed));
        const auto program = support::program_of("direct", topology, collective);
        const auto simulation = simulate(topology, collective, *program, support::recording(occupancy)).value();
        const auto verdict = verify({topology, collective, occupancy}, simulation.sends);
        ASSERT_TRUE(verdict.valid()) << support::first_finding(verdict);
        ASSERT_EQ(verdict.collective_time, simulation.finish);
        if (simulation.sends.payloads() == nullptr)
          expect_no_shared_link(topology, occupancy, collective.chunk_bytes(ChunkId(0)), simulation.sends);
        if (HasFailure()) return;
      }
  }
}

TEST(WiresEngine, RecordsTheSameWhetherItKeepsDeliveriesOrNot) {
  const auto topology = wired("SW(3)_SW(4)");
  const auto collective = support::collective(CollectiveKind::all_to_all, 12, bytes(1'200'000));
  const auto program = support::program_of("direct", topology, collective);
  const auto full = simulate(topology, collective, *program, support::recording(Occupancy::serialization)).value();
  SimulationOptions options;
  options.record_npu_finish = options.record_links = true;
  const auto quick = simulate(topology, collective, *program, options).value();
  EXPECT_EQ(quick.finish, full.finish);
  EXPECT_EQ(quick.hops, full.hops);
  EXPECT_EQ(quick.npu_finish, full.npu_finish);
  for (std::size_t l = 0; l < full.links.size(); ++l) EXPECT_EQ(quick.links[l].busy, full.links[l].busy);
}

TEST(StaticOrderEngine, EqualsTheWiresEngineWhereRoutesShareNoPhysicalLink) {
  int runs = 0;
  for (const auto* shape : {"SW(2)", "SW(5)", "SW(8)", "SW(4)_RI(3)", "SW(8,4:2)"})
    for (const auto& algorithm : algorithms())
      for (const auto kind : algorithm.collectives)
        for (const auto occupancy : support::kOccupancies) {
          const auto topology = wired(shape);
          const auto collective = support::any_collective(kind, topology.npus(), bytes(1'000'000), 3);
          const auto program = support::program_if_defined(algorithm, topology, collective);
          if (!program) continue;
          SimulationOptions options;
          options.occupancy = occupancy;
          options.record_links = options.record_npu_finish = true;
          options.engine = SimulationEngine::static_order;
          const auto fast = simulate(topology, collective, *program, options);
          if (!fast) continue;
          ++runs;
          options.engine = SimulationEngine::wires;
          const auto slow = simulate(topology, collective, *program, options).value();
          SCOPED_TRACE(std::string(algorithm.name) + " on " + shape);
          ASSERT_EQ(fast->finish, slow.finish);
          ASSERT_EQ(fast->npu_finish, slow.npu_finish);
          ASSERT_EQ(fast->messages, slow.messages);
          for (std::size_t l = 0; l < slow.links.size(); ++l) ASSERT_EQ(fast->links[l].busy, slow.links[l].busy);
        }
  EXPECT_GE(runs, 12);
}

TEST(WiresEngine, IsTheOnlyOneForAnyProgramOnWires) {
  const auto topology = wired("SW(4)");
  const auto collective = support::collective(CollectiveKind::all_to_all, 4, bytes(4'000));
  const auto program = support::program_of("direct", topology, collective);
  for (const auto engine : {SimulationEngine::window, SimulationEngine::trains, SimulationEngine::orbit}) {
    SimulationOptions options;
    options.engine = engine;
    const auto refused = simulate(topology, collective, *program, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.errors()[0].fault, Fault::unsupported);
  }
  SimulationOptions options;
  options.engine = SimulationEngine::wires;
  EXPECT_FALSE(
      simulate(support::ring(4), collective, *support::program_of("direct", support::ring(4), collective), options));
}

TEST(CongestionUnawareBackend, TakesEveryWireByItself) {
  // 0 and 1 send to 2 at once and do not meet: 1 us and an alpha of 1 us.
  const auto topology = wired("SW(3)");
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(150'000));
  const auto program = support::ScriptedProgram({flow(0, 2, 0), flow(1, 2, 1)});
  SimulationOptions options;
  options.backend = Backend::congestion_unaware;
  EXPECT_EQ(simulate(topology, collective, program, options)->finish, microseconds(2));
}

}  // namespace
}  // namespace tenex
