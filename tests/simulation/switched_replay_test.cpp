// Schedules for unwound switches, played on the switches.
#include "tenex/simulation/switched_replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulation/replay/switched_lists.hpp"
#include "simulation/replay/switched_pass.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

constexpr SwitchProperties kCuttingThrough{.forwarding = Forwarding::cut_through};

/// The network as it is played on: the wires of one that cuts through.
Topology played_network(const Topology& network, Forwarding forwarding) {
  if (forwarding == Forwarding::store_and_forward) return network;
  return wires_of(network.with_switches(kCuttingThrough)).value();
}

Synthesis synthesis(const Topology& unwound, const Collective& collective, Occupancy occupancy, std::uint64_t seed) {
  const bool exchange = collective.kind() == CollectiveKind::all_to_all;
  SynthesisProblem problem{{unwound, collective, occupancy}};
  problem.seed = seed;
  return find_synthesizer(exchange ? "pccl" : "tacos")->synthesize(problem).value();
}

Schedule synthesized(const Topology& unwound, const Collective& collective, Occupancy occupancy, std::uint64_t seed) {
  return synthesis(unwound, collective, occupancy, seed).schedule;
}

SimulationOptions kept(Occupancy occupancy) {
  SimulationOptions options;
  options.occupancy = occupancy;
  options.record_sends = true;
  return options;
}

// SW(4), degree 1, is a ring one way: All-Gather takes three steps over an unwound link, each alpha + beta*m = 0.5 us +
// 1 us. On the switch a step is two links: 2 * 1.5 us if it stores and forwards, 2 * 0.5 us + 1 us if it cuts through.
TEST(SwitchedReplay, TakesTwoHopsOrOneWirePerStepOfARing) {
  const auto network = support::switched(4);
  const auto unwound = unwind_with_origins(network, 1).value();
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(200'000));
  for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
    const auto schedule = synthesized(unwound.topology, collective, occupancy, 1);
    ASSERT_EQ(last_arrival({unwound.topology, collective, occupancy}, schedule), nanoseconds(4500));
    const auto stored = play_on_switches(network, unwound, collective, schedule, kept(occupancy)).value();
    EXPECT_EQ(stored.finish, nanoseconds(9000));
    EXPECT_EQ(stored.sends.sends(), 24U);  // 4 NPUs receive 3 chunks, over two links each
    const auto wires = played_network(network, Forwarding::cut_through);
    const auto cut = play_on_switches(wires, unwound, collective, schedule, kept(occupancy)).value();
    EXPECT_EQ(cut.finish, nanoseconds(6000));
    EXPECT_EQ(cut.sends.sends(), 12U);
  }
}

