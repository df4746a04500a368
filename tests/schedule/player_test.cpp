// The player of a given order against the slow one of slow_player.hpp, over random instances.
#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/schedule_factories.hpp"
#include "schedule/slow_player.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/timing/list_player.hpp"
#include "tenex/schedule/timing/player.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using test::copy_of;
using test::sum_of;

TEST(Player, StartsASendWhenItsLinkAndItsChunkAllow) {
  // Port 0 leads from place 0 to place 1, port 1 from there to place 2: busy for 3, there after 5.
  SendPlayer<std::uint32_t> player(2, 3);
  player.begin_held(0, 1);
  player.begin_empty(1, 2);
  const auto first = player.send(0, 0, 1, 3, 5, Stage::copy);
  EXPECT_EQ(std::pair(first.start, first.arrival), std::pair(0U, 5U));
  const auto second = player.send(1, 1, 2, 3, 5, Stage::copy);
  EXPECT_EQ(std::pair(second.start, second.arrival), std::pair(5U, 10U));
  EXPECT_EQ(player.send(1, 0, 2, 3, 5, Stage::copy).sound, false) << "a second delivery";
  SendPlayer<std::uint32_t> empty(1, 2);
  empty.begin_empty(0, 2);
  EXPECT_FALSE(empty.send(0, 0, 1, 3, 5, Stage::copy).sound) << "nothing to send";
}

TEST(Player, LetsASumWaitForAllThatItAddsAndLeaveOnce) {
  // Places 0 and 1 send their parts to place 2, over ports 0 and 1, at 0 and not before 4. The sum leaves at 9.
  SendPlayer<std::uint32_t> player(3, 4);
  player.begin_held(0, 4);
  EXPECT_EQ(player.send(0, 0, 2, 3, 5, Stage::reduce).arrival, 5U);
  EXPECT_EQ(player.send(1, 1, 2, 3, 5, Stage::reduce, 4).arrival, 9U);
  EXPECT_EQ(player.send(2, 2, 3, 3, 5, Stage::reduce).start, 9U);
  EXPECT_FALSE(player.send(2, 2, 3, 3, 5, Stage::reduce).sound) << "the sum has left";
}

TEST(Player, SaysWhereATimeDoesNotFit) {
  // The two largest times have a meaning: an arrival at 2^32 - 3 is the last that fits.
  SendPlayer<std::uint32_t> player(1, 2);
  player.begin_held(0, 1);
  player.begin_empty(1, 1);
  EXPECT_FALSE(player.send(0, 0, 1, 1, 10, Stage::copy, 0xFFFF'FFF4U).sound);
  EXPECT_TRUE(player.send(0, 0, 1, 1, 10, Stage::copy, 0xFFFF'FFF3U).sound);
}

/// Delays sends at random, the more the later: links keep their order and nothing starts before what it waits for.
std::vector<Send> delayed(std::vector<Send> sends, std::uint64_t seed) {
  Random random(seed, 0x64656c61);
  const std::int64_t factor = 1 + random.below(3);
  for (Send& send : sends) send.start *= factor;
  return sends;
}

/// Schedules that take every way of the player: gathers, sums in trees, and sums that are sent again and again.
std::vector<Send> random_plan(const Instance& instance, std::uint64_t seed) {
  if (instance.collective.kind() == CollectiveKind::all_reduce && seed % 3 == 0)
    return delayed(test::recursive_doubling(instance), seed);
  auto plan = list_sends(test::greedy_schedule(instance, seed));
  return delayed(std::move(plan), seed);
}

TEST(ListPlayer, IsTheSlowPlayer) {
  using enum CollectiveKind;
  std::size_t sooner = 0;
  for (const auto kind : {all_gather, reduce_scatter, all_reduce, broadcast, reduce})
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
      const bool doubling = kind == all_reduce && seed % 3 == 0;
      const auto topology =
          doubling ? support::shape("hypercube(3)") : support::random_connected_topology(seed, 7, seed % 2 == 0);
      const auto collective = support::collective(kind, topology.npus(), bytes(64'000), doubling ? 1 : 2);
      const auto occupancy = seed % 2 == 0 ? Occupancy::transfer : Occupancy::serialization;
      const Instance instance{topology, collective, occupancy};
      const Schedule plan = make_list_schedule(random_plan(instance, seed));
      SCOPED_TRACE(std::string(to_string(kind)) + ", seed " + std::to_string(seed));
      ASSERT_TRUE(verify(instance, plan).valid());
      const auto expected = test::SlowPlayer(instance, list_sends(plan)).play();
      const auto played = play_list(instance, {list_sends(plan), {}}, {});
      ASSERT_TRUE(played.ok());
      EXPECT_TRUE(played->in_order);
      for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(played->start[i], expected[i].start) << i;
      EXPECT_EQ(list_sends(retime(instance, plan)), list_sends(make_list_schedule(expected)));
      EXPECT_TRUE(verify(instance, make_list_schedule(expected)).valid());
      sooner += last_arrival(instance, make_list_schedule(expected)) < last_arrival(instance, plan) ? 1 : 0;
    }
  EXPECT_GT(sooner, 40U);
}

TEST(ListPlayer, EqualsAValidPlanThatIsTimed) {
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const auto topology = support::random_connected_topology(seed, 8, seed % 2 == 0);
    const auto all_reduce = support::collective(CollectiveKind::all_reduce, topology.npus(), bytes(64'000), 2);
    const Instance instance{topology, all_reduce, Occupancy::serialization};
    const auto plan = list_sends(make_list_schedule(random_plan(instance, 3 * seed + 1)));
    const auto played = play_list(instance, {plan, {}}, {.timed = true}).value();
    for (std::size_t i = 0; i < plan.size(); ++i) ASSERT_EQ(played.start[i], plan[i].start);
  }
}

TEST(ListPlayer, TakesTheFirstOfSeveralDeliveries) {
  // A ring of three, 520 ns per hop. In the plan NPU 2 gets chunk 0 from NPU 0 at 1720 ns, again from NPU 1 at 2520,
  // and passes it on to NPU 1 at 3 us. Played, the second delivery is the first.
  const auto topology = support::ring(3);
  const auto gather = support::collective(CollectiveKind::all_gather, 3, bytes(3000));
  const auto link = [&](std::uint32_t a, std::uint32_t b) { return test::link_between(topology, a, b).value(); };
  const Instance instance{topology, gather, Occupancy::transfer};
  const std::vector<Send> plan{copy_of(0, link(0, 1), nanoseconds(0)),    copy_of(1, link(1, 0), nanoseconds(0)),
                               copy_of(1, link(0, 2), nanoseconds(600)),  copy_of(0, link(1, 2), nanoseconds(2000)),
                               copy_of(0, link(0, 2), nanoseconds(1200)), copy_of(0, link(2, 1), nanoseconds(3000))};
  const Schedule schedule = make_list_schedule(plan);
  const auto played = list_sends(retime(instance, schedule));
  // 0 -> 2 takes chunk 1 at 520 and chunk 0 at 1040, which arrives at 1560; 1 -> 2 takes chunk 0 at 520: there at 1040.
  const auto last = std::ranges::find(played, LinkId(link(2, 1)), &Send::link);
  EXPECT_EQ(last->start, nanoseconds(1040));
}

}  // namespace
}  // namespace tenex
