// The work plan in virtual time: the points of a dead rank, quarantine, learned costs, large points, the time limit.
#include "coordinator/open_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/fake_study.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::make_study;
using ::testing::UnorderedElementsAre;

/// A plan for points with the costs of a table.
struct PlannedWork {
  Study study;
  std::vector<Estimate> costs;
  Estimates estimates;
  Quarantine quarantine;
  std::optional<OpenWork> plan;

  PlannedWork(std::vector<Estimate> table, const std::vector<int>& threads, const NodeMap& nodes = {},
              Quarantine faults = {})
      : study(make_study(table.size())),
        costs(std::move(table)),
        estimates(study, [this](const DesignPoint& point) { return costs[point.seed - 1]; }),
        quarantine(std::move(faults)) {
    std::vector<std::uint32_t> all(costs.size());
    std::iota(all.begin(), all.end(), 0U);
    LeaseOptions options;
    options.spare_first = true;
    plan.emplace(estimates, all, threads, nodes, quarantine, options);
  }

  /// The rank reports the lease as done; its points took `slowness` times as long as expected.
  void complete(std::size_t rank, const Lease& lease, double slowness = 1) {
    auto& report = reports_[rank];
    report.finished_leases = {lease.id};
    report.progress.expected_done += lease.seconds;
    report.progress.busy_seconds += lease.seconds * slowness;
    plan->learn(rank, report);
  }
  /// Ranks work until no point is left that they may have; returns the points in the order in which they were leased.
  std::vector<std::uint32_t> work(const std::vector<std::size_t>& ranks) {
    std::vector<std::uint32_t> points;
    for (bool any = true; any;) {
      any = false;
      for (const auto rank : ranks) {
        const auto lease = plan->next(rank, 0);
        if (!lease) continue;
        any = true;
        points.insert(points.end(), lease->points.begin(), lease->points.end());
        complete(rank, *lease);
      }
    }
    return points;
  }

 private:
  std::vector<RankReport> reports_ = std::vector<RankReport>(16);
};

std::vector<Estimate> equal(std::size_t count, double seconds) {
  return std::vector<Estimate>(count, Estimate{seconds, 1});
}

/// Sixteen points that each take half a probe on one thread: rank 1 has points {0, 1} at hand.
struct Lost : PlannedWork {
  Lost() : PlannedWork(equal(16, 1.0 / 32), {1, 1, 1}) {
    lease = *plan->next(1, 0);  // a probe: 1/16 s, two points
  }
  Lease lease;
};

TEST(OpenWork, LeasesTheLostPointsAgainOneAtATime) {
  Lost lost;
  ASSERT_THAT(lost.lease.points, ElementsAre(0U, 1U));
  EXPECT_EQ(lost.plan->lose(1, {}, false).leased_again, 2U);
  EXPECT_FALSE(lost.plan->next(1, 0).has_value()) << "a dead rank got a lease";
  const auto first = lost.plan->next(2, 0);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->points.size(), 1U);
  EXPECT_TRUE(first->careful);
  EXPECT_FALSE(lost.plan->next(2, 0).has_value()) << "something beside a point that may end its rank";
  lost.complete(2, *first);
  const auto second = lost.plan->next(2, 0);
  ASSERT_TRUE(second.has_value());
  EXPECT_TRUE(second->careful);
  EXPECT_THAT((std::vector<std::uint32_t>{first->points[0], second->points[0]}), UnorderedElementsAre(0U, 1U));
  lost.complete(2, *second);
  auto rest = lost.work({0, 2});
  std::ranges::sort(rest);
  std::vector<std::uint32_t> others(14);
  std::iota(others.begin(), others.end(), 2U);
  EXPECT_EQ(rest, others);
  EXPECT_TRUE(lost.plan->all_done());
}

TEST(OpenWork, SparesRankZeroTheSuspectsWhileAnotherRankLives) {
  Lost lost;
  (void)lost.plan->lose(1, {}, false);
  for (const auto point : lost.work({0})) EXPECT_GE(point, 2U);
  EXPECT_FALSE(lost.plan->nothing_waits()) << "two suspects wait for rank 2";
  (void)lost.plan->lose(2, {}, false);
  EXPECT_THAT(lost.work({0}), UnorderedElementsAre(0U, 1U));
  EXPECT_TRUE(lost.plan->all_done());
}

