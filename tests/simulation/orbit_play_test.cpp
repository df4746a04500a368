// Plays of symmetric schedules on switches: one NPU's sends stand for all.
#include "simulation/replay/orbit_play.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedule/symmetric_factories.hpp"
#include "simulation/replay/switched_pass.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/simulation/switched_replay.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// An intact product with switches; each dimension has its own alpha and bandwidth.
Topology drawn_product(Random& random) {
  constexpr const char* shapes[] = {"SW(5)",       "SW(2)",       "SW(3)_SW(4)", "RI(4)_SW(3)",
                                    "FC(3)_SW(4)", "SW(4)_RI(2)", "LI(2)_SW(5)", "SW(3)_FC(2)_SW(2)"};
  const std::string text = shapes[random.below(8)];
  return support::with_drawn_links(text, random);
}

/// A symmetric schedule: in lockstep, or by the synthesizer; of an All-Reduce with its halves apart or not.
Schedule drawn_schedule(const Instance& instance, Random& random) {
  const auto kind = instance.collective.kind();
  if (kind == CollectiveKind::all_to_all)
    return test::symmetric(instance.topology, instance.collective, test::exchange_orbits(instance));
  if (random.below(2) == 0) {
    SynthesisProblem problem{instance};
    problem.engine = "symmetric";
    const auto made = find_synthesizer("tacos")->synthesize(problem).value();
    return random.below(2) == 0 ? made.schedule : made.without_overlap;
  }
  const auto gather = instance.collective.as(CollectiveKind::all_gather);
  const auto gathered =
      test::symmetric(instance.topology, gather, test::gather_orbits({instance.topology, gather, instance.occupancy}));
  if (kind == CollectiveKind::all_gather) return gathered;
  const auto scattered = reversed_symmetric(instance, gathered);
  if (kind == CollectiveKind::reduce_scatter) return scattered;
  return then_gather_symmetric(scattered, gathered, last_arrival_symmetric(instance, scattered));
}

/// The sends in order, without the messages of a play one by one.
std::vector<Send> plain_sends(const Schedule& schedule) {
  auto sends = list_sends(schedule);
  for (Send& send : sends) {
    send.message = MessageId::none();
    send.destination = NpuId::none();
  }
  return sends;
}

TEST(OrbitPlay, StartsEverySendAsAPlayOneByOne) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed, 0x6f726269);
    const auto network = drawn_product(random);
    const auto unwound = unwind_with_origins(network, 1 + random.below(4)).value();
    constexpr CollectiveKind kinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                        CollectiveKind::all_reduce, CollectiveKind::all_to_all};
    const auto kind = kinds[seed % 4];
    const auto collective = support::collective(kind, network.npus(), bytes(600'000), 1 + random.below(3));
    SimulationOptions options;
    options.occupancy = random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer;
    options.record_sends = true;
    const auto schedule = drawn_schedule({unwound.topology, collective, options.occupancy}, random);
    const bool overlap = random.below(2) == 0;
    for (const auto forwarding : {Forwarding::store_and_forward, Forwarding::cut_through}) {
      SCOPED_TRACE(std::string(to_string(kind)) + ", " + std::string(to_string(forwarding)) + ", seed " +
                   std::to_string(seed));
      const auto real = wires_of(network.with_switches(SwitchProperties{.forwarding = forwarding})).value();
      const auto paths = find_played_paths(real, unwound).value();
      const SwitchedInput input{real, unwound, paths, collective, schedule, options, overlap};
      ASSERT_TRUE(moves_by_orbit(input));
      const auto by_orbit = play_by_orbit(input);
      const auto one_by_one = play_in_pass(input, count_sends(input).value());
      ASSERT_TRUE(by_orbit.has_value() && one_by_one.has_value());
      ASSERT_EQ(by_orbit->finish, one_by_one->finish);
      ASSERT_EQ(by_orbit->messages, one_by_one->messages);
      ASSERT_EQ(by_orbit->hops, one_by_one->hops);
      ASSERT_EQ(list_sends(by_orbit->sends), plain_sends(one_by_one->sends));
      const Instance instance{real, collective, options.occupancy};
      ASSERT_TRUE(has_orbit_check(real, collective, by_orbit->sends));
      for (const auto& verdict : {verify_symmetric(instance, by_orbit->sends), verify(instance, by_orbit->sends)}) {
        ASSERT_TRUE(verdict.valid()) << support::first_finding(verdict);
        ASSERT_EQ(verdict.collective_time, by_orbit->finish);
      }
    }
  }
}

