// The runner: wide or deep, memory, leases without barriers, drain.
#include "coordinator/point_runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/openmp/region.hpp"

namespace tenex {
namespace {

using testing::make_row;
using testing::make_study;
using testing::sleep_seconds;

/// Records evaluations: which ran at the same time, and on how many threads.
struct Watch {
  std::mutex mutex;
  std::size_t running = 0;
  std::size_t most_running = 0;
  std::size_t running_bytes = 0;
  std::size_t most_bytes = 0;
  bool deep_beside_another = false;
  std::map<std::uint64_t, int> threads_of_seed;
  std::vector<std::uint64_t> order;
  bool deep_running = false;

  void enter(const DesignPoint& point, int threads, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    ++running;
    running_bytes += bytes;
    most_running = std::max(most_running, running);
    most_bytes = std::max(most_bytes, running_bytes);
    deep_beside_another = deep_beside_another || ((threads > 1 || deep_running) && running > 1);
    deep_running = threads > 1;
    threads_of_seed[point.seed] = threads;
    order.push_back(point.seed);
  }
  void leave(std::size_t bytes) {
    const std::lock_guard lock(mutex);
    --running;
    running_bytes -= bytes;
    deep_running = false;
  }
};

/// A runner whose points have the costs of a table.
struct Rig {
  Study study;
  std::vector<Estimate> estimates;  // by point
  Watch watch;
  double sleep = 0.002;
  std::mutex rows_mutex;
  std::map<std::uint32_t, EvaluationOutput> rows;
  std::vector<std::uint32_t> announced;
  Estimates known;
  std::unique_ptr<PointRunner> runner;

  Rig(std::vector<Estimate> costs, PointRunnerOptions options)
      : study(make_study(costs.size())),
        estimates(std::move(costs)),
        known(study, [this](const DesignPoint& point) { return estimates[point.seed - 1]; }) {
    runner = std::make_unique<PointRunner>(
        study, options,
        [this](const DesignPoint& point, Cache&, const EvaluateOptions& asked) {
          const auto bytes = estimates[point.seed - 1].bytes;
          watch.enter(point, asked.threads, bytes);
          sleep_seconds(sleep);
          watch.leave(bytes);
          return make_row(point);
        },
        known,
        [this](FinishedPoint finished) {
          const std::lock_guard lock(rows_mutex);
          rows[finished.point] = std::move(finished.output);
        },
        [this](std::uint32_t point) {
          const std::lock_guard lock(rows_mutex);
          EXPECT_FALSE(rows.contains(point));
          announced.push_back(point);
        });
  }

