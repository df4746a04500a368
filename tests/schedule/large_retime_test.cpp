// Re-timing without lists: chains without a pause, and new times kept by link. The line of three NPUs is that of
// verifier_test.cpp: 2 us over links 0 and 1, 6 us over links 2 and 3.
#include <gtest/gtest.h>

#include <algorithm>

#include "schedule/link_major_storage.hpp"
#include "schedule/schedule_factories.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using test::copy_of;
using test::link_between;
using test::LinkMajor;
using test::sum_of;

constexpr std::size_t kRoom = std::size_t{1} << 26;

/// The plan of Retiming.LetsAGatherBeginWhenItsOwnSumIsComplete, which derives its times: 26 us, 22 us re-timed.
Schedule uneven_plan(const Topology& topology, const Collective& all_reduce) {
  const LinkMajor reduction({sum_of(2, 0, microseconds(0)), sum_of(0, 3, microseconds(0)),
                             sum_of(1, 0, microseconds(2)), sum_of(2, 2, microseconds(2)),
                             sum_of(0, 1, microseconds(6)), sum_of(1, 3, microseconds(6))});
  const LinkMajor gather(
      {copy_of(0, 0, microseconds(0)), copy_of(1, 1, microseconds(0)), copy_of(2, 3, microseconds(0)),
       copy_of(0, 2, microseconds(2)), copy_of(2, 1, microseconds(6)), copy_of(1, 2, microseconds(8))},
      2);
  return then_gather({topology, all_reduce, Occupancy::transfer}, reduction.schedule(), gather.schedule());
}

TEST(LargeRetiming, LetsAGatherBeginWhenItsOwnSumIsComplete) {
  const auto topology = support::line3_heterogeneous();
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 3, bytes(12'000));
  const Schedule plan = uneven_plan(topology, all_reduce);
  EXPECT_EQ(last_arrival({topology, all_reduce, Occupancy::transfer}, plan), microseconds(26));
  EXPECT_EQ(has_tight_chain({topology, all_reduce, Occupancy::transfer}, plan), false);
  const auto sooner = retime_in_trees({topology, all_reduce, Occupancy::transfer}, plan, 1, kRoom);
  ASSERT_TRUE(sooner);
  EXPECT_EQ(sooner->time, microseconds(22));
  const std::vector<Send> expected{
      sum_of(2, 0, microseconds(0)),   sum_of(0, 3, microseconds(0)),   sum_of(1, 0, microseconds(2)),
      sum_of(2, 2, microseconds(2)),   sum_of(0, 1, microseconds(6)),   sum_of(1, 3, microseconds(6)),
      copy_of(0, 0, microseconds(8)),  copy_of(0, 2, microseconds(10)), copy_of(1, 1, microseconds(12)),
      copy_of(2, 3, microseconds(12)), copy_of(1, 2, microseconds(16)), copy_of(2, 1, microseconds(18))};
  EXPECT_EQ(list_sends(sooner->schedule), expected);
}

TEST(LargeRetiming, IsReadLinkByLinkAsInTimeOrder) {
  const auto topology = support::line3_heterogeneous();
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 3, bytes(12'000));
  const auto sooner =
      retime_in_trees({topology, all_reduce, Occupancy::transfer}, uneven_plan(topology, all_reduce), 1, kRoom);
  ASSERT_TRUE(sooner);
  std::vector<Send> by_link;
  SendBuffer buffer;
  SimTime tile_end;  // tiles are increasing intervals of time
  for (std::size_t tile = 0; tile < sooner->schedule.tiles(); ++tile) {
    const SimTime before = tile_end;
    for (std::size_t l = 0; l < topology.links(); ++l) {
      sooner->schedule.read_link(tile, LinkId::at(l), buffer);
      for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
        by_link.push_back(buffer.batch[i]);
        EXPECT_GE(by_link.back().start, before);
        tile_end = std::max(tile_end, by_link.back().start);
      }
    }
  }
  EXPECT_EQ(list_sends(make_list_schedule(by_link)), list_sends(sooner->schedule));
}

TEST(TightChain, IsFoundWhereEverySendWaitsForTheOneBefore) {
  // A line of 3, 2 us per hop. Gather: NPU 1 sends chunk 1 both ways at 0 while chunks 0 and 2 come to it, and passes
  // these on at 2: 4 us. The reduction is its mirror image. NPU 2 sends its parts of chunks 0 and 1 at 0 and 2; its own
  // chunk is complete at 4, when it leaves, and is passed on at 6, to arrive at 8: no pause from 0 to 8.
  const auto topology = support::line(3, microseconds(1), gigabytes_per_second(1));
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 3, bytes(3000));
  const auto right0 = link_between(topology, 0, 1).value(), right1 = link_between(topology, 1, 2).value();
  const auto left1 = link_between(topology, 1, 0).value(), left2 = link_between(topology, 2, 1).value();
  const LinkMajor reduction({sum_of(0, left2, microseconds(0)), sum_of(2, right0, microseconds(0)),
                             sum_of(1, left2, microseconds(2)), sum_of(1, right0, microseconds(2)),
                             sum_of(0, left1, microseconds(2)), sum_of(2, right1, microseconds(2))});
  const LinkMajor gather({copy_of(0, right0, microseconds(0)), copy_of(1, left1, microseconds(0)),
                          copy_of(1, right1, microseconds(0)), copy_of(2, left2, microseconds(0)),
                          copy_of(2, left1, microseconds(2)), copy_of(0, right1, microseconds(2))});
  const Schedule plan =
      then_gather({topology, all_reduce, Occupancy::transfer}, reduction.schedule(), gather.schedule());
  ASSERT_TRUE(verify({topology, all_reduce, Occupancy::transfer}, plan).valid());
  EXPECT_EQ(has_tight_chain({topology, all_reduce, Occupancy::transfer}, plan), true);
  const auto again = retime_in_trees({topology, all_reduce, Occupancy::transfer}, plan, 1, kRoom);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->time, microseconds(8));
}

