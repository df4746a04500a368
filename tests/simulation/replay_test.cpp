#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "schedule/schedule_factories.hpp"
#include "simulation/programs.hpp"
#include "simulation/replay/link_set.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

SimulationOptions recording_by(Occupancy occupancy = Occupancy::serialization) {
  SimulationOptions options;
  options.occupancy = occupancy;
  options.record_sends = true;
  options.record_links = true;
  return options;
}

Send send(SimTime start, std::uint32_t link, std::uint32_t chunk, Stage stage = Stage::copy) {
  Send result;
  result.start = start;
  result.link = LinkId(link);
  result.chunk = ChunkId(chunk);
  result.stage = stage;
  return result;
}

Send hop(SimTime start, std::uint32_t link, std::uint32_t chunk, std::uint32_t message, std::uint32_t destination) {
  auto result = send(start, link, chunk);
  result.message = MessageId(message);
  result.destination = NpuId(destination);
  return result;
}

// The sends of each link in order.
std::map<LinkId, std::vector<Send>> by_link(const Schedule& schedule) {
  std::map<LinkId, std::vector<Send>> result;
  for (const auto& s : list_sends(schedule)) result[s.link].push_back(s);
  return result;
}

// Expects every send of `replayed` to be the one at the same position of its link in `plan`, and not later.
void expect_never_later(const Schedule& replayed, const Schedule& plan) {
  auto ours = by_link(replayed);
  for (const auto& [link, planned] : by_link(plan)) {
    ASSERT_EQ(ours[link].size(), planned.size());
    for (std::size_t i = 0; i < planned.size(); ++i) {
      ASSERT_EQ(ours[link][i].chunk, planned[i].chunk);
      ASSERT_EQ(ours[link][i].message, planned[i].message);
      ASSERT_LE(ours[link][i].start, planned[i].start);
    }
  }
}

// All starts multiplied: the same order, still valid, with slack everywhere.
Schedule stretched(const Schedule& schedule, std::int64_t factor) {
  auto sends = list_sends(schedule);
  for (auto& s : sends) s.start *= factor;
  return make_list_schedule(std::move(sends));
}

template <class Check>
void for_plans(Check&& check) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto topology = seed < 4    ? support::shape("RI(3)_FC(2)_SW(2)")
                          : seed == 5 ? support::mesh(3, 3)
                                      : support::random_connected_topology(seed, 10, seed % 2 == 0);
    const auto& algorithm = algorithms()[seed % algorithms().size()];
    for (const auto kind : support::kGathersAndSums)
      for (const auto occupancy : support::kOccupancies) {
        const auto collective = support::collective(kind, topology.npus(), bytes(90'000), 1 + seed % 3);
        SCOPED_TRACE("seed " + std::to_string(seed) + " " + std::string(algorithm.name) + " " +
                     std::string(to_string(kind)) + " " + std::string(to_string(occupancy)));
        if (!support::program_if_defined(algorithm, topology, collective)) continue;
        const auto simulation = support::run(algorithm.name, topology, collective, occupancy);
        if (simulation.sends.payloads() == nullptr) check(topology, collective, occupancy, simulation);
        if (testing::Test::HasFailure()) return;
      }
  }
}

TEST(TimedReplay, EqualsThePlan) {
  for_plans([](const Topology& topology, const Collective& collective, Occupancy occupancy, const Simulation& plan) {
    const auto replayed = replay(topology, collective, plan.sends, Replay::timed, recording_by(occupancy)).value();
    ASSERT_EQ(list_sends(replayed.sends), list_sends(plan.sends));
    ASSERT_EQ(replayed.finish, plan.finish);
    ASSERT_EQ(replayed.hops, plan.hops);
    ASSERT_EQ(replayed.messages, plan.messages);
    for (std::size_t l = 0; l < plan.links.size(); ++l) {
      ASSERT_EQ(replayed.links[l].bytes, plan.links[l].bytes);
      ASSERT_EQ(replayed.links[l].busy, plan.links[l].busy);
    }
  });
}

TEST(TimedReplay, EqualsAPlanWithSlack) {
  for_plans([](const Topology& topology, const Collective& collective, Occupancy occupancy, const Simulation& plan) {
    const auto slack = stretched(plan.sends, 3);
    const auto replayed = replay(topology, collective, slack, Replay::timed, recording_by(occupancy)).value();
    ASSERT_EQ(list_sends(replayed.sends), list_sends(slack));
  });
}

