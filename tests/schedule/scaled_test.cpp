// Scaled schedules: every start is multiplied exactly and everything else is kept, however the schedule is stored.
#include "tenex/schedule/views/scaled.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "schedule/link_major_storage.hpp"
#include "schedule/schedule_factories.hpp"
#include "schedule/symmetric_factories.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {
namespace {

using test::copy_of;
using ::testing::ElementsAre;

/// The sends with starts multiplied by a division and a product.
std::vector<Send> paced(std::vector<Send> sends, SimTime from, SimTime to) {
  for (Send& send : sends) send.start = (send.start / from) * to;
  return sends;
}

std::vector<Send> scaled_by_link(const Schedule& schedule, std::size_t links) {
  std::vector<Send> sends;
  SendBuffer buffer;
  for (std::size_t tile = 0; tile < schedule.tiles(); ++tile)
    for (std::size_t link = 0; link < links; ++link) {
      schedule.read_link(tile, LinkId::at(link), buffer);
      for (std::size_t i = 0; i < buffer.batch.size(); ++i) sends.push_back(buffer.batch[i]);
    }
  std::ranges::sort(sends, {}, [](const Send& send) { return std::tuple(send.start, send.link); });
  return sends;
}

/// A topology and All-Gathers on it whose hops, under `transfer`, take 500 ns of alpha and 1 ns per 50 bytes.
struct Paces {
  Topology topology = support::mesh(4, 3);
  Collective slow = support::collective(CollectiveKind::all_gather, 12, bytes(24'000), 2);   // 1000 B: 520 ns
  Collective quick = support::collective(CollectiveKind::all_gather, 12, bytes(12'000), 2);  // 500 B: 510 ns
  SimTime from = nanoseconds(520);
  SimTime to = nanoseconds(510);
};

TEST(TimeScale, MultipliesMultiplesOfAnyPace) {
  // 6 = 2 * 3, 7, a power of two, an odd prime, and times of days: k * from becomes k * to.
  const TimeScale scale(picoseconds(6), picoseconds(7));
  EXPECT_EQ(scale(picoseconds(0)), picoseconds(0));
  EXPECT_EQ(scale(picoseconds(6)), picoseconds(7));
  EXPECT_EQ(scale(picoseconds(600)), picoseconds(700));
  Random random(5, 7);
  for (int i = 0; i < 2000; ++i) {
    const auto from = 1 + static_cast<std::int64_t>(random.below(1U << (1 + random.below(31))));
    const auto to = 1 + static_cast<std::int64_t>(random.below(1U << (1 + random.below(31))));
    const auto most = (std::int64_t{1} << 61) / std::max(from, to);
    const auto steps = static_cast<std::int64_t>(random.below(0xFFFFFFFFU)) % most;
    EXPECT_EQ(TimeScale(picoseconds(from), picoseconds(to))(picoseconds(steps * from)), picoseconds(steps * to))
        << from << ' ' << to << ' ' << steps;
  }
}

TEST(TimeScale, RefusesPacesThatAreNone) {
  EXPECT_THROW(TimeScale(picoseconds(0), picoseconds(1)), InvariantError);
  EXPECT_THROW(TimeScale(picoseconds(1), picoseconds(0)), InvariantError);
}

TEST(Scaled, MovesTheSendsOfAList) {
  // Hops of 20 ps become hops of 30 ps.
  const auto schedule = make_list_schedule(
      {copy_of(0, 0, picoseconds(0)), copy_of(1, 1, picoseconds(20)), copy_of(2, 0, picoseconds(60))});
  EXPECT_THAT(
      list_sends(scaled(schedule, picoseconds(20), picoseconds(30))),
      ElementsAre(copy_of(0, 0, picoseconds(0)), copy_of(1, 1, picoseconds(30)), copy_of(2, 0, picoseconds(90))));
  // The list itself, which others hold, stays as it is.
  EXPECT_EQ(list_sends(schedule)[2].start, picoseconds(60));
}

TEST(Scaled, MovesSendsThatAllStartAtOnce) {
  // One start for all is stored once: 2 steps of 20 ps become 2 of 30 ps.
  const auto schedule = make_list_schedule({copy_of(0, 0, picoseconds(40)), copy_of(1, 1, picoseconds(40))});
  EXPECT_THAT(list_sends(scaled(schedule, picoseconds(20), picoseconds(30))),
              ElementsAre(copy_of(0, 0, picoseconds(60)), copy_of(1, 1, picoseconds(60))));
}

TEST(Scaled, IsTheScheduleItselfAtItsOwnPace) {
  const auto schedule = make_list_schedule({copy_of(0, 0, picoseconds(40))});
  EXPECT_EQ(scaled(schedule, picoseconds(20), picoseconds(20)).storage(), schedule.storage());
  EXPECT_EQ(scaled(Schedule(), picoseconds(20), picoseconds(30)).sends(), 0U);
}

TEST(Scaled, IsValidAtTheOtherPaceAndNotAtItsOwn) {
  const Paces given;
  const Schedule schedule =
      make_list_schedule(test::greedy_gather({given.topology, given.slow, Occupancy::transfer}, 3));
  const Schedule quick = scaled(schedule, given.from, given.to);
  const auto verdict = verify({given.topology, given.quick, Occupancy::transfer}, quick);
  EXPECT_TRUE(verdict.valid());
  const auto own = verify({given.topology, given.slow, Occupancy::transfer}, schedule);
  EXPECT_EQ(verdict.collective_time, own.collective_time / given.from * given.to);
  // Sends follow one another on busy links, so at the shorter pace the longer hops overlap.
  EXPECT_FALSE(verify({given.topology, given.slow, Occupancy::transfer}, quick).valid());
}

TEST(Scaled, TellsTheSameSendsByTimeAndByLinkThroughViews) {
  const Paces given;
  const auto sends = test::greedy_gather({given.topology, given.slow, Occupancy::transfer}, 11);
  const Schedule gather = test::LinkMajor(sends).schedule();
  const Collective scatter = given.slow.as(CollectiveKind::reduce_scatter);
  const Schedule reduction = reversed({given.topology, scatter, Occupancy::transfer}, gather);
  const Schedule all =
      then_gather({given.topology, given.slow.as(CollectiveKind::all_reduce), Occupancy::transfer}, reduction, gather);
  for (const auto& schedule : {gather, reduction, all}) {
    SCOPED_TRACE(schedule.storage_kind());
    const Schedule quick = scaled(schedule, given.from, given.to);
    EXPECT_EQ(quick.sends(), schedule.sends());
    EXPECT_EQ(quick.tiles(), schedule.tiles());
    EXPECT_FALSE(quick.may_carry_messages());
    EXPECT_EQ(list_sends(quick), paced(list_sends(schedule), given.from, given.to));
    EXPECT_EQ(scaled_by_link(quick, given.topology.links()), list_sends(quick));
    EXPECT_EQ(list_sends(scaled(quick, given.to, given.from)), list_sends(schedule));  // and back
  }
}

TEST(Scaled, KeepsMessagesAndPayloads) {
  auto sends = std::vector{copy_of(4, 0, picoseconds(0)), copy_of(1, 1, picoseconds(20))};
  sends[0] = test::hop_of(sends[0], 7, 1);
  Payloads payloads;
  payloads.chunks = {ChunkId(0), ChunkId(1)};
  payloads.first = {0, 2};
  const Schedule schedule = scaled(make_list_schedule(sends, payloads), picoseconds(20), picoseconds(25));
  sends[1].start = picoseconds(25);
  EXPECT_EQ(list_sends(schedule), sends);
  EXPECT_TRUE(schedule.may_carry_messages());
  ASSERT_NE(schedule.payloads(), nullptr);
  EXPECT_EQ(schedule.payloads()->size(), 1U);
}

TEST(Scaled, StaysSymmetric) {
  // Needed by the orbit check, which recognizes symmetric schedules by their storage.
  const Topology topology = support::shape("torus(3,4)");
  const Collective gather = support::collective(CollectiveKind::all_gather, 12, bytes(12'000));
  const SimTime hop = test::longest_hop({topology, gather, Occupancy::transfer});
  const auto orbits = test::gather_orbits({topology, gather, Occupancy::transfer});
  const Schedule schedule = test::symmetric(topology, gather, orbits);
  const Schedule slow = scaled(schedule, hop, hop * 3);
  ASSERT_NE(symmetric_storage(slow), nullptr);
  EXPECT_EQ(list_sends(slow), paced(list_sends(schedule), hop, hop * 3));
}

}  // namespace
}  // namespace tenex
