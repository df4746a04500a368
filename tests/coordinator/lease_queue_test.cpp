// The lease queue as a value: which points are leased, in which order, and how many at a time.
#include "coordinator/lease_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "tenex/base/random.hpp"

namespace tenex {
namespace {

std::vector<PointCost> points_of(const std::vector<double>& seconds) {
  std::vector<PointCost> points;
  for (const double s : seconds) points.push_back({static_cast<std::uint32_t>(points.size()), s});
  return points;
}

std::vector<double> random_seconds(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> seconds(count);
  for (auto& s : seconds) s = 0.001 + 0.2 * random.unit();
  return seconds;
}

/// Reports the rank's lease as done; its points took `slowness` times as long as expected.
void complete(LeaseQueue& queue, std::size_t rank, const Lease& lease, RankProgress& progress, double slowness = 1) {
  progress.expected_done += lease.seconds;
  progress.busy_seconds += lease.seconds * slowness;
  queue.finish(rank, lease.id);
  queue.learn(rank, progress);
}

TEST(LeaseQueue, LeasesEachPointExactlyOnceToWhoeverAsks) {
  const auto seconds = random_seconds(1000, 1);
  LeaseQueue queue(points_of(seconds), {1, 1, 1});
  std::vector<RankProgress> progress(3);
  std::vector<std::uint32_t> leased;
  for (std::size_t turn = 0; !queue.empty(); ++turn) {
    ASSERT_LT(turn, 10'000U) << "the queue does not empty";
    const auto rank = turn % 3;
    const auto lease = queue.next(rank, 0);
    if (!lease) continue;
    leased.insert(leased.end(), lease->points.begin(), lease->points.end());
    complete(queue, rank, *lease, progress[rank]);
  }
  std::ranges::sort(leased);
  std::vector<std::uint32_t> all(1000);
  std::iota(all.begin(), all.end(), 0U);
  EXPECT_EQ(leased, all);
  EXPECT_EQ(queue.leases_out(), 0U);
  EXPECT_FALSE(queue.next(0, 0).has_value());
}

TEST(LeaseQueue, TakesPointsBetweenLeases) {
  LeaseQueue queue(points_of({2, 5, 3}), {1}, {.most_points = 1, .first_id = 100});
  const auto first = queue.next(0, 0);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->points, std::vector<std::uint32_t>{1});
  EXPECT_EQ(first->id, 100U);
  queue.add({{7, 4}, {8, 1}});
  EXPECT_EQ(queue.waiting_points(), 4U);
  EXPECT_DOUBLE_EQ(queue.waiting_seconds(), 2 + 3 + 4 + 1);
  std::vector<std::uint32_t> leased;
  while (const auto lease = queue.next(0, 0)) leased.push_back(lease->points.front());
  EXPECT_EQ(leased, (std::vector<std::uint32_t>{7, 2, 0, 8})) << "the longest first, and point 1 not again";
}

TEST(LeaseQueue, HandsOutTheLongestFirstAndBreaksTiesByIndex) {
  LeaseQueue queue(points_of({2, 5, 3, 5, 1}), {1}, {.target_seconds = 100});
  const auto lease = queue.next(0, 0);
  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->points, (std::vector<std::uint32_t>{1, 3, 2, 0, 4}));
  EXPECT_DOUBLE_EQ(lease->seconds, 16);  // 5 + 5 + 3 + 2 + 1
}

TEST(LeaseQueue, MakesALeaseWorthTheTargetWhereMuchIsLeft) {
  // 1000 points of 0.1 s, one rank: the target of 1 s holds 10 of them (11 would be 1.1 s).
  LeaseQueue queue(points_of(std::vector<double>(1000, 0.1)), {1}, {.target_seconds = 1.0 + 1e-9});
  const auto lease = queue.next(0, 0);
  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->points.size(), 10U);
}

TEST(LeaseQueue, NeverLeasesMoreThanHalfAFairShareUnlessItIsOnePoint) {
  LeaseQueue queue(points_of(random_seconds(500, 2)), {1, 1, 1, 1});
  std::vector<RankProgress> progress(4);
  double last = 1e9;
  for (std::size_t turn = 0; !queue.empty(); ++turn) {
    const auto rank = turn % 4;
    const double remaining = queue.waiting_seconds();
    const auto lease = queue.next(rank, 0);
    ASSERT_TRUE(lease.has_value());
    if (lease->points.size() > 1) {
      EXPECT_LE(lease->seconds, remaining / 8 + 1e-9);
    }
    last = lease->seconds;
    complete(queue, rank, *lease, progress[rank]);
  }
  EXPECT_LT(last, 0.01);  // the last lease is one of the shortest points: about 0.001 + 0.2/500 s
}

TEST(LeaseQueue, FirstLeaseOfManyRanksIsASmallProbeWithNothingOnTop) {
  // Target 1 s, probe 1/16 s = 0.0625 s: of 8 long points (3 s) and 100 short ones (0.02 s) a probe holds 3 short ones.
  std::vector<double> seconds(100, 0.02);
  seconds.insert(seconds.end(), 8, 3.0);
  LeaseQueue queue(points_of(seconds), {1, 1});
  const auto probe = queue.next(0, 0);
  ASSERT_TRUE(probe.has_value());
  EXPECT_EQ(probe->points, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_FALSE(queue.next(0, probe->seconds).has_value()) << "a rank of unknown speed got more";
  RankProgress progress;
  complete(queue, 0, *probe, progress);
  const auto second = queue.next(0, 0);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->points.front(), 100U) << "after its probe a rank gets the longest point";
}