TEST(PromptReplay, IsNeverLaterThanThePlanAndStaysValid) {
  for_plans([](const Topology& topology, const Collective& collective, Occupancy occupancy, const Simulation& plan) {
    for (const std::int64_t factor : {1, 3}) {
      const auto slack = stretched(plan.sends, factor);
      const auto replayed =
          replay(topology, collective, slack, Replay::as_soon_as_possible, recording_by(occupancy)).value();
      expect_never_later(replayed.sends, slack);
      // A work-conserving simulation has no slack to lose; a stretched plan shrinks back to it.
      ASSERT_LE(replayed.finish, plan.finish);
      const auto verdict = verify({topology, collective, occupancy}, replayed.sends);
      ASSERT_TRUE(verdict.valid()) << support::first_finding(verdict);
    }
  });
}

TEST(PromptReplay, IsTheRetiming) {
  for_plans([](const Topology& topology, const Collective& collective, Occupancy occupancy, const Simulation& plan) {
    const auto slack = stretched(plan.sends, 2);
    const auto replayed =
        replay(topology, collective, slack, Replay::as_soon_as_possible, recording_by(occupancy)).value();
    ASSERT_EQ(list_sends(replayed.sends), list_sends(retime({topology, collective, occupancy}, slack)));
  });
}

TEST(PromptReplay, PassesOnWhatASwitchHoldsInTheOrderOfArrivals) {
  // A switch that does not copy gets chunk 0 twice, at 20.5 and at 40.5 us, and has both when the plan sends them on.
  const auto topology = support::shape("SW(3)");
  const auto gather = support::collective(CollectiveKind::all_gather, 3, bytes(3'000'000));
  const auto link = [&](std::uint32_t a, std::uint32_t b) { return test::link_between(topology, a, b).value(); };
  const auto plan =
      make_list_schedule({send(microseconds(0), link(0, 3), 0), send(microseconds(30), link(0, 3), 0),
                          send(microseconds(100), link(3, 1), 0), send(microseconds(100), link(3, 2), 0)});
  const auto replayed = replay(topology, gather, plan, Replay::as_soon_as_possible, recording_by()).value();
  const auto starts = by_link(replayed.sends);
  EXPECT_EQ(starts.at(LinkId(link(0, 3)))[1].start, microseconds(20));
  const auto first = starts.at(LinkId(link(3, 1)))[0].start, second = starts.at(LinkId(link(3, 2)))[0].start;
  EXPECT_EQ(std::pair(std::min(first, second), std::max(first, second)),
            std::pair(nanoseconds(20'500), nanoseconds(40'500)));
}

TEST(PromptReplay, OfATransferPlanIsNeverLaterUnderSerialization) {
  for_plans([](const Topology& topology, const Collective& collective, Occupancy occupancy, const Simulation& plan) {
    if (occupancy != Occupancy::transfer) return;
    const auto options = recording_by(Occupancy::serialization);
    const auto replayed = replay(topology, collective, plan.sends, Replay::as_soon_as_possible, options).value();
    expect_never_later(replayed.sends, plan.sends);
    ASSERT_TRUE(verify({topology, collective, Occupancy::serialization}, replayed.sends).valid());
  });
}

// A line 0 - 1 - 2 of links 0->1 (0), 1->0 (1), 1->2 (2), 2->1 (3), a chunk of 1 MB, 20 us + 0.5 us: an All-Gather by
// hand.
class HandMadePlan : public testing::Test {
 protected:
  static constexpr SimTime us(std::int64_t n) { return microseconds(n); }

  static Topology line() {
    TopologyBuilder builder(3);
    builder.add_link_pair({VertexId(0), VertexId(1), support::kAlpha, support::kBandwidth});
    builder.add_link_pair({VertexId(1), VertexId(2), support::kAlpha, support::kBandwidth});
    return std::move(builder).build().value();
  }
  Result<Simulation> replayed(std::vector<Send> sends, Replay mode,
                              CollectiveKind kind = CollectiveKind::all_gather) const {
    const auto collective = support::collective(kind, 3, bytes(3'000'000));
    return replay(topology_, collective, make_list_schedule(std::move(sends)), mode, recording_by());
  }
  static std::vector<Send> sends_of(const Result<Simulation>& simulation) { return list_sends(simulation->sends); }

  const Topology topology_ = line();
  // Chunk 0 goes right, chunk 2 left, chunk 1 both ways behind the forwarded ones, with slack.
  const std::vector<Send> plan_ = {send(us(0), 0, 0),  send(us(5), 3, 2),  send(us(30), 1, 2),
                                   send(us(30), 2, 0), send(us(60), 1, 1), send(us(70), 2, 1)};
};