  Lease lease_of_all() const {
    Lease lease{1, {}, 0};
    for (std::uint32_t i = 0; i < estimates.size(); ++i) lease.points.push_back(i);
    return lease;
  }
  void wait() const {
    while (!runner->idle()) sleep_seconds(0.001);
  }
};

PointRunnerOptions options_of(int threads, std::size_t memory = std::size_t{1} << 30) {
  PointRunnerOptions options;
  options.threads = threads;
  options.memory_limit_bytes = memory;
  return options;
}

TEST(WantsAllThreads, IsForLongPointsThatWouldLeaveTheOthersIdle) {
  const auto options = options_of(4);
  EXPECT_FALSE(wants_all_threads({0.2, 1}, 0.2, options)) << "short points never";
  EXPECT_TRUE(wants_all_threads({2, 1}, 2, options)) << "alone in its lease: a thread's share is 0.5 s";
  EXPECT_FALSE(wants_all_threads({2, 1}, 8, options)) << "four of 2 s fill four threads";
  EXPECT_TRUE(wants_all_threads({2, 1}, 5, options)) << "2 s > 1.5 * 5 s / 4";
  EXPECT_FALSE(wants_all_threads({2, 1}, 2, options_of(1))) << "one thread is all there is";
}

TEST(WantsAllThreads, IsForEveryPointOfARunOneByOne) {
  auto options = options_of(4);
  options.one_by_one = true;
  EXPECT_TRUE(wants_all_threads({0.001, 1}, 10, options));
  options.threads = 1;
  EXPECT_FALSE(wants_all_threads({2, 1}, 2, options)) << "one thread is all there is";
}

TEST(PointRunner, RunsOnePointAtATimeOnAllThreadsWhenAskedForThat) {
  auto options = options_of(3);
  options.one_by_one = true;
  Rig rig(std::vector<Estimate>(12, Estimate{0.01, 1}), options);
  rig.runner->push(rig.lease_of_all());
  rig.wait();
  EXPECT_EQ(rig.rows.size(), 12U);
  EXPECT_EQ(rig.watch.most_running, 1U);
  for (const auto& [seed, threads] : rig.watch.threads_of_seed) EXPECT_EQ(threads, 3) << "seed " << seed;
}

TEST(WantsAllThreads, IsForPointsThatDoNotFitSideBySide) {
  EXPECT_TRUE(wants_all_threads({0.01, 60}, 10, options_of(2, 100))) << "two of 60 bytes exceed 100";
  EXPECT_FALSE(wants_all_threads({0.01, 50}, 10, options_of(2, 100)));
  // 30 bytes hold three points side by side on 16 threads: worth it for short points, not for long ones.
  EXPECT_FALSE(wants_all_threads({0.01, 30}, 100, options_of(16, 100)));
  EXPECT_TRUE(wants_all_threads({1, 30}, 100, options_of(16, 100)));
}

TEST(WantsAllThreads, IsForLargePointsThatMakeGoodUseOfThem) {
  // On 2 threads two points of 26 bytes take 52 of 100, more than half of the memory; of 25 bytes they do not. In a
  // lease of 200 s a thread's share is 100 s, so their 10 s would not make them deep.
  EXPECT_TRUE(wants_all_threads({10, 26, true}, 200, options_of(2, 100)));
  EXPECT_FALSE(wants_all_threads({10, 25, true}, 200, options_of(2, 100)));
  EXPECT_FALSE(wants_all_threads({10, 26, false}, 200, options_of(2, 100))) << "threads would not help";
  EXPECT_FALSE(wants_all_threads({0.9, 26, true}, 200, options_of(2, 100))) << "too short";
}

TEST(PointRunner, RunsManySmallPointsSideBySideOnOneThreadEach) {
  Rig rig(std::vector<Estimate>(40, Estimate{0.01, 1}), options_of(3));
  rig.runner->push(rig.lease_of_all());
  rig.wait();
  EXPECT_EQ(rig.rows.size(), 40U);
  EXPECT_EQ(rig.watch.most_running, 3U);
  for (const auto& [seed, threads] : rig.watch.threads_of_seed) EXPECT_EQ(threads, 1) << "seed " << seed;
}

TEST(PointRunner, GivesALargePointAllThreadsAndNothingRunsBesideIt) {
  // Points 10 and 30 (seeds 11 and 31) take 2 s each. In one lease of all points, 4.38 s, they are not deep: 2 s < 1.5
  // * 4.38 s / 3 threads = 2.19 s. In leases of their own they are deep; the 38 small ones are wide.
  std::vector<Estimate> costs(40, Estimate{0.01, 1});
  costs[10] = costs[30] = {2, 1};
  Rig rig(costs, options_of(3));
  Lease small{3, {}, 0};
  for (std::uint32_t i = 0; i < 40; ++i) {
    if (i != 10 && i != 30) small.points.push_back(i);
  }
  rig.runner->push({1, {10}, 2});
  rig.runner->push(small);
  rig.runner->push({2, {30}, 2});
  rig.wait();
  EXPECT_EQ(rig.rows.size(), 40U);
  EXPECT_FALSE(rig.watch.deep_beside_another);
  for (const auto& [seed, threads] : rig.watch.threads_of_seed) {
    EXPECT_EQ(threads, seed == 11 || seed == 31 ? 3 : 1) << "seed " << seed;
  }
}

TEST(PointRunner, KeepsThePlannedBytesOfConcurrentPointsWithinTheLimit) {
  // 4 threads, limit 100: two points of 40 bytes fit, a third would make 120.
  Rig rig(std::vector<Estimate>(24, Estimate{0.01, 40}), options_of(4, 100));
  rig.runner->push(rig.lease_of_all());
  rig.wait();
  EXPECT_EQ(rig.rows.size(), 24U);
  EXPECT_EQ(rig.watch.most_bytes, 80U);
}

TEST(PointRunner, EvaluatesAPointBeyondTheLimitAloneSoThatItCanSayWhatItNeeds) {
  std::vector<Estimate> costs(8, Estimate{0.01, 10});
  costs[4].bytes = 1000;
  Rig rig(costs, options_of(2, 100));
  rig.runner->push(rig.lease_of_all());
  rig.wait();
  EXPECT_EQ(rig.rows.size(), 8U);
  EXPECT_EQ(rig.watch.most_bytes, 1000U) << "something ran beside the large point";
}

TEST(PointRunner, StartsTheLongestOfALeaseFirst) {
  Rig rig({{0.01, 1}, {0.04, 1}, {0.02, 1}, {0.03, 1}}, options_of(1));
  rig.runner->push(rig.lease_of_all());
  rig.wait();
  EXPECT_EQ(rig.watch.order, (std::vector<std::uint64_t>{2, 4, 3, 1}));
}

TEST(PointRunner, GivesTheSameRowsForAnyNumberOfThreads) {
  std::map<std::uint32_t, std::int64_t> times[3];
  for (int threads = 1; threads <= 3; ++threads) {
    Rig rig(std::vector<Estimate>(30, Estimate{0.01, 1}), options_of(threads));
    rig.runner->push(rig.lease_of_all());
    rig.wait();
    for (const auto& [point, output] : rig.rows) times[threads - 1][point] = output.row.collective_time_ps;
  }
  EXPECT_EQ(times[0].size(), 30U);
  EXPECT_EQ(times[0], times[1]);
  EXPECT_EQ(times[0], times[2]);
}

TEST(PointRunner, ReportsEachLeaseOnceItsLastPointIsDone) {
  Rig rig(std::vector<Estimate>(6, Estimate{0.5, 1}), options_of(1));
  rig.runner->push({7, {0, 1}, 1});
  rig.runner->push({9, {2, 3, 4, 5}, 2});
  rig.wait();
  const auto report = rig.runner->report();
  EXPECT_EQ(report.finished_leases, (std::vector<std::uint64_t>{7, 9}));
  EXPECT_EQ(report.evaluated, 6U);
  EXPECT_EQ(report.failed, 0U);  // seeds 1 to 6; only every tenth fails
  EXPECT_EQ(report.leases_received, 2U);
  EXPECT_DOUBLE_EQ(report.backlog_seconds, 0);
  EXPECT_DOUBLE_EQ(report.progress.expected_done, 3);  // 6 * 0.5
  EXPECT_GE(report.progress.busy_seconds, 6 * 0.002);  // six sleeps of 2 ms, one after the other
  EXPECT_TRUE(rig.runner->report().finished_leases.empty());
}

TEST(PointRunner, DrainFinishesWhatRunsAndForgetsTheRest) {
  Rig rig(std::vector<Estimate>(100, Estimate{0.01, 1}), options_of(2));
  rig.sleep = 0.05;
  rig.runner->push(rig.lease_of_all());
  while (rig.runner->waiting() == 100) sleep_seconds(0.001);
  rig.runner->drain();
  rig.wait();
  EXPECT_GE(rig.rows.size(), 1U);
  EXPECT_LT(rig.rows.size(), 20U);
  EXPECT_EQ(rig.watch.running, 0U);
  rig.runner->push({2, {99}, 0});
  EXPECT_TRUE(rig.runner->idle()) << "a drained runner took a lease";
}

TEST(PointRunner, AnnouncesLongAndLargePointsBeforeTheyStartAndNoOthers) {
  // Points of over 1 s or over half of 100 bytes are announced. On one thread no point is deep: the announcement does
  // not depend on that.
  for (const int threads : {1, 3}) {
    Rig rig({{0.5, 1}, {1.5, 1}, {0.1, 50}, {0.1, 51}, {0.9, 1}}, options_of(threads, 100));
    rig.runner->push(rig.lease_of_all());
    rig.wait();
    std::ranges::sort(rig.announced);
    EXPECT_EQ(rig.announced, (std::vector<std::uint32_t>{1, 3})) << threads << " threads";
    EXPECT_EQ(rig.rows.size(), 5U);
  }
}

TEST(PointRunner, EstimatesOnItsOwnThreadsAndCountsWithTheLeasesSecondsMeanwhile) {
  const Study study = make_study(6);
  std::atomic<bool> may_go_on = false;
  std::atomic<bool> by_the_pusher = false;
  const auto pusher = std::this_thread::get_id();
  Estimates estimates(study, [&](const DesignPoint&) {
    by_the_pusher = by_the_pusher || std::this_thread::get_id() == pusher;
    while (!may_go_on) sleep_seconds(0.001);
    return Estimate{0.5, 1};
  });
  PointRunner runner(
      study, options_of(2), [](const DesignPoint& point, Cache&, const EvaluateOptions&) { return make_row(point); },
      estimates, [](FinishedPoint) {});
  runner.push({1, {0, 1, 2, 3}, 2.5});
  runner.push({2, {4, 5}, 1.25});
  EXPECT_FALSE(runner.idle());
  EXPECT_EQ(runner.waiting(), 6U);
  EXPECT_DOUBLE_EQ(runner.report().backlog_seconds, 3.75);
  may_go_on = true;
  while (!runner.idle()) sleep_seconds(0.001);
  EXPECT_FALSE(by_the_pusher);
  const auto report = runner.report();
  EXPECT_EQ(report.evaluated, 6U);
  // Two threads: the leases may end in either order.
  EXPECT_THAT(report.finished_leases, ::testing::UnorderedElementsAre(1U, 2U));
  EXPECT_DOUBLE_EQ(report.progress.expected_done, 3);  // 6 * 0.5
  EXPECT_DOUBLE_EQ(report.backlog_seconds, 0);
}

TEST(PointRunner, ForgetsLeasesThatItHasNotLookedAtWhenDrained) {
  const Study study = make_study(6);
  std::atomic<bool> may_go_on = false;
  std::atomic<int> asked = 0;
  Estimates estimates(study, [&](const DesignPoint&) {
    ++asked;
    while (!may_go_on) sleep_seconds(0.001);
    return Estimate{0.5, 1};
  });
  PointRunner runner(
      study, options_of(2), [](const DesignPoint& point, Cache&, const EvaluateOptions&) { return make_row(point); },
      estimates, [](FinishedPoint) {});
  runner.push({1, {0, 1, 2, 3}, 2.5});
  runner.push({2, {4, 5}, 1.25});
  while (asked == 0) sleep_seconds(0.001);
  runner.drain();
  EXPECT_EQ(runner.waiting(), 4U) << "the lease that is being looked at";
  may_go_on = true;
  while (!runner.idle()) sleep_seconds(0.001);
  EXPECT_EQ(runner.report().evaluated, 0U);
  EXPECT_EQ(runner.waiting(), 0U);
}

TEST(PointRunner, TurnsAnExceptionIntoARow) {
  const Study study = make_study(2);
  std::mutex mutex;
  std::vector<EvaluationOutput> rows(2);
  Estimates estimates(study, [](const DesignPoint&) { return Estimate{0.01, 1}; });
  PointRunner runner(
      study, options_of(2),
      [](const DesignPoint& point, Cache&, const EvaluateOptions&) -> EvaluationOutput {
        if (point.seed == 1) throw std::bad_alloc();
        throw InvariantError("made up");
      },
      estimates,
      [&](FinishedPoint finished) {
        const std::lock_guard lock(mutex);
        rows[finished.point] = std::move(finished.output);
      });
  runner.push({1, {0, 1}, 0});
  while (!runner.idle()) sleep_seconds(0.001);
  EXPECT_EQ(rows[0].row.status, PointStatus::out_of_memory);
  EXPECT_EQ(rows[1].row.status, PointStatus::failed);
  EXPECT_EQ(rows[1].row.reason, "made up");
  EXPECT_EQ(runner.report().failed, 2U);
}

TEST(PointRunner, AsksForAScheduleWhereAFileIsToHoldIt) {
  Study study = make_study(2);
  study.store_schedule = {false, true};
  std::array<std::atomic<bool>, 2> kept{};
  Estimates estimates(study, [](const DesignPoint&) { return Estimate{0.01, 1}; });
  PointRunner runner(
      study, options_of(2),
      [&](const DesignPoint& point, Cache&, const EvaluateOptions& asked) {
        kept.at(point.seed - 1) = asked.keep_schedule;
        return make_row(point);
      },
      estimates, [](FinishedPoint) {});
  runner.push({1, {0, 1}, 0});
  while (!runner.idle()) sleep_seconds(0.001);
  EXPECT_FALSE(kept[0]);
  EXPECT_TRUE(kept[1]);
}

TEST(PointRunner, HasNoBarrierBetweenLeases) {
  // Two threads. Lease 1 has one point of 120 ms and one of 2 ms. Lease 2, prefetched, has 10 points of 2 ms, which run
  // beside the long one.
  const Study study = make_study(12);
  std::atomic<bool> long_one_ended = false;
  std::atomic<int> ended_before_it = 0;
  Estimates estimates(study, [](const DesignPoint& point) { return Estimate{point.seed == 1 ? 0.12 : 0.002, 1}; });
  PointRunner runner(
      study, options_of(2),
      [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
        sleep_seconds(point.seed == 1 ? 0.12 : 0.002);
        if (point.seed == 1) long_one_ended = true;
        if (!long_one_ended) ++ended_before_it;
        return make_row(point);
      },
      estimates, [](FinishedPoint) {});
  runner.push({1, {0, 1}, 0});
  runner.push({2, {2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0});
  while (!runner.idle()) sleep_seconds(0.001);
  EXPECT_EQ(ended_before_it, 11);
}

TEST(PointRunner, LetsAnOpenMpRegionInsideAPointRunOnOneThreadInWideMode) {
  const Study study = make_study(4);
  std::atomic<int> most = 0;
  Estimates estimates(study, [](const DesignPoint&) { return Estimate{0.01, 1}; });
  PointRunner runner(
      study, options_of(2),
      [&](const DesignPoint& point, Cache&, const EvaluateOptions&) {
        const int team = testing::open_region(4);
        for (int seen = most; team > seen && !most.compare_exchange_weak(seen, team);) {
        }
        return make_row(point);
      },
      estimates, [](FinishedPoint) {});
  runner.push({1, {0, 1, 2, 3}, 0});
  while (!runner.idle()) sleep_seconds(0.001);
  EXPECT_EQ(most, 1);
}

}  // namespace
}  // namespace tenex
