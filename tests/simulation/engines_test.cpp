// The engines that use what programs state about themselves reach the results of the window engine, on any number of
// threads, and they refuse what they cannot do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "simulation/programs.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

SimulationOptions measuring(SimulationEngine engine, Occupancy occupancy = Occupancy::serialization) {
  SimulationOptions options;
  options.engine = engine;
  options.occupancy = occupancy;
  options.record_links = true;
  options.record_npu_finish = true;
  return options;
}

void expect_same(const Simulation& simulation, const Simulation& expected) {
  ASSERT_EQ(simulation.finish, expected.finish);
  ASSERT_EQ(simulation.messages, expected.messages);
  ASSERT_EQ(simulation.hops, expected.hops);
  ASSERT_EQ(simulation.npu_finish, expected.npu_finish);
  ASSERT_EQ(simulation.links.size(), expected.links.size());
  for (std::size_t link = 0; link < expected.links.size(); ++link) {
    ASSERT_EQ(simulation.links[link].bytes, expected.links[link].bytes) << "link " << link;
    ASSERT_EQ(simulation.links[link].busy, expected.links[link].busy) << "link " << link;
  }
}

/// An engine that can record sends records those of the window engine.
void expect_same_record(SimulationEngine engine, const Topology& topology, const Collective& collective,
                        const Program& program, SimulationOptions options) {
  options.record_sends = true;
  options.engine = engine;
  const auto recorded = simulate(topology, collective, program, options);
  if (!recorded) return;
  options.engine = SimulationEngine::window;
  const auto expected = simulate(topology, collective, program, options).value();
  expect_same(*recorded, expected);
  ASSERT_EQ(list_sends(recorded->sends), list_sends(expected.sends));
  const auto* payloads = expected.sends.payloads();
  ASSERT_EQ(recorded->sends.payloads() == nullptr, payloads == nullptr);
  if (payloads != nullptr) {
    ASSERT_EQ(recorded->sends.payloads()->chunks, payloads->chunks);
  }
}

/// Runs all algorithms on a topology with `engine` and returns how many of them it could run. All must equal the window
/// engine's.
int count_equal_runs(SimulationEngine engine, const Topology& topology, std::int64_t chunks,
                     std::string_view groups = "all", const std::vector<StartDelay>& delays = {}) {
  int runs = 0;
  for (const auto& algorithm : algorithms())
    for (const auto kind : algorithm.collectives)
      for (const auto order : {DestinationOrder::relative, DestinationOrder::absolute})
        for (const auto occupancy : support::kOccupancies) {
          const auto collective = support::any_collective(kind, topology.npus(), bytes(1'000'000), chunks, groups,
                                                          static_cast<std::uint64_t>(chunks));
          AlgorithmOptions made;
          made.order = order;
          const auto program = support::program_if_defined(algorithm, topology, collective, made);
          if (!program) continue;
          auto options = measuring(engine, occupancy);
          options.start_delays = delays;
          const auto simulation = simulate(topology, collective, *program, options);
          if (!simulation) continue;
          ++runs;
          EXPECT_EQ(simulation->engine, engine);
          options.engine = SimulationEngine::window;
          SCOPED_TRACE(std::string(algorithm.name) + " " + std::string(to_string(kind)) +
                       ", c = " + std::to_string(chunks) + ", " + std::string(to_string(occupancy)));
          expect_same(*simulation, simulate(topology, collective, *program, options).value());
          expect_same_record(engine, topology, collective, *program, options);
          if (testing::Test::HasFailure()) return runs;
        }
  return runs;
}

TEST(OrbitEngine, EqualsTheWindowEngineOnSymmetricShapes) {
  for (const auto* shape : {"RI(2)", "RI(5)", "RI(8)", "FC(6)", "RI(4)_RI(4)", "RI(3)_RI(4)_RI(2)", "RI(5)_FC(3)",
                            "FC(3)_FC(4)", "RI(2)_RI(2)_RI(2)", "LI(2)_RI(6)"})
    for (const std::int64_t chunks : {1, 2, 3}) {
      SCOPED_TRACE(shape);
      // At least Direct: All-Gather, Reduce-Scatter, All-Reduce, All-to-All.
      EXPECT_GE(count_equal_runs(SimulationEngine::orbit, support::shape(shape), chunks), 4);
      if (HasFailure()) return;
    }
}