// SW(3), degree 2, is fully connected at half the bandwidth: All-Gather takes one step of 0.5 us + 2 us. On the switch
// NPU i sends its chunk to i + 1 at 0 us and to i + 2 at 1 us, at full bandwidth; all links to NPUs are free when a
// chunk comes: 1 us + 2 * 1.5 us if it is stored, 1 us + 2 us if it cuts through.
TEST(SwitchedReplay, LetsTheLinksOfAnNpuTakeTurnsAtFullBandwidth) {
  const auto network = support::switched(3);
  const auto unwound = unwind_with_origins(network, 2).value();
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(150'000));
  const auto schedule = synthesized(unwound.topology, collective, Occupancy::serialization, 1);
  ASSERT_EQ(last_arrival({unwound.topology, collective, Occupancy::serialization}, schedule), nanoseconds(2500));
  const auto options = kept(Occupancy::serialization);
  EXPECT_EQ(play_on_switches(network, unwound, collective, schedule, options)->finish, nanoseconds(4000));
  const auto wires = played_network(network, Forwarding::cut_through);
  EXPECT_EQ(play_on_switches(wires, unwound, collective, schedule, options)->finish, nanoseconds(3000));
}

TEST(SwitchedReplay, LeavesNetworksWithoutSwitchesAsTheyAre) {
  const auto ring = support::ring(5);
  const auto unwound = unwind_with_origins(ring, 1).value();
  const auto collective = support::collective(CollectiveKind::all_reduce, 5, bytes(500'000));
  const auto schedule = synthesized(unwound.topology, collective, Occupancy::serialization, 3);
  const auto played = play_on_switches(ring, unwound, collective, schedule, kept(Occupancy::serialization)).value();
  EXPECT_EQ(played.finish,
            replay(ring, collective, schedule, Replay::as_soon_as_possible, kept(Occupancy::serialization))->finish);
}

/// A shape with switches, some joined with each other; each dimension has its own alpha and bandwidth.
Topology drawn_network(Random& random) {
  constexpr const char* shapes[] = {"SW(5)",       "SW(3)_SW(3)",   "RI(3)_SW(4)", "SW(4)_RI(2)",
                                    "FC(3)_SW(3)", "LI(2)_SW(5)",   "SW(2)_LI(3)", "SW(3)_FC(2)_SW(2)",
                                    "SW(4,2)",     "SW(4,2)_RI(2)", "fat_tree(4)"};
  const std::string text = shapes[random.below(11)];
  return support::with_drawn_links(text, random);
}

TEST(SwitchedReplay, IsAValidScheduleOfTheNetworkAndNeverBelowItsBound) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed, 0x73776974);
    auto network = drawn_network(random);
    std::vector<Slowdown> slow;
    if (random.below(3) == 0) {
      slow.push_back({VertexId(random.below(static_cast<std::uint32_t>(network.npus()))), {}, 1700, 2300});
      network = slow_links(network, slow).value().without_shape();
    }
    const auto unwound = unwind_with_origins(network, 1 + random.below(3), slow).value();
    constexpr CollectiveKind kinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                        CollectiveKind::all_reduce, CollectiveKind::all_to_all};
    const auto kind = kinds[seed % 4];
    const auto occupancy = random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer;
    const auto collective = support::collective(kind, network.npus(), bytes(600'000), 1 + random.below(3));
    const auto schedule = synthesized(unwound.topology.without_shape(), collective, occupancy, seed);
    for (const auto forwarding : {Forwarding::store_and_forward, Forwarding::cut_through}) {
      SCOPED_TRACE(std::string(to_string(kind)) + ", " + std::string(to_string(forwarding)) + ", seed " +
                   std::to_string(seed));
      const auto real = played_network(network, forwarding);
      const auto played = play_on_switches(real, unwound, collective, schedule, kept(occupancy)).value();
      const auto verdict = verify({real, collective, occupancy}, played.sends);
      ASSERT_TRUE(verdict.valid()) << support::first_finding(verdict);
      ASSERT_EQ(verdict.collective_time, played.finish);
      ASSERT_GE(played.finish, best_cheap_bound({{real, collective, occupancy}, true}).time);
    }
  }
}

/// Switches of one kind, or each of its own.
std::vector<SwitchProperties> drawn_switches(std::size_t count, Random& random) {
  std::vector<SwitchProperties> switches(count);
  const auto kind = random.below(3);
  for (auto& each : switches)
    if (kind == 1 || (kind == 2 && random.below(2) == 0)) each = kCuttingThrough;
  return switches;
}

void expect_same_play(const Simulation& a, const Simulation& b) {
  EXPECT_EQ(a.finish, b.finish);
  EXPECT_EQ(a.messages, b.messages);
  EXPECT_EQ(a.hops, b.hops);
  EXPECT_EQ(a.npu_finish, b.npu_finish);
  EXPECT_EQ(a.arrivals, b.arrivals);
  EXPECT_EQ(a.utilization.busy_ps, b.utilization.busy_ps);
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t link = 0; link < a.links.size(); ++link) {
    EXPECT_EQ(a.links[link].bytes, b.links[link].bytes);
    EXPECT_EQ(a.links[link].busy, b.links[link].busy);
  }
  EXPECT_EQ(list_sends(a.sends), list_sends(b.sends));
}

