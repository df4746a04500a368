// Near the time limit no point is begun that is not expected to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

#include "coordinator/fake_study.hpp"
#include "coordinator/merged_rows.hpp"
#include "coordinator/point_runner.hpp"
#include "coordinator/ranks.hpp"
#include "tenex/coordinator/resources.hpp"

namespace tenex {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::make_row;
using testing::make_study;
using testing::merged_rows;
using testing::sleep_seconds;
using testing::TemporaryFolder;

TEST(TimeLimit, DrainsARunInTimeAndTheSameCommandCompletesIt) {
  // 40 points of 50 ms are 2 s; within 1 s less a twentieth for committing at most 19 are begun.
  const TemporaryFolder folder;
  const Study study = make_study(40);
  auto options = testing::sleeping_options(folder.path(), 0.05);
  options.time_limit_seconds = 1;
  const auto first = run_alone(study, options);
  ASSERT_TRUE(first.ok()) << to_string(first.errors());
  EXPECT_TRUE(first->interrupted);
  EXPECT_GE(first->evaluated, 5U);
  EXPECT_LE(first->evaluated, 19U);
  EXPECT_EQ(first->too_long, 40U - first->evaluated);
  EXPECT_THAT(first->warnings, Contains(HasSubstr("within the time limit of 1 s: ")));
  options.time_limit_seconds = 0;
  const auto second = run_alone(study, options);
  ASSERT_TRUE(second.ok()) << to_string(second.errors());
  EXPECT_FALSE(second->interrupted);
  EXPECT_EQ(second->evaluated, 40U - first->evaluated);
  EXPECT_EQ(merged_rows(folder.path()).size(), 40U);
}

TEST(TimeLimit, PassesOverALongPointForShorterOnes) {
  const TemporaryFolder folder;
  const Study study = make_study(6);
  auto options = testing::sleeping_options(folder.path(), 0.05);
  options.time_limit_seconds = 2;
  std::mutex mutex;
  std::set<std::uint64_t> seeds;
  options.estimate_point = [](const DesignPoint& point) { return Estimate{point.seed == 3 ? 100.0 : 0.01, 1000}; };
  options.evaluate_point = [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    const std::lock_guard lock(mutex);
    seeds.insert(point.seed);
    return make_row(point);
  };
  const auto report = run_alone(study, options);
  ASSERT_TRUE(report.ok()) << to_string(report.errors());
  EXPECT_TRUE(report->interrupted);
  EXPECT_EQ(report->too_long, 1U);
  EXPECT_THAT(seeds, ElementsAre(1U, 2U, 4U, 5U, 6U));
}

TEST(TimeLimit, IsWhatTheBatchSystemSaysUnlessAskedOtherwise) {
  ::unsetenv("SLURM_JOB_END_TIME");
  EXPECT_FALSE(resolve_time_limit(0).has_value());
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  ::setenv("SLURM_JOB_END_TIME", std::to_string(now.count() + 3600).c_str(), 1);
  const double left = resolve_time_limit(0).value_or(-1);
  const auto since = std::chrono::system_clock::now().time_since_epoch() - now;
  EXPECT_LE(left, 3600);
  EXPECT_GE(left, 3600 - 1 - std::chrono::duration<double>(since).count());
  EXPECT_DOUBLE_EQ(resolve_time_limit(60).value_or(-1), 60);
  ::setenv("SLURM_JOB_END_TIME", "soon", 1);
  EXPECT_FALSE(resolve_time_limit(0).has_value());
  ::unsetenv("SLURM_JOB_END_TIME");
  EXPECT_DOUBLE_EQ(reserve_of(100), 5);     // a twentieth
  EXPECT_DOUBLE_EQ(reserve_of(86400), 30);  // at most
}

/// A runner of one thread; it records which points it begins and with which memory.
struct LimitedRig {
  Study study = make_study(4);
  std::vector<Estimate> costs;
  Estimates estimates{study, [this](const DesignPoint& point) { return costs[point.seed - 1]; }};
  std::vector<std::uint64_t> begun;
  std::vector<std::size_t> limits;
  std::vector<std::uint32_t> announced;

  void run(const PointRunnerOptions& options, const Lease& lease, RankReport& report) {
    PointRunner runner(
        study, options,
        [this](const DesignPoint& point, Cache&, const EvaluateOptions& asked) {
          begun.push_back(point.seed);
          limits.push_back(asked.memory_limit_bytes);
          return make_row(point);
        },
        estimates, [](FinishedPoint) {}, [this](std::uint32_t point) { announced.push_back(point); });
    runner.push(lease);
    while (!runner.idle()) sleep_seconds(0.001);
    report = runner.report();
  }
};

TEST(PointRunner, DoesNotBeginAPointThatWouldEndTooLateAndSaysSo) {
  LimitedRig rig;
  rig.costs = {{0.1, 1}, {50, 1}, {0.2, 1}, {70, 1}};
  PointRunnerOptions options;
  options.ends_at = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  RankReport report;
  // Corrected by the lease, points take twice as long as estimated, so the point of 50 s would take 100 s.
  rig.run(options, {1, {0, 1, 2, 3}, 240.6, 2.0}, report);
  EXPECT_THAT(rig.begun, ElementsAre(3U, 1U));  // 0.4 and 0.2 s
  EXPECT_EQ(report.evaluated, 2U);
  EXPECT_EQ(report.skipped, 2U);
  EXPECT_THAT(report.finished_leases, ElementsAre(1U));
  EXPECT_EQ(report.backlog_seconds, 0);
}

TEST(PointRunner, TellsWhatThePointsOfAKindTook) {
  LimitedRig rig;
  rig.costs = {{0.1, 1}, {0.3, 1}, {0.2, 1}, {0.4, 1}};
  RankReport report;
  rig.run({}, {1, {0, 1, 2}, 1.2, 2.0}, report);
  ASSERT_EQ(report.costs.size(), 1U);
  EXPECT_EQ(report.costs[0].kind, kind_of(rig.study.points[0]));
  EXPECT_EQ(report.costs[0].points, 3U);
  EXPECT_NEAR(report.costs[0].expected, 0.6, 1e-12);  // as estimated, not as corrected
  EXPECT_GT(report.costs[0].measured, 0);
  EXPECT_NEAR(report.progress.expected_done, 1.2, 1e-12);  // as corrected, as the queue expects
}

TEST(PointRunner, AnnouncesThePointOfACarefulLeaseHoweverSmall) {
  LimitedRig rig;
  rig.costs = {{0.001, 1}, {0.001, 1}, {0.001, 1}, {0.001, 1}};
  RankReport report;
  Lease lease{1, {2}, 0.001};
  lease.careful = true;
  rig.run({}, lease, report);
  EXPECT_THAT(rig.announced, ElementsAre(2U));
}

TEST(PointRunner, LetsAPointBeyondItsShareUseTheNodesMemory) {
  LimitedRig rig;
  rig.costs = {{0.001, 80}, {0.001, 300}, {0.001, 1}, {0.001, 1}};
  PointRunnerOptions options;
  options.memory_limit_bytes = 100;
  options.node_memory_bytes = 400;
  RankReport report;
  Lease lease{1, {1}, 0.001};
  lease.exclusive = true;
  rig.run(options, lease, report);
  rig.run(options, {2, {0}, 0.001}, report);
  EXPECT_THAT(rig.limits, ElementsAre(400U, 100U));
}

}  // namespace
}  // namespace tenex