TEST(OrbitEngine, EqualsTheWindowEngineWhereDimensionsDiffer) {
  const auto topology = support::shape("RI(4)_FC(3)_RI(5)", {nanoseconds(100), nanoseconds(700), nanoseconds(300)},
                                       {gigabytes_per_second(10), gigabytes_per_second(40), gigabytes_per_second(25)});
  EXPECT_GE(count_equal_runs(SimulationEngine::orbit, topology, 2), 4);
}

TEST(OrbitEngine, SpreadsUtilizationOverAllNpus) {
  const auto topology = support::torus(4, 3);
  const auto collective = support::collective(CollectiveKind::all_gather, 12, bytes(1'200'000));
  auto options = measuring(SimulationEngine::orbit);
  options.utilization_bins = 9;
  const auto program = support::program_of("direct", topology, collective);
  const auto orbit = simulate(topology, collective, *program, options).value();
  options.engine = SimulationEngine::window;
  const auto window = simulate(topology, collective, *program, options).value();
  EXPECT_EQ(orbit.utilization.bin, window.utilization.bin);
  EXPECT_EQ(orbit.utilization.busy_ps, window.utilization.busy_ps);
}

TEST(OrbitEngine, RefusesProgramsThatTreatNpusDifferently) {
  const auto topology = support::ring(6);
  const auto collective = support::collective(CollectiveKind::all_gather, 6, bytes(6'000));
  AlgorithmOptions absolute;
  absolute.order = DestinationOrder::absolute;
  const auto program = find_algorithm("direct")->make(topology, collective, absolute).value();
  const auto refused = simulate(topology, collective, *program, measuring(SimulationEngine::orbit));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors()[0].fault, Fault::unsupported);
}

// Direct on an 8 x 8 x 8 torus, 1 GB over links of 100 GB/s: a message takes 1 GB / 512 / 100 GB/s = 19.53125 us. A
// link that leads up serves 1 + 2 + 3 + 4 = 10 hops for each of the 64 NPUs of its plane: 640 services, 12.5 ms. Links
// idle for 31 services in relative order, and for 61 in absolute order, where all NPUs begin with the same peers:
// 13.107 ms and 13.693 ms.
TEST(Engines, TellTheRelativeOrderFromTheAbsoluteOne) {
  const auto topology = support::shape("torus(8,8,8)", {nanoseconds(600)}, {gigabytes_per_second(100)});
  const auto collective = support::collective(CollectiveKind::all_gather, 512, bytes(1'000'000'000));
  const auto relative =
      simulate(topology, collective, *support::program_of("direct", topology, collective), {}).value();
  EXPECT_EQ(relative.engine, SimulationEngine::orbit);
  EXPECT_EQ(relative.finish, 671 * picoseconds(19'531'250) + 2 * nanoseconds(600));
  AlgorithmOptions by_id;
  by_id.order = DestinationOrder::absolute;
  const auto program = find_algorithm("direct")->make(topology, collective, by_id).value();
  const auto absolute = simulate(topology, collective, *program, {}).value();
  EXPECT_EQ(absolute.engine, SimulationEngine::window);
  EXPECT_EQ(absolute.finish, 701 * picoseconds(19'531'250) + 3 * nanoseconds(600));
}

TEST(StaticOrderEngine, EqualsTheWindowEngineOnRings) {
  for (const auto* shape : {"RI(2)", "RI(3)", "RI(8)", "RI(13)", "FC(5)"})
    for (const std::int64_t chunks : {1, 2, 3, 8}) {
      SCOPED_TRACE(shape);
      // At least the one-way ring: All-Gather, Reduce-Scatter, All-Reduce.
      EXPECT_GE(count_equal_runs(SimulationEngine::static_order, support::shape(shape), chunks), 3);
      if (HasFailure()) return;
    }
}

TEST(StaticOrderEngine, EqualsTheWindowEngineOnUnequalLinksAndWithLateStarts) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed, 3);
    const std::uint32_t npus = 3 + random.below(7);
    TopologyBuilder builder(npus);
    for (std::uint32_t npu = 0; npu < npus; ++npu)
      builder.add_link_pair({VertexId(npu), VertexId((npu + 1) % npus), nanoseconds(random.below(3) * 700),
                             gigabytes_per_second(10 + 10 * random.below(4))});
    const auto topology = std::move(builder).build().value();
    SCOPED_TRACE("seed " + std::to_string(seed));
    EXPECT_GE(count_equal_runs(SimulationEngine::static_order, topology, 1 + seed % 4), 3);
    EXPECT_GE(count_equal_runs(SimulationEngine::static_order, topology, 1 + seed % 4, "all",
                               {{NpuId(0), microseconds(random.below(60))}, {NpuId(2), microseconds(7)}}),
              3);
    if (HasFailure()) return;
  }
}