TEST(OpenWork, LeasesNothingAgainThatTheDeadRankHadCommitted) {
  Lost lost;
  lost.complete(1, lost.lease);
  const auto second = lost.plan->next(1, 0);
  ASSERT_TRUE(second.has_value());
  // The first lease {0, 1} is finished and point 0 committed; of the second lease its first point is committed.
  WriterTrace trace;
  trace.committed = {0, second->points.front()};
  EXPECT_EQ(lost.plan->lose(1, trace, false).leased_again, second->points.size());  // 1 + (size - 1)
  auto points = lost.work({2, 0});
  std::ranges::sort(points);
  EXPECT_EQ(points.size(), 14U);
  EXPECT_FALSE(std::ranges::binary_search(points, 0U));
  EXPECT_TRUE(std::ranges::binary_search(points, 1U)) << "its row died with the rank";
  EXPECT_FALSE(std::ranges::binary_search(points, second->points.front()));
}

TEST(OpenWork, GivesUpAPointAfterItsSecondFault) {
  Lost lost;
  WriterTrace trace;
  trace.crashes = {{1, 1, "SIGSEGV"}};
  (void)lost.plan->lose(1, trace, false);
  EXPECT_THAT(lost.plan->take_guilty(), IsEmpty()) << "after one fault";
  const auto first = lost.plan->next(2, 0);
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(first->careful);
  trace.crashes = {{1, 1, "SIGBUS"}};
  if (first->points.front() != 1) {
    lost.complete(2, *first);
    ASSERT_THAT(lost.plan->next(2, 0)->points, ElementsAre(1U));
  }
  (void)lost.plan->lose(2, trace, false);
  EXPECT_THAT(lost.plan->take_guilty(), ElementsAre(1U));
  EXPECT_THAT(lost.plan->take_guilty(), IsEmpty()) << "told twice";
  const auto row = lost.quarantine.row_of(1).row;
  EXPECT_EQ(row.status, PointStatus::failed);
  EXPECT_EQ(row.reason, "the point ended its process 2 times (SIGBUS); it is not tried again");
  for (const auto point : lost.work({0})) EXPECT_NE(point, 1U);
  EXPECT_TRUE(lost.plan->all_done());
}