TEST_F(HandMadePlan, IsReplayedAsPlanned) {
  const auto simulation = replayed(plan_, Replay::timed);
  EXPECT_EQ(sends_of(simulation), plan_);
  EXPECT_EQ(simulation->finish, nanoseconds(90'500));
  EXPECT_EQ(simulation->messages, 6U);
}

TEST_F(HandMadePlan, LosesItsSlackWhenReplayedPromptly) {
  // Chunks 0 and 2 leave at 0 and are passed on at 20.5 us; chunk 1 follows when the links are free, at 40.5 us.
  const auto simulation = replayed(plan_, Replay::as_soon_as_possible);
  EXPECT_EQ(sends_of(simulation), (std::vector{send(us(0), 0, 0), send(us(0), 3, 2), send(nanoseconds(20'500), 1, 2),
                                               send(nanoseconds(20'500), 2, 0), send(nanoseconds(40'500), 1, 1),
                                               send(nanoseconds(40'500), 2, 1)}));
  EXPECT_EQ(simulation->finish, us(61));
}

TEST_F(HandMadePlan, IsHeldUpByASendBeforeItsChunkHasArrived) {
  // Chunk 0 is to leave NPU 1 at 10 us but arrives there at 20.5 us.
  const auto simulation = replayed({send(us(0), 0, 0), send(us(10), 2, 0)}, Replay::timed);
  EXPECT_EQ(sends_of(simulation), (std::vector{send(us(0), 0, 0), send(nanoseconds(20'500), 2, 0)}));
}

TEST_F(HandMadePlan, IsHeldUpByALinkThatIsTaken) {
  const auto simulation = replayed(
      {send(us(0), 2, 1), send(us(0), 0, 0), send(nanoseconds(20'500), 2, 0), send(us(30), 2, 0)}, Replay::timed);
  EXPECT_EQ(sends_of(simulation), (std::vector{send(us(0), 0, 0), send(us(0), 2, 1), send(nanoseconds(20'500), 2, 0),
                                               send(nanoseconds(40'500), 2, 0)}));
}

TEST_F(HandMadePlan, FailsWhenAChunkNeverComes) {
  const auto simulation = replayed({send(us(0), 0, 0), send(us(50), 2, 2)}, Replay::timed);
  ASSERT_FALSE(simulation.ok());
  EXPECT_EQ(simulation.errors()[0].fault, Fault::input);
  EXPECT_EQ(simulation.errors()[0].problem,
            "the send of chunk 2 from vertex 1 to 2 planned at 50us waits for a chunk that never comes");
  EXPECT_EQ(simulation.errors()[0].why, "its source neither holds it at first nor receives it");
}

TEST_F(HandMadePlan, FailsWhenTwoSendsWaitForEachOther) {
  // NPU 1 gets chunk 0 only from 2, and NPU 2 only from 1.
  const auto simulation = replayed({send(us(0), 2, 0), send(us(1), 3, 0)}, Replay::timed);
  ASSERT_FALSE(simulation.ok());
  EXPECT_EQ(simulation.errors()[0].why, "it waits for sends that wait for it");
}

TEST_F(HandMadePlan, HasPartialSumsWaitForThoseThatTheyAdd) {
  // Reduce-Scatter of chunk 0 from 2 over 1 to 0. NPU 1's own contribution is there from the start: without an arrival
  // before it, its sum need not wait; with one it must.
  const auto with = replayed({send(us(7), 3, 0, Stage::reduce), send(us(40), 1, 0, Stage::reduce)},
                             Replay::as_soon_as_possible, CollectiveKind::reduce_scatter);
  EXPECT_EQ(sends_of(with)[1].start, nanoseconds(20'500));
  const auto without =
      replayed({send(us(40), 1, 0, Stage::reduce)}, Replay::as_soon_as_possible, CollectiveKind::reduce_scatter);
  EXPECT_EQ(sends_of(without)[0].start, us(0));
}

TEST_F(HandMadePlan, HasAGatherWaitForTheWholeSum) {
  // All-Reduce of chunk 1, owned by the middle NPU: sums from 0 (at 0) and 2 (at 10 us), copies only at 100 us.
  const auto simulation = replayed(
      {send(us(0), 0, 1, Stage::reduce), send(us(10), 3, 1, Stage::reduce), send(us(100), 1, 1), send(us(100), 2, 1)},
      Replay::as_soon_as_possible, CollectiveKind::all_reduce);
  const auto sends = sends_of(simulation);
  EXPECT_EQ(sends[2], send(nanoseconds(20'500), 1, 1));
  EXPECT_EQ(sends[3], send(nanoseconds(20'500), 2, 1));
}

TEST_F(HandMadePlan, HasAHopWaitForTheHopBeforeIt) {
  // A message from 0 to 2, over 1, which does not unpack it.
  const auto simulation = replayed({hop(us(3), 0, 0, 0, 2), hop(us(30), 2, 0, 0, 2)}, Replay::as_soon_as_possible);
  EXPECT_EQ(sends_of(simulation), (std::vector{hop(us(0), 0, 0, 0, 2), hop(nanoseconds(20'500), 2, 0, 0, 2)}));
  EXPECT_EQ(simulation->messages, 1U);
  EXPECT_EQ(simulation->finish, us(41));
}

TEST_F(HandMadePlan, FailsWhenAMessageJumps) {
  // Its second hop leaves from 2, where the first one does not end.
  const auto simulation = replayed({hop(us(0), 0, 0, 7, 2), hop(us(30), 3, 0, 7, 2)}, Replay::timed);
  ASSERT_FALSE(simulation.ok());
  EXPECT_EQ(simulation.errors()[0].why, "no earlier hop of message 7 ends at its source");
}

TEST_F(HandMadePlan, MustBeForThisTopologyAndThisCollective) {
  EXPECT_EQ(replayed({send(us(0), 4, 0)}, Replay::timed).errors()[0].problem, "a send uses link 4");
  EXPECT_EQ(replayed({send(us(0), 0, 3)}, Replay::timed).errors()[0].problem, "a send carries chunk 3");
  EXPECT_EQ(replayed({send(picoseconds(-1), 0, 0)}, Replay::timed).errors()[0].problem,
            "a send of chunk 0 is planned before time zero");
}

TEST_F(HandMadePlan, OfNothingTakesNoTime) {
  const auto simulation = replayed({}, Replay::timed);
  EXPECT_EQ(simulation->finish, SimTime::zero());
  EXPECT_EQ(simulation->hops, 0U);
}

TEST_F(HandMadePlan, NeedsTheCongestionAwareBackend) {
  SimulationOptions options;
  options.backend = Backend::congestion_unaware;
  const auto simulation = replay(topology_, support::collective(CollectiveKind::all_gather, 3, bytes(3)),
                                 make_list_schedule(plan_), Replay::timed, options);
  ASSERT_FALSE(simulation.ok());
  EXPECT_EQ(simulation.errors()[0].fault, Fault::unsupported);
}

// Large schedules are replayed without a list of their sends; keeping the arrivals takes the list.
void expect_equal_to_replay_by_list(const Topology& topology, const Collective& collective, const Schedule& schedule,
                                    Replay mode, Occupancy occupancy) {
  SimulationOptions options;
  options.occupancy = occupancy;
  options.record_links = true;
  options.record_npu_finish = true;
  const auto streamed = replay(topology, collective, schedule, mode, options).value();
  options.record_arrivals = true;
  const auto listed = replay(topology, collective, schedule, mode, options).value();
  ASSERT_EQ(listed.arrivals.size(), listed.messages);
  ASSERT_EQ(streamed.finish, listed.finish);
  ASSERT_EQ(streamed.messages, listed.messages);
  ASSERT_EQ(streamed.hops, listed.hops);
  ASSERT_EQ(streamed.npu_finish, listed.npu_finish);
  for (std::size_t link = 0; link < listed.links.size(); ++link) {
    ASSERT_EQ(streamed.links[link].bytes, listed.links[link].bytes);
    ASSERT_EQ(streamed.links[link].busy, listed.links[link].busy);
  }
}

TEST(StreamedReplay, EqualsTheReplayByListForSynthesizedSchedules) {
  for (const auto* shape : {"mesh(5,4)", "RI(9)", "FC(6)", "grid(3,3,3)", "torus(4,3)"})
    for (const auto kind : support::kGathersAndSums)
      for (const auto made_for : support::kOccupancies) {
        const auto topology = support::shape(shape);
        const auto collective = support::collective(kind, topology.npus(), bytes(5'400'000), 2);
        const auto plan =
            find_synthesizer("tacos")->synthesize({topology, collective, made_for, {3, 1}}).value().schedule;
        SCOPED_TRACE(std::string(shape) + " " + std::string(to_string(kind)));
        for (const auto mode : {Replay::timed, Replay::as_soon_as_possible})
          expect_equal_to_replay_by_list(topology, collective, plan, mode, made_for);
        // A plan for transfer has slack under serialization.
        if (made_for == Occupancy::transfer)
          expect_equal_to_replay_by_list(topology, collective, plan, Replay::as_soon_as_possible,
                                         Occupancy::serialization);
        if (HasFailure()) return;
      }
}

TEST(StreamedReplay, EqualsTheReplayByListForSimulatedGathers) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto topology = support::random_connected_topology(seed, 9, true);
    const auto collective = support::collective(CollectiveKind::all_gather, topology.npus(), bytes(90'000), 2);
    // One-way rings on random cycles: messages of several hops are not streamed, those of one hop are.
    const auto plan = support::run("ring_unidirectional", topology, collective).sends;
    for (const auto mode : {Replay::timed, Replay::as_soon_as_possible})
      expect_equal_to_replay_by_list(topology, collective, stretched(plan, 3), mode, Occupancy::serialization);
    if (HasFailure()) return;
  }
}

TEST(StreamedReplay, FillsTheSameBins) {
  const auto topology = support::mesh(4, 4);
  const auto collective = support::collective(CollectiveKind::all_gather, 16, bytes(1'600'000));
  const auto plan =
      find_synthesizer("tacos")->synthesize({topology, collective, Occupancy::transfer, {1, 1}}).value().schedule;
  SimulationOptions options;
  options.occupancy = Occupancy::transfer;
  options.utilization_bins = 11;
  const auto streamed = replay(topology, collective, plan, Replay::timed, options).value();
  options.record_arrivals = true;
  const auto listed = replay(topology, collective, plan, Replay::timed, options).value();
  EXPECT_EQ(streamed.utilization.bin, listed.utilization.bin);
  EXPECT_EQ(streamed.utilization.busy_ps, listed.utilization.busy_ps);
}

TEST(Replay, RefusesSendsThatCarrySeveralChunks) {
  const auto topology = support::fully_connected(4);
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(4'000));
  const auto packed = support::run("rhd", topology, collective).sends;
  ASSERT_NE(packed.payloads(), nullptr);
  EXPECT_FALSE(replay(topology, collective, packed, Replay::timed, {}));
}

// What a simulation with late NPUs recorded is its own replay, and nothing leaves a late NPU too soon where the plan
// knew of none.
TEST(Replay, WaitsForLateNpus) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed, 0x6c617465);
    const auto topology = support::random_connected_topology(seed, 10, seed % 2 == 0);
    const auto kind = support::kGathersAndSums[seed % std::size(support::kGathersAndSums)];
    const auto collective = support::collective(kind, topology.npus(), bytes(90'000), 1 + seed % 3);
    const auto* name = seed % 3 == 0 ? "direct" : "ring";
    const auto program = support::program_of(name, topology, collective);
    auto options = recording_by(support::kOccupancies[seed % 2]);
    const auto in_time = simulate(topology, collective, *program, options).value();
    options.start_delays = {{NpuId(random.below(static_cast<std::uint32_t>(topology.npus()))), microseconds(20)}};
    const auto late = simulate(topology, collective, *program, options).value();
    VerifyOptions checks;
    checks.start_delays = options.start_delays;
    for (const auto mode : {Replay::timed, Replay::as_soon_as_possible}) {
      const auto again = replay(topology, collective, late.sends, mode, options).value();
      ASSERT_LE(again.finish, late.finish) << seed;
      if (mode == Replay::timed) {
        ASSERT_EQ(list_sends(again.sends), list_sends(late.sends)) << seed;
      }
      ASSERT_TRUE(verify({topology, collective, options.occupancy}, again.sends, checks).valid()) << seed;
      const auto held_up = replay(topology, collective, in_time.sends, mode, options).value();
      ASSERT_GE(held_up.finish, in_time.finish) << seed;
      ASSERT_TRUE(verify({topology, collective, options.occupancy}, held_up.sends, checks).valid()) << seed;
    }
  }
}

TEST(LinkSet, GivesEachLinkOnceInOrder) {
  LinkSet links(300'000);
  for (const std::uint32_t link : {299'999U, 64U, 0U, 63U, 64U, 5000U}) links.add(LinkId(link));
  std::vector<std::uint32_t> taken;
  const auto take = [&] { links.take_all([&](LinkId link) { taken.push_back(link.value()); }); };
  take();
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{0, 63, 64, 5000, 299'999}));
  take();
  EXPECT_EQ(taken.size(), 5U);
}

}  // namespace
}  // namespace tenex