TEST(LeaseQueue, KeepsLongPointsFromASlowRank) {
  // Two ranks, rank 1 ten times slower. 2 points of 5 s, 50 of 0.1 s, probes of one point (0.05 s). Once the speeds 1
  // and 0.1 are known, about 14.8 s of work wait for a sum of speeds of 1.1: 13.5 s. Within 3/4 of that rank 1 does
  // 10.1 * 0.1 = 1.01 expected seconds, so no point of 5 s fits.
  std::vector<double> seconds(50, 0.1);
  seconds.insert(seconds.end(), 2, 5.0);
  seconds.insert(seconds.end(), 2, 0.05);
  LeaseQueue queue(points_of(seconds), {1, 1});
  std::vector<RankProgress> progress(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const auto probe = queue.next(rank, 0);
    ASSERT_TRUE(probe.has_value());
    EXPECT_LE(probe->seconds, 0.0625);
    complete(queue, rank, *probe, progress[rank], rank == 1 ? 10 : 1);
  }
  const auto slow = queue.next(1, 0);
  ASSERT_TRUE(slow.has_value());
  EXPECT_LT(slow->points.front(), 50U) << "the slow rank got a 5 s point";
  EXPECT_LE(slow->seconds, 0.1 + 1e-9) << "a lease is worth 1 s of the rank's own time";
  const auto fast = queue.next(0, 0);
  ASSERT_TRUE(fast.has_value());
  EXPECT_GE(fast->points.front(), 50U);
}

TEST(LeaseQueue, NeverRefusesTheFastestRankThatHasNothingAtHand) {
  // Each rank probes one point (two would be 0.1 s, over 1/16 s). One huge point is left, and the ranks are 3 and 30
  // times slower than expected. It fits into no rank's share of the end, but the fastest must take it.
  LeaseQueue queue(points_of({0.05, 0.05, 100}), {1, 1});
  std::vector<RankProgress> progress(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const auto probe = queue.next(rank, 0);
    ASSERT_TRUE(probe.has_value());
    complete(queue, rank, *probe, progress[rank], rank == 0 ? 3 : 30);
  }
  EXPECT_FALSE(queue.next(1, 0).has_value());
  EXPECT_TRUE(queue.next(0, 0).has_value());
  EXPECT_TRUE(queue.empty());
}

TEST(LeaseQueue, GivesARankWithManyThreadsAPointForEachOfThem) {
  // One rank of 4 threads, points of 5 s: the target of 4 * 1 s holds none, but four points keep the threads busy.
  LeaseQueue queue(points_of(std::vector<double>(10, 5.0)), {4});
  const auto lease = queue.next(0, 0);
  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(lease->points.size(), 4U);
}

TEST(LeaseQueue, RemembersWhichLeaseIsWithWhomAndForgetsItOnce) {
  LeaseQueue queue(points_of(std::vector<double>(100, 0.05)), {1, 1});
  const auto lease = queue.next(1, 0);
  ASSERT_TRUE(lease.has_value());
  EXPECT_EQ(queue.leases_with(0), 0U);
  EXPECT_EQ(queue.leases_with(1), 1U);
  queue.finish(0, lease->id);  // a rank that does not hold it
  EXPECT_EQ(queue.leases_out(), 1U);
  queue.learn(1, {lease->seconds, lease->seconds});
  const auto second = queue.next(1, lease->seconds);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(queue.leases_with(1), 2U);
  queue.finish(1, lease->id);
  queue.finish(1, lease->id);  // a repeated report
  EXPECT_EQ(queue.leases_with(1), 1U) << "the second lease is still out";
  queue.finish(1, second->id);
  EXPECT_EQ(queue.leases_out(), 0U);
}

TEST(LeaseQueue, PredictsTheTimeLeftFromMeasuredSpeeds) {
  // 21 points of 1 s, two ranks. Each probes one; rank 0 took 1 s for it, rank 1 took 2 s: speeds 1 and 0.5. 19 s wait:
  // 19 / 1.5.
  LeaseQueue queue(points_of(std::vector<double>(21, 1.0)), {1, 1});
  std::vector<RankProgress> progress(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const auto probe = queue.next(rank, 0);
    ASSERT_TRUE(probe.has_value());
    complete(queue, rank, *probe, progress[rank], rank == 0 ? 1 : 2);
  }
  EXPECT_DOUBLE_EQ(queue.speed_of(1), 0.5);
  EXPECT_NEAR(queue.seconds_left(), 19 / 1.5, 1e-9);
}

TEST(LeaseQueue, AcceptsExpectationsOfZeroAndNonsense) {
  LeaseQueue queue(
      points_of({0, -1, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}), {1});
  std::size_t points = 0;
  while (const auto lease = queue.next(0, 0)) points += lease->points.size();
  EXPECT_EQ(points, 4U);
}

}  // namespace
}  // namespace tenex