// One pass and the lists take each link's sends in one order, each as soon as it may. So all times are equal.
TEST(SwitchedReplay, PlaysInOnePassAsInLists) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed, 0x70617373);
    auto network = drawn_network(random);
    network = network.with_switches(drawn_switches(network.switches(), random));
    const auto unwound = unwind_with_origins(network, 1 + random.below(3)).value();
    constexpr CollectiveKind kinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                        CollectiveKind::all_reduce, CollectiveKind::all_to_all};
    const auto kind = kinds[seed % 4];
    const auto collective = support::collective(kind, network.npus(), bytes(600'000), 1 + random.below(3));
    auto options = kept(random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer);
    for (std::uint32_t npu = 0; npu < 2 && random.below(2) == 0; ++npu)
      options.start_delays.push_back({NpuId(npu), nanoseconds(1700 * (1 + random.below(5)))});
    options.record_links = options.record_npu_finish = options.record_arrivals = true;
    options.utilization_bins = 7;
    const auto made = synthesis(unwound.topology.without_shape(), collective, options.occupancy, seed);
    const auto real = wires_of(network).value();
    const auto found = find_played_paths(real, unwound);
    if (!found && real.switches() > 0) continue;  // there are wires over some of many paths between other switches
    const auto& paths = found.value();
    for (const auto& schedule : {made.schedule, made.without_overlap})
      for (const bool overlap : {true, false}) {
        SCOPED_TRACE(std::string(to_string(kind)) + ", seed " + std::to_string(seed));
        const SwitchedInput input{real, unwound, paths, collective, schedule, options, overlap};
        const auto in_pass = play_in_pass(input, count_sends(input).value());
        ASSERT_TRUE(in_pass.has_value());
        expect_same_play(*in_pass, play_in_lists(input).value());
        VerifyOptions checks;
        checks.start_delays = options.start_delays;
        const auto verdict = verify({real, collective, options.occupancy}, in_pass->sends, checks);
        ASSERT_TRUE(verdict.valid()) << support::first_finding(verdict);
        if (HasFailure()) return;
      }
  }
}