// A switch that copies gets a chunk once for both neighbours to which NPU i sends it: 3 NPUs, 2 chunks to each, over 3
// links up and 6 down. Times stay as they are.
TEST(OrbitPlay, SendsAChunkOnceToASwitchThatCopies) {
  const auto network = support::switched(3);
  const auto unwound = unwind_with_origins(network, 2).value();
  const auto collective = support::collective(CollectiveKind::all_gather, 3, bytes(150'000));
  SimulationOptions options;
  options.record_sends = true;
  const auto schedule =
      test::symmetric(unwound.topology, collective, test::gather_orbits({unwound.topology, collective}));
  const auto paths = find_played_paths(network, unwound).value();
  const auto plain = play_by_orbit({network, unwound, paths, collective, schedule, options}).value();
  const auto copying = network.with_switches(SwitchProperties{.copy = true});
  const auto copied = play_by_orbit({copying, unwound, paths, collective, schedule, options}).value();
  EXPECT_EQ(plain.hops, 12U);
  EXPECT_EQ(copied.hops, 9U);
  EXPECT_EQ(copied.finish, plain.finish);
  EXPECT_TRUE(verify({copying, collective}, copied.sends).valid());
  EXPECT_TRUE(verify_symmetric({copying, collective}, copied.sends).valid());
}

TEST(OrbitPlay, IsForWhatIsAlikeForAllNpus) {
  const auto network = support::switched(4);
  const auto unwound = unwind_with_origins(network, 1).value();
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(200'000));
  const auto paths = find_played_paths(network, unwound).value();
  const auto schedule =
      test::symmetric(unwound.topology, collective, test::gather_orbits({unwound.topology, collective}));
  const SimulationOptions plain;
  EXPECT_TRUE(moves_by_orbit({network, unwound, paths, collective, schedule, plain}));
  const auto listed = make_list_schedule(list_sends(schedule));
  EXPECT_FALSE(moves_by_orbit({network, unwound, paths, collective, listed, plain}));
  SimulationOptions late;
  late.start_delays = {{NpuId(0), microseconds(1)}};
  EXPECT_FALSE(moves_by_orbit({network, unwound, paths, collective, schedule, late}));
  SimulationOptions observed;
  observed.record_npu_finish = true;
  EXPECT_FALSE(moves_by_orbit({network, unwound, paths, collective, schedule, observed}));
  // Links that differ: NPU 1's are slower.
  const std::vector<Slowdown> slow{{VertexId(1), {}, 2000}};
  const auto uneven = slow_links(network, slow).value();
  EXPECT_FALSE(play_by_orbit({uneven, unwound, paths, collective, schedule, plain}));
}

// 2,000 * 1,999 sends are played by orbit: each NPU's 1,999 sends of two hops follow each other, (alpha + beta*m) * 2 =
// 2 * (0.5 us + 1 us) apart.
TEST(OrbitPlay, PlaysLargeSchedules) {
  const auto network = support::switched(2'000);
  const auto unwound = unwind_with_origins(network, 1).value();
  const auto collective = support::collective(CollectiveKind::all_gather, 2'000, bytes(100'000'000));
  const auto schedule =
      test::symmetric(unwound.topology, collective, test::gather_orbits({unwound.topology, collective}));
  SimulationOptions options;
  options.record_sends = true;
  const SwitchPlay within{.memory_limit_bytes = std::size_t{4} << 20};
  const auto played = play_on_switches(network, unwound, collective, schedule, options, within).value();
  EXPECT_EQ(played.finish, microseconds(1'999 * 3));
  EXPECT_EQ(played.hops, 2'000U * 1'999 * 2);
  EXPECT_TRUE(verify_symmetric({network, collective}, played.sends).valid());
  const SwitchPlay little{.memory_limit_bytes = 1000};
  const auto refused = play_on_switches(network, unwound, collective, schedule, options, little);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors()[0].fault, Fault::resource);
}

}  // namespace
}  // namespace tenex