/// A greedy gather and the reversal of another, in sequence.
Schedule greedy_all_reduce(const Instance& instance, std::uint64_t seed) {
  const auto gather = instance.collective.as(CollectiveKind::all_gather);
  const auto scatter = instance.collective.as(CollectiveKind::reduce_scatter);
  const auto backwards = test::greedy_gather({instance.topology.reversed(), gather, instance.occupancy}, seed);
  const auto forwards = test::greedy_gather({instance.topology, gather, instance.occupancy}, seed + 1000);
  return then_gather(instance,
                     reversed({instance.topology, scatter, instance.occupancy}, make_list_schedule(backwards)),
                     make_list_schedule(forwards));
}

TEST(LargeRetiming, IsThatOfListsAndGainsExactlyWhereThereIsNoTightChain) {
  std::size_t gains = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto topology =
        seed % 3 == 0 ? support::mesh(3, 3) : support::random_connected_topology(seed, 8, seed % 3 == 1);
    const auto all_reduce = support::collective(CollectiveKind::all_reduce, topology.npus(),
                                                bytes(1000) * static_cast<std::int64_t>(topology.npus()));
    const auto occupancy = seed % 2 == 0 ? Occupancy::transfer : Occupancy::serialization;
    const auto sends = list_sends(greedy_all_reduce({topology, all_reduce, occupancy}, seed));
    const LinkMajor plan(sends);
    const Schedule by_list = retime({topology, all_reduce, occupancy}, make_list_schedule(sends));
    const auto by_link = retime_in_trees({topology, all_reduce, occupancy}, plan.schedule(), 1, kRoom);
    ASSERT_TRUE(by_link) << seed;
    EXPECT_EQ(list_sends(by_link->schedule), list_sends(by_list)) << seed;
    EXPECT_EQ(by_link->time, last_arrival({topology, all_reduce, occupancy}, by_list)) << seed;
    EXPECT_TRUE(verify({topology, all_reduce, occupancy}, by_link->schedule).valid()) << seed;
    const bool gained = by_link->time < last_arrival({topology, all_reduce, occupancy}, plan.schedule());
    EXPECT_EQ(has_tight_chain({topology, all_reduce, occupancy}, plan.schedule()), !gained) << seed;
    gains += gained ? 1 : 0;
    const auto by_threads = retime_in_trees({topology, all_reduce, occupancy}, plan.schedule(), 3, kRoom);
    EXPECT_EQ(schedule_hash(by_threads->schedule), schedule_hash(by_link->schedule));
  }
  EXPECT_GT(gains, 0U);
  EXPECT_LT(gains, 60U);
}

TEST(LargeRetiming, DeclinesWhatItIsNotMadeFor) {
  const auto topology = support::shape("hypercube(3)");
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 8, bytes(8000));
  const auto sends = list_sends(greedy_all_reduce({topology, all_reduce, Occupancy::transfer}, 1));
  const auto declined = [&](const Schedule& schedule, std::size_t room) {
    return !retime_in_trees({topology, all_reduce, Occupancy::transfer}, schedule, 1, room).has_value();
  };
  EXPECT_FALSE(declined(LinkMajor(sends).schedule(), kRoom));
  EXPECT_TRUE(declined(make_list_schedule(sends), kRoom)) << "no link-major access";
  // 8 NPUs times 8 chunks take 256 bytes at least.
  EXPECT_TRUE(declined(LinkMajor(sends).schedule(), 255)) << "no room";
  // Each NPU sends its sum of a chunk to three others.
  const auto doubling = test::recursive_doubling({topology, all_reduce, Occupancy::transfer});
  EXPECT_TRUE(declined(LinkMajor(doubling).schedule(), kRoom)) << "sums that are sent again";
  EXPECT_EQ(has_tight_chain({topology, all_reduce, Occupancy::transfer}, make_list_schedule(sends)), std::nullopt);
}

}  // namespace
}  // namespace tenex