TEST(StaticOrderEngine, RecordsTheSendsOfTheWindowEngine) {
  // A slow NPU, so that starts differ all round, with one hop and with several per message, and both ways round.
  for (const auto* algorithm : {"ring_unidirectional", "ring"})
    for (const auto* groups : {"all", "0,2,5,9"})
      for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce})
        for (const std::int64_t chunks : {1, 5}) {
          TopologyBuilder builder(12);
          for (std::uint32_t npu = 0; npu < 12; ++npu)
            builder.add_link_pair(
                {VertexId(npu), VertexId((npu + 1) % 12), nanoseconds(500), gigabytes_per_second(npu == 7 ? 10 : 50)});
          const auto topology = std::move(builder).build().value();
          const auto collective = support::any_collective(kind, 12, bytes(1'200'000), chunks, groups, 1);
          const auto program = support::program_of(algorithm, topology, collective);
          SCOPED_TRACE(std::string(algorithm) + " " + groups + " " + std::string(to_string(kind)));
          auto options = measuring(SimulationEngine::static_order);
          options.record_sends = true;
          // Both ways round an All-Reduce waits, and a message of the group takes several hops, which are numbered.
          const bool one_way = std::string(algorithm) == "ring_unidirectional";
          const bool able = one_way || (kind != CollectiveKind::all_reduce && std::string(groups) == "all");
          EXPECT_EQ(simulate(topology, collective, *program, options).ok(), able);
          expect_same_record(SimulationEngine::static_order, topology, collective, *program, options);
        }
}