TEST(OpenWork, SharesOutWhatADeadRankHadOfTwoStages) {
  Lost lost;  // rank 1 has points 0 and 1 of this stage at hand
  LeaseOptions options;
  options.spare_first = true;
  options.first_id = 1'000;
  options.safe_when_finished = true;
  OpenWork next(lost.estimates, {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {1, 1, 1}, {}, lost.quarantine, options);
  const auto ahead = next.next(1, 0);
  ASSERT_TRUE(ahead.has_value());
  ASSERT_THAT(ahead->points, ElementsAre(4U, 5U));
  EXPECT_EQ(ahead->id, 1'000U);
  const auto both = [&] { return std::vector<OpenWork*>{&*lost.plan, &next}; };
  WriterTrace trace;
  trace.crashes = {{5, 1, "SIGSEGV"}};
  EXPECT_EQ(lose(both(), 1, trace, false).leased_again, 4U);
  EXPECT_TRUE(lost.quarantine.is_suspect(5));
  EXPECT_FALSE(lost.quarantine.is_guilty(5)) << "one crash is one fault, whatever stages are open";
  const auto suspect = next.next(2, 0);
  ASSERT_TRUE(suspect && suspect->careful);
  EXPECT_TRUE(next.works_alone(2));
  EXPECT_FALSE(lost.plan->works_alone(2));
  // A kill for lack of memory is blamed on a point only if it is the only one of all stages.
  lost.complete(0, *lost.plan->next(0, 0));
  const auto other = lost.plan->next(2, 0);
  ASSERT_TRUE(other && other->careful);
  EXPECT_FALSE(lose(both(), 2, {}, true).killed_for_memory) << "it may have been either of two";
}

TEST(OpenWork, LeasesNothingAgainThatRankZeroHas) {
  Lost lost;
  LeaseOptions options;
  options.safe_when_finished = true;
  OpenWork values(lost.estimates, {0, 1, 2, 3, 4, 5}, {1, 1}, {}, lost.quarantine, options);
  const auto lease = values.next(1, 0);
  ASSERT_TRUE(lease.has_value());
  RankReport report;
  report.finished_leases = {lease->id};
  report.progress = {lease->seconds, lease->seconds};
  values.learn(1, report);
  EXPECT_EQ(values.lose(1, {}, false).leased_again, 0U);
}

TEST(OpenWork, RemembersTheFaultsOfEarlierRuns) {
  const Quarantine earlier({{3, 2, "SIGFPE"}, {5, 1, "SIGILL"}});
  PlannedWork planned(equal(8, 0.01), {1, 1}, {}, earlier);
  EXPECT_THAT(planned.plan->take_guilty(), ElementsAre(3U));
  const auto lease = planned.plan->next(1, 0);
  ASSERT_TRUE(lease.has_value());
  EXPECT_THAT(lease->points, ElementsAre(5U)) << "with one fault it runs by itself";
  EXPECT_TRUE(lease->careful);
}

TEST(OpenWork, BlamesAKillForWantOfMemoryOnTheOnlyPointThatWasAnnounced) {
  Lost lost;
  WriterTrace trace;
  trace.unfinished = {1};
  EXPECT_EQ(lost.plan->lose(1, trace, true).killed_for_memory, 1U);
  EXPECT_TRUE(lost.quarantine.is_suspect(1));
  EXPECT_FALSE(lost.quarantine.is_suspect(0));
}

TEST(OpenWork, BlamesNobodyForAKillThatTheSystemDidNotCountOrThatMayBeOfSeveral) {
  for (const bool counted : {false, true}) {
    Lost lost;
    WriterTrace trace;
    trace.unfinished = {0, 1};
    if (!counted) trace.unfinished = {1};
    EXPECT_FALSE(lost.plan->lose(1, trace, counted).killed_for_memory.has_value());
    EXPECT_FALSE(lost.quarantine.is_suspect(1));
  }
}

TEST(OpenWork, PutsTheLongestFirstByWhatPointsOfTheirKindReallyTook) {
  // The ring is expected to take 8 ms and the direct algorithm 10 ms. 20 points of each have shown that the ring takes
  // ten times as long.
  LearnedCosts model;
  DesignPoint ring = make_study(1).points[0];
  DesignPoint direct = ring;
  direct.algorithm = "direct";
  ASSERT_NE(kind_of(ring), kind_of(direct));
  LeaseQueue queue({{0, 0.008, kind_of(ring)}, {1, 0.010, kind_of(direct)}}, {1});
  model.add({kind_of(ring), 20, 20 * 0.008, 20 * 0.08});
  model.add({kind_of(direct), 20, 20 * 0.010, 20 * 0.010});
  ASSERT_TRUE(model.has_news());
  // All together took 1.6 + 0.2 s, and 0.16 + 0.2 s were expected: factor 5. Two average points enter with it: ring
  // (1.6 + 5 * 0.016) / (0.16 + 0.016) = 9.54, direct (0.2 + 5 * 0.02) / (0.2 + 0.02) = 1.36.
  EXPECT_NEAR(model.factor(kind_of(ring)), 1.68 / 0.176, 1e-9);
  EXPECT_NEAR(model.factor(kind_of(direct)), 0.3 / 0.22, 1e-9);
  queue.rescale([&](std::uint32_t kind) { return model.factor(kind); });
  const auto lease = queue.next(0, 0);
  ASSERT_TRUE(lease.has_value());
  EXPECT_THAT(lease->points, ElementsAre(0U, 1U));
  EXPECT_NEAR(lease->seconds, 0.008 * 1.68 / 0.176 + 0.010 * 0.3 / 0.22, 1e-9);
  EXPECT_NEAR(lease->scale, lease->seconds / 0.018, 1e-9);
}

TEST(OpenWork, CorrectsWaitingPointsOnceEnoughOfThemAreKnown) {
  PlannedWork planned(equal(1000, 0.01), {1});
  const auto lease = planned.plan->next(0, 0);
  ASSERT_TRUE(lease.has_value());
  EXPECT_DOUBLE_EQ(lease->scale, 1);
  RankReport report;
  report.finished_leases = {lease->id};
  report.costs = {{planned.estimates.kind(0), 50, 0.5, 2.0}};  // four times as long as expected
  planned.plan->learn(0, report);
  const auto next = planned.plan->next(0, 0);
  ASSERT_TRUE(next.has_value());
  EXPECT_NEAR(next->scale, 4, 1e-9);
  EXPECT_NEAR(next->seconds / static_cast<double>(next->points.size()), 0.04, 1e-9);
}

/// Two nodes of two ranks each, 100 bytes per rank.
NodeMap two_nodes() { return {{0, 0, 2, 2}, {100, 100, 100, 100}}; }

TEST(OpenWork, GivesALargePointItsNodeToItself) {
  auto table = equal(20, 0.01);
  table[7].bytes = 150;
  PlannedWork planned(table, {1, 1, 1, 1}, two_nodes());
  const auto lease = planned.plan->next(1, 0);
  ASSERT_TRUE(lease.has_value());
  EXPECT_THAT(lease->points, ElementsAre(7U));
  EXPECT_TRUE(lease->exclusive);
  EXPECT_FALSE(planned.plan->next(0, 0).has_value()) << "beside it on its node";
  const auto other = planned.plan->next(2, 0);
  ASSERT_TRUE(other.has_value()) << "the other node has nothing large to wait for";
  EXPECT_FALSE(other->exclusive);
  planned.complete(1, *lease);
  EXPECT_TRUE(planned.plan->next(0, 0).has_value());
}

TEST(OpenWork, WaitsWithALargePointUntilItsNodeIsIdleAndGivesItNothingElse) {
  auto table = equal(40, 0.01);
  table[7].bytes = 150;
  table[8].bytes = 130;
  PlannedWork planned(table, {1, 1}, {{0, 0}, {100, 100}});
  const auto large = planned.plan->next(0, 0);
  ASSERT_TRUE(large.has_value());
  EXPECT_THAT(large->points, ElementsAre(7U));
  EXPECT_FALSE(planned.plan->next(1, 0).has_value());
  planned.complete(0, *large);
  const auto second = planned.plan->next(1, 0);
  ASSERT_TRUE(second.has_value());
  EXPECT_THAT(second->points, ElementsAre(8U));
  (void)planned.plan->lose(1, {}, false);
  const auto again = planned.plan->next(0, 0);
  ASSERT_TRUE(again.has_value());
  EXPECT_THAT(again->points, ElementsAre(8U)) << "the dead rank's large point";
  EXPECT_TRUE(again->exclusive);
  planned.complete(0, *again);
  EXPECT_EQ(planned.work({0}).size(), 38U);
  EXPECT_TRUE(planned.plan->all_done());
}

TEST(OpenWork, NeverLetsANodesPointsExceedItsMemory) {
  // 200 points of 1 to 200 bytes. Ranks of one thread hold only the first point of a lease, so a node's bytes are those
  // of its ranks' current leases (exclusive: the node's memory, else the largest point of the lease).
  std::vector<Estimate> table;
  for (std::size_t i = 0; i < 200; ++i) table.push_back({0.001 + 0.0001 * static_cast<double>(i * 7 % 50), i + 1});
  PlannedWork planned(table, {1, 1, 1, 1}, two_nodes());
  std::vector<std::optional<Lease>> current(4);
  std::size_t done = 0;
  for (int turn = 0; turn < 2000 && !planned.plan->all_done(); ++turn) {
    const auto rank = static_cast<std::size_t>(turn * 5 % 4);
    if (current[rank]) {
      done += current[rank]->points.size();
      planned.complete(rank, *current[rank]);
      current[rank].reset();
    }
    current[rank] = planned.plan->next(rank, 0);
    for (const std::size_t first : {0U, 2U}) {
      std::size_t bytes = 0;
      for (auto r = first; r < first + 2; ++r) {
        std::size_t most = 0;
        if (current[r])
          for (const auto point : current[r]->points) most = std::max(most, table[point].bytes);
        bytes += most;
      }
      EXPECT_LE(bytes, 200U) << "turn " << turn;
    }
  }
  EXPECT_EQ(done, 200U);
}

TEST(OpenWork, LeasesNothingThatWouldNotEndInTime) {
  // 1 rank of 2 threads, 3 s left: a point of 5 s would not end, one of 5 s that uses both threads takes 2.5 s.
  PlannedWork planned({{5, 1}, {5, 1, true}, {1, 1}}, {2});
  EXPECT_EQ(planned.plan->withdraw(3), 1U);
  const auto lease = planned.plan->next(0, 0, 3);
  ASSERT_TRUE(lease.has_value());
  EXPECT_THAT(lease->points, UnorderedElementsAre(1U, 2U));
  planned.complete(0, *lease);
  EXPECT_TRUE(planned.plan->all_done());
}

TEST(OpenWork, CountsWhatARankHasAtHandAgainstTheTimeLeft) {
  // 4 s left, 3 s at hand: a point of 2 s would end a second too late, one of half a second ends in time.
  PlannedWork planned({{2, 1}, {0.5, 1}}, {1});
  EXPECT_EQ(planned.plan->withdraw(4), 0U);
  const auto lease = planned.plan->next(0, 3, 4);
  ASSERT_TRUE(lease.has_value());
  EXPECT_THAT(lease->points, ElementsAre(1U));
  EXPECT_EQ(planned.plan->withdraw(1), 1U);
}

}  // namespace
}  // namespace tenex