// So lists are for schedules from files.
TEST(SwitchedReplay, PlaysWhatSynthesizersMakeInOnePass) {
  for (const auto& synthesizer : synthesizers())
    for (const auto& network : {support::switched(4), support::shape("SW(2)_SW(2)")})
      for (const auto kind : support::plain_kinds()) {
        if (synthesizer.reads.switches || !synthesizer.makes(kind)) continue;
        SCOPED_TRACE(std::string(synthesizer.name) + ", " + std::string(to_string(kind)));
        const auto unwound = unwind_with_origins(network, 1).value();
        const auto collective = support::collective(kind, 4, bytes(800'000));
        const auto made = synthesizer.synthesize({{unwound.topology, collective, Occupancy::serialization}}).value();
        const auto options = kept(Occupancy::serialization);
        const auto paths = find_played_paths(network, unwound).value();
        const SwitchedInput input{network, unwound, paths, collective, made.schedule, options};
        EXPECT_TRUE(play_in_pass(input, count_sends(input).value()));
      }
}

// What a send waits for does not follow from the order of sends where NPU 2 gets chunk 0 from NPU 0 and from NPU 1, and
// where two NPUs exchange their parts of a sum, so that each gets one after it has sent its own.
TEST(SwitchedReplay, PlaysWasteAndExchangesOfSumsByLists) {
  const auto options = kept(Occupancy::serialization);
  const auto three = support::switched(3);
  const auto twice = unwind_with_origins(three, 2).value();  // 0->1, 0->2, 1->2, 1->0, 2->0, 2->1
  const auto gather = support::collective(CollectiveKind::all_gather, 3, bytes(150'000));
  auto sends = list_sends(synthesized(twice.topology, gather, Occupancy::serialization, 1));
  sends.push_back({microseconds(50), LinkId(2), ChunkId(0)});
  const auto two = support::switched(2);
  const auto pair = unwind_with_origins(two, 1).value();  // 0->1, 1->0
  const auto reduce = support::collective(CollectiveKind::all_reduce, 2, bytes(100'000));
  std::vector<Send> sums;
  for (const std::uint32_t chunk : {0, 1})
    for (const std::uint32_t link : {0, 1})
      sums.push_back({microseconds(50 * chunk), LinkId(link), ChunkId(chunk), Stage::reduce});
  const auto expect_listed = [&](const Topology& network, const UnwoundNetwork& unwound, const Collective& collective,
                                 const Schedule& schedule) {
    const auto verdict = verify({unwound.topology, collective}, schedule);
    ASSERT_TRUE(verdict.valid()) << support::first_finding(verdict);
    const auto paths = find_played_paths(network, unwound).value();
    const SwitchedInput input{network, unwound, paths, collective, schedule, options};
    EXPECT_FALSE(play_in_pass(input, count_sends(input).value()));
    const auto played = play_on_switches(network, unwound, collective, schedule, options).value();
    EXPECT_TRUE(verify({network, collective}, played.sends).valid());
    // 150 bytes for each of the hops are too many.
    const SwitchPlay little{.memory_limit_bytes = 2 * schedule.sends() * 100};
    const auto refused = play_on_switches(network, unwound, collective, schedule, options, little);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.errors()[0].fault, Fault::resource);
  };
  expect_listed(three, twice, gather, make_list_schedule(sends));
  expect_listed(two, pair, reduce, make_list_schedule(sums));
}

// The ring 0 -> 1 -> 2 -> 3 -> 0 again, over the switch: a hop is 1.5 us, a link is busy for 1 us. NPU 0 starts at 10
// us and sends its own chunk at 10, that of NPU 3 at 11 and that of NPU 2 at 12 us. Its own is at NPU 1 at 13, at NPU 2
// at 16 and at NPU 3 at 19 us; the next is at NPU 1 at 14 and at NPU 2 at 17 us; the last is at NPU 1 at 15 us.
TEST(SwitchedReplay, WaitsForLateNpus) {
  const auto network = support::switched(4);
  const auto unwound = unwind_with_origins(network, 1).value();
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(200'000));
  const auto schedule = synthesized(unwound.topology, collective, Occupancy::serialization, 1);
  auto options = kept(Occupancy::serialization);
  options.start_delays = {{NpuId(0), microseconds(10)}};
  const auto played = play_on_switches(network, unwound, collective, schedule, options).value();
  EXPECT_EQ(played.finish, microseconds(19));
  VerifyOptions checks;
  checks.start_delays = options.start_delays;
  EXPECT_TRUE(verify({network, collective}, played.sends, checks).valid());
  options.start_delays.push_back({NpuId(0), microseconds(1)});
  EXPECT_FALSE(play_on_switches(network, unwound, collective, schedule, options));  // twice
}

// Without overlap the first copy waits for the last sum; with it, a chunk's copy leaves when its own sum is there.
TEST(SwitchedReplay, KeepsTheTwoHalvesApartWhereAsked) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed, 0x68616c66);
    const auto network = drawn_network(random);
    const auto unwound = unwind_with_origins(network, 1).value();
    const auto collective = support::collective(CollectiveKind::all_reduce, network.npus(), bytes(600'000), 2);
    const auto schedule = synthesized(unwound.topology.without_shape(), collective, Occupancy::serialization, seed);
    const auto options = kept(Occupancy::serialization);
    const auto together = play_on_switches(network, unwound, collective, schedule, options).value();
    const auto apart = play_on_switches(network, unwound, collective, schedule, options, {.overlap = false}).value();
    const HopTimes hops(network, collective.chunk_sizes(), Occupancy::serialization);
    SimTime last_sum;
    for (const auto& send : list_sends(apart.sends))
      if (send.stage == Stage::reduce)
        last_sum = std::max(last_sum, send.start + hops.at(network.class_of(send.link), 0).latency);
    for (const auto& send : list_sends(apart.sends)) {
      if (send.stage != Stage::copy) continue;
      ASSERT_GE(send.start, last_sum) << seed;
    }
    ASSERT_TRUE(verify({network, collective}, apart.sends).valid()) << seed;
    ASSERT_GE(apart.finish, together.finish) << seed;
  }
}

TEST(SwitchedReplay, RefusesAnotherNetwork) {
  const auto network = support::switched(4);
  const auto unwound = unwind_with_origins(network, 1).value();
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(200'000));
  const auto schedule = synthesized(unwound.topology, collective, Occupancy::serialization, 1);
  const auto options = kept(Occupancy::serialization);
  EXPECT_FALSE(play_on_switches(support::switched(5), unwound, collective, schedule, options));
  EXPECT_FALSE(play_on_switches(support::ring(4), unwound, collective, schedule, options));
  const auto limited =
      play_on_switches(network.with_switches(SwitchProperties{.buffer = 2}), unwound, collective, schedule, options);
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.errors()[0].fault, Fault::unsupported);
}

}  // namespace
}  // namespace tenex