TEST(StaticOrderEngine, RefusesRoutesThatShareALink) {
  // On a line of 4 the route from the last NPU back to the first takes the links of the other direction. One way round
  // no link is shared, both ways round all are.
  const auto line = support::line(4);
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(4'000));
  const auto options = measuring(SimulationEngine::static_order);
  EXPECT_TRUE(simulate(line, collective, *support::program_of("ring_unidirectional", line, collective), options));
  EXPECT_FALSE(simulate(line, collective, *support::program_of("ring", line, collective), options));
}

TEST(StaticOrderEngine, SaysThatTheTwoWaysOfARingWaitForEachOther) {
  const auto topology = support::ring(8);
  const auto collective = support::collective(CollectiveKind::all_reduce, 8, bytes(8'000));
  const auto program = find_algorithm("ring")->make(topology, collective, {}).value();
  const auto refused = simulate(topology, collective, *program, measuring(SimulationEngine::static_order));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors()[0].fault, Fault::unsupported);
  EXPECT_NE(refused.errors()[0].why.find("All-Reduce by `ring` the two directions do"), std::string::npos);
}

TEST(TrainsEngine, EqualsTheWindowEngineOnEveryBlock) {
  for (const auto* shape : {"RI(2)", "RI(3)", "RI(8)", "RI(13)", "LI(2)", "LI(7)", "FC(6)", "SW(2)", "SW(9)"})
    for (const std::int64_t chunks : {1, 2, 3}) {
      SCOPED_TRACE(shape);
      // At least Direct: All-Gather, Reduce-Scatter, All-to-All.
      EXPECT_GE(count_equal_runs(SimulationEngine::trains, support::shape(shape), chunks), 3);
      if (HasFailure()) return;
    }
}

TEST(TrainsEngine, EqualsTheWindowEngineForGroups) {
  for (const auto* shape : {"RI(12)", "LI(12)", "FC(12)", "SW(12)"}) {
    SCOPED_TRACE(shape);
    EXPECT_GE(count_equal_runs(SimulationEngine::trains, support::shape(shape), 2, "0,3,5,6; 1,2,10,11"), 3);
    if (HasFailure()) return;
  }
}

TEST(TrainsEngine, EqualsTheWindowEngineForMixturesOfOneSize) {
  int runs = 0;
  for (std::uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    Random random(seed, 0x7472);
    constexpr const char* shapes[] = {"RI(7)", "LI(6)", "FC(5)", "SW(6)"};
    const auto topology = support::shape(shapes[seed % 4]);
    const auto npus = static_cast<std::uint32_t>(topology.npus());
    const auto collective = support::any_collective(CollectiveKind::mixed, npus, bytes(300'000), 1,
                                                    support::drawn_groups(npus, random), seed);
    const auto program = support::program_of("direct", topology, collective);
    const auto trains = simulate(topology, collective, *program, measuring(SimulationEngine::trains));
    if (!trains.ok()) continue;  // an All-Reduce, or several sizes on a block that takes one
    ++runs;
    expect_same(*trains, simulate(topology, collective, *program, measuring(SimulationEngine::window)).value());
  }
  EXPECT_GT(runs, 20);
}

TEST(TrainsEngine, EqualsTheWindowEngineOnRandomTraffic) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    constexpr const char* shapes[] = {"RI(9)", "LI(8)", "FC(5)", "SW(6)", "RI(16)"};
    const auto topology = support::shape(shapes[seed % 5]);
    const auto npus = static_cast<std::uint32_t>(topology.npus());
    const support::OpenScript program(npus, seed);
    const auto collective = support::collective(CollectiveKind::all_gather, npus, bytes(100'000));
    for (const auto occupancy : support::kOccupancies) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      expect_same(simulate(topology, collective, program, measuring(SimulationEngine::trains, occupancy)).value(),
                  simulate(topology, collective, program, measuring(SimulationEngine::window, occupancy)).value());
      if (HasFailure()) return;
    }
  }
}

/// NPUs on a switch with virtual cut-through: 50 GB/s up, 25, 50 or 100 GB/s down.
Topology uneven_switch(std::uint32_t npus, SimTime alpha) {
  TopologyBuilder builder(npus);
  const VertexId hub = builder.add_switch({.forwarding = Forwarding::virtual_cut_through});
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    builder.add_link({VertexId(npu), hub, alpha, gigabytes_per_second(50)});
    builder.add_link({hub, VertexId(npu), alpha, gigabytes_per_second(25 << (npu % 3))});
  }
  builder.declare_shape(parse_shape(fmt::format("SW({})", npus)).value());
  return std::move(builder).build().value();
}

TEST(TrainsEngine, EqualsTheWindowEngineOverVirtualCutThrough) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const auto npus = static_cast<std::uint32_t>(3 + seed % 5);
    auto topology = uneven_switch(npus, seed % 2 == 0 ? SimTime::zero() : nanoseconds(500));
    if (seed % 3 == 0) topology = with_overhead(topology, nanoseconds(700)).value();
    const support::OpenScript program(npus, seed);
    const auto collective = support::collective(CollectiveKind::all_gather, npus, bytes(100'000));
    for (const auto occupancy : support::kOccupancies) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      expect_same(simulate(topology, collective, program, measuring(SimulationEngine::trains, occupancy)).value(),
                  simulate(topology, collective, program, measuring(SimulationEngine::window, occupancy)).value());
      if (HasFailure()) return;
    }
  }
  const auto early = support::switched(9).with_switches({.forwarding = Forwarding::virtual_cut_through});
  EXPECT_GE(count_equal_runs(SimulationEngine::trains, early, 2), 3);
  EXPECT_GE(count_equal_runs(SimulationEngine::trains, early, 2, "0,3,5,6; 1,2,7"), 3);
}

TEST(WindowEngine, ElidesLastHopsWithoutChangingAnything) {
  // A record of sends keeps every event; without it, an open loop's deliveries are known when their last hop starts.
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    constexpr const char* shapes[] = {"RI(4)_RI(4)", "LI(3)_SW(4)", "FC(5)", "SW(6)", "RI(9)"};
    const auto topology = support::shape(shapes[seed % 5]);
    const support::OpenScript program(static_cast<std::uint32_t>(topology.npus()), seed);
    const auto collective = support::collective(CollectiveKind::all_gather, topology.npus(), bytes(100'000));
    auto options = measuring(SimulationEngine::window);
    const auto elided = simulate(topology, collective, program, options).value();
    options.record_sends = true;
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same(elided, simulate(topology, collective, program, options).value());
    if (HasFailure()) return;
  }
}

TEST(WindowEngine, IsTheSameOnAnyNumberOfThreads) {
  // Large enough that the ports are split: 16 x 16 x 16 NPUs, 24,576 links. Two rings of the first dimension work.
  const auto topology = support::shape("RI(16)_RI(16)_RI(16)");
  std::string groups;
  for (int first = 0; first < 4096; first += 8)
    groups += (groups.empty() ? "" : "; ") + std::to_string(first) + "-" + std::to_string(first + 7);
  const auto collective = support::collective(CollectiveKind::all_reduce, 4096, bytes(8'000), 2, groups);
  for (const auto* algorithm : {"ring", "direct"}) {
    const auto program = support::program_of(algorithm, topology, collective);
    auto options = measuring(SimulationEngine::window);
    const auto alone = simulate(topology, collective, *program, options).value();
    for (const int threads : {2, 4}) {
      options.threads = threads;
      expect_same(simulate(topology, collective, *program, options).value(), alone);
    }
  }
}

TEST(WindowEngine, WaitsForNpusThatStartLate) {
  // A one-way ring of 3 with messages of 20 us: NPU 1 starts at 100 us. NPU 0's message (at NPU 1 at 20.5 us) is passed
  // on at 100 us, behind NPU 1's own: at NPU 2 at 100 + 20 + 20.5 us. NPU 1's own, at NPU 2 at 120.5 us, goes on to NPU
  // 0 (141 us). NPU 1 itself gets NPU 2's chunk through NPU 0 at 41 us.
  const auto ring = support::ring(3);
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(3'000'000));
  const auto program = support::program_of("ring_unidirectional", ring, collective);
  for (const auto engine : {SimulationEngine::window, SimulationEngine::static_order}) {
    auto options = measuring(engine);
    options.start_delays = {{NpuId(1), microseconds(100)}};
    const auto late = simulate(ring, collective, *program, options).value();
    EXPECT_EQ(late.npu_finish[0], microseconds(141));
    EXPECT_EQ(late.npu_finish[1], microseconds(41));
    EXPECT_EQ(late.npu_finish[2], nanoseconds(140'500));
  }
}

/// 0 - 1 - 2: NPUs 0 and 2 exchange 1 MB each way over NPU 1; 20 us on a link, alpha 0.5 us.
struct Relayed {
  Topology line = support::line(3);
  Collective collective = support::collective(CollectiveKind::all_gather, 3, bytes(2'000'000), 1, "0,2");
  std::shared_ptr<const Program> program = support::program_of("direct", line, collective);
};

TEST(WindowEngine, LetsAnNpuForwardNothingBeforeItsStart) {
  // A message that is at NPU 1 at 20.5 us goes on when NPU 1 starts, at 100 us, and arrives at 120.5 us. A start at
  // 20.5 us is no delay.
  const Relayed relayed;
  for (const auto& [delay, finish] :
       {std::pair(microseconds(100), nanoseconds(120'500)), std::pair(nanoseconds(20'500), microseconds(41)),
        std::pair(nanoseconds(20'501), nanoseconds(41'001))}) {
    auto options = measuring(SimulationEngine::window);
    options.start_delays = {{NpuId(1), delay}};
    EXPECT_EQ(simulate(relayed.line, relayed.collective, *relayed.program, options)->finish, finish);
  }
}

TEST(CongestionUnawareBackend, LetsAnNpuForwardNothingBeforeItsStart) {
  // The head of a message is at NPU 1 after one alpha, goes on at 100 us, and takes another alpha and 20 us for its
  // bytes.
  const Relayed relayed;
  SimulationOptions options;
  options.backend = Backend::congestion_unaware;
  options.start_delays = {{NpuId(1), microseconds(100)}};
  EXPECT_EQ(simulate(relayed.line, relayed.collective, *relayed.program, options)->finish, nanoseconds(120'500));
}

TEST(StaticOrderEngine, LeavesRoutesThroughLateNpusToTheWindowEngine) {
  // A one-way ring of NPUs 0, 2 and 4 on a ring of 6: every second NPU only forwards.
  const auto ring = support::ring(6);
  const auto collective = support::collective(CollectiveKind::all_gather, 6, bytes(3'000'000), 1, "0,2,4");
  const auto program = support::program_of("ring_unidirectional", ring, collective);
  auto options = measuring(SimulationEngine::static_order);
  EXPECT_TRUE(simulate(ring, collective, *program, options).ok());
  options.start_delays = {{NpuId(2), microseconds(100)}};
  EXPECT_TRUE(simulate(ring, collective, *program, options).ok());
  options.start_delays = {{NpuId(3), microseconds(100)}};
  EXPECT_FALSE(simulate(ring, collective, *program, options).ok());
  options.engine = SimulationEngine::automatic;
  const auto late = simulate(ring, collective, *program, options).value();
  EXPECT_EQ(late.engine, SimulationEngine::window);
  // NPU 2 sends at time zero: at NPU 3 at 20.5 us, passed on at 100 us, at NPU 4 at 120.5 us and at NPU 0 at 161.5 us.
  EXPECT_EQ(late.finish, nanoseconds(161'500));
}

TEST(Simulate, TakesTheFastestEngineThatCan) {
  const auto engine_of = [](std::string_view algorithm, const Topology& topology, SimulationOptions options = {}) {
    const auto collective = support::collective(CollectiveKind::all_gather, topology.npus(), bytes(100'000));
    return simulate(topology, collective, *support::program_of(algorithm, topology, collective), options)->engine;
  };
  EXPECT_EQ(engine_of("direct", support::torus(4, 4)), SimulationEngine::orbit);
  EXPECT_EQ(engine_of("ring", support::line(5)), SimulationEngine::window);
  EXPECT_EQ(engine_of("ring_unidirectional", support::line(5)), SimulationEngine::static_order);
  EXPECT_EQ(engine_of("direct", support::switched(5)), SimulationEngine::trains);
  SimulationOptions recording;
  recording.record_sends = true;
  EXPECT_EQ(engine_of("direct", support::torus(4, 4), recording), SimulationEngine::window);
  EXPECT_EQ(engine_of("ring_unidirectional", support::line(5), recording), SimulationEngine::static_order);
  EXPECT_EQ(engine_of("ring_unidirectional", support::ring(5), recording), SimulationEngine::static_order);
}

TEST(Simulate, HasAnEntryForEveryEngine) {
  constexpr auto kLast = static_cast<int>(SimulationEngine::wires);
  ASSERT_EQ(simulation_engines().size(), static_cast<std::size_t>(kLast));
  for (int engine = 1; engine <= kLast; ++engine)
    EXPECT_EQ(traits_of(static_cast<SimulationEngine>(engine)).engine, static_cast<SimulationEngine>(engine));
  EXPECT_TRUE(traits_of(SimulationEngine::window).records_sends);
  EXPECT_FALSE(traits_of(SimulationEngine::orbit).records_sends);
}

TEST(Simulate, RefusesDelaysThatMakeNoSense) {
  const auto ring = support::ring(3);
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(3'000));
  const auto program = support::program_of("ring", ring, collective);
  SimulationOptions options;
  options.start_delays = {{NpuId(3), microseconds(1)}};
  EXPECT_FALSE(simulate(ring, collective, *program, options));
  options.start_delays = {{NpuId(1), microseconds(1)}, {NpuId(1), microseconds(2)}};
  EXPECT_FALSE(simulate(ring, collective, *program, options));
  options.start_delays = {{NpuId(1), picoseconds(-1)}};
  EXPECT_FALSE(simulate(ring, collective, *program, options));
}

TEST(CongestionUnawareBackend, IsAsFastAsAnIdleNetwork) {
  // Single messages meet no others. One hop: equal. k hops over links that are alike: the formula counts beta*m once,
  // store-and-forward k times, so (k-1) * beta*m more.
  const auto torus = support::torus(5, 5);
  const auto collective = support::collective(CollectiveKind::all_gather, 25, bytes(25'000'000));
  const auto serialization = serialization_time(bytes(1'000'000), support::kBandwidth);
  for (std::uint32_t to = 1; to < 25; ++to) {
    const support::ScriptedProgram program({support::flow(0, to, 0)});
    SimulationOptions options;
    const auto aware = simulate(torus, collective, program, options).value();
    options.backend = Backend::congestion_unaware;
    const auto unaware = simulate(torus, collective, program, options).value();
    EXPECT_EQ(aware.finish - unaware.finish, static_cast<std::int64_t>(aware.hops - 1) * serialization);
  }
}

TEST(CongestionUnawareBackend, RefusesWhatItCannotTell) {
  const auto ring = support::ring(3);
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(3'000));
  const auto program = support::program_of("ring", ring, collective);
  SimulationOptions options;
  options.backend = Backend::congestion_unaware;
  EXPECT_TRUE(simulate(ring, collective, *program, options));
  options.utilization_bins = 4;
  EXPECT_FALSE(simulate(ring, collective, *program, options));
  options.utilization_bins = 0;
  options.engine = SimulationEngine::orbit;
  EXPECT_FALSE(simulate(ring, collective, *program, options));
}

}  // namespace
}  // namespace tenex
