// The computation of progress: the fraction of the work that is done, and the time left.
#include "coordinator/work_progress.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tenex {
namespace {

constexpr std::uint32_t kind = 7;

/// Points of one kind with these expected seconds.
ExpectedWork expected_points(const std::vector<double>& seconds, int threads_kept = 1) {
  ExpectedWork work;
  for (const double each : seconds) work.add(kind, each, threads_kept);
  return work;
}

PointAtWork serial(double expected, double elapsed) { return {kind, expected, false, 1, elapsed}; }

/// The state after `ended` points with `expected` seconds each that took `measured` seconds each.
WorkAtHand after(ExpectedWork& points, int ended, double expected, double measured) {
  WorkAtHand work;
  work.expected = &points;
  for (int i = 0; i < ended; ++i) {
    work.costs.add({kind, 1, expected, measured, expected});
    points.end(kind, expected);
    work.occupied += measured;
  }
  return work;
}

TEST(WorkProgress, CountsARunningPointForTheTimeThatItHasRun) {
  // 20 s of work, 4 of them done; the other 16 take 8 s on two threads.
  const auto points = expected_points({10, 5, 5});
  WorkAtHand work;
  work.expected = &points;
  work.running = {serial(10, 4)};
  work.longest_waiting = serial(5, 0);
  work.threads = 2;
  const auto outlook = look_ahead(work);
  EXPECT_DOUBLE_EQ(outlook.fraction, 0.2);
  EXPECT_DOUBLE_EQ(outlook.seconds_left, 8);
  ASSERT_EQ(outlook.running_left.size(), 1U);
  EXPECT_DOUBLE_EQ(outlook.running_left[0], 6);
}

TEST(WorkProgress, CountsAllThreadsOfAPointThatUsesThem) {
  // The first point takes 10 / 2 = 5 s on two threads: after 4 s, 8 of its 10 thread-seconds are done, and 12 of 20 are
  // left.
  const auto points = expected_points({10, 5, 5});
  WorkAtHand work;
  work.expected = &points;
  work.running = {{kind, 10, true, 2, 4}};
  work.threads = 2;
  const auto outlook = look_ahead(work);
  EXPECT_DOUBLE_EQ(outlook.fraction, 0.4);
  EXPECT_DOUBLE_EQ(outlook.seconds_left, 6);
}

TEST(WorkProgress, HasATimeLeftBeforeAnythingRuns) {
  const auto points = expected_points({3, 3});
  WorkAtHand work;
  work.expected = &points;
  const auto outlook = look_ahead(work);
  EXPECT_EQ(outlook.fraction, 0);
  EXPECT_DOUBLE_EQ(outlook.seconds_left, 6);
}

TEST(WorkProgress, NeverEndsAPointThatTakesTenTimesWhatWasExpected) {
  const auto points = expected_points({10});
  double before = 0;
  for (int elapsed = 1; elapsed <= 100; ++elapsed) {
    WorkAtHand work;
    work.expected = &points;
    work.running = {serial(10, elapsed)};
    const auto outlook = look_ahead(work);
    // Up to 9 s the progress is as expected. From there on nine tenths are done, and a ninth of the time so far is
    // left.
    EXPECT_NEAR(outlook.fraction, std::min(elapsed / 10.0, 0.9), 1e-12) << elapsed;
    EXPECT_NEAR(outlook.seconds_left, elapsed <= 9 ? 10 - elapsed : elapsed / 9.0, 1e-12) << elapsed;
    EXPECT_GE(outlook.fraction, before - 1e-12);
    before = outlook.fraction;
  }
}

TEST(WorkProgress, ExpectsMoreOfTheOthersWhileOneOfTheirKindTakesLonger) {
  // Three points of 10 s, one after another; the first has run 100 s. It tells a factor of 10 for 10 s of the 30 s, and
  // the prior weighs 0.6 s: 10^(10 / 10.6) for each waiting point, and 100 / 9 s left for the running one.
  const auto points = expected_points({10, 10, 10});
  WorkAtHand work;
  work.expected = &points;
  work.running = {serial(10, 100)};
  const auto outlook = look_ahead(work);
  const double each = 10 * std::pow(10, 10 / 10.6);
  EXPECT_NEAR(outlook.seconds_left, 2 * each + 100 / 9.0, 1e-9);
  EXPECT_NEAR(outlook.fraction, 100 / (100 + 100 / 9.0 + 2 * each), 1e-12);
}

TEST(WorkProgress, ConvergesWhereEstimatesAreTooHigh) {
  // Ten points estimated at 100 s take 1 s: the factor is (1 / 100)^(100 k / (100 k + 20)) after k of them.
  for (const int ended : {0, 1, 5, 9}) {
    auto points = expected_points(std::vector<double>(10, 100));
    const auto outlook = look_ahead(after(points, ended, 100, 1));
    const double factor = std::pow(0.01, ended * 100 / (ended * 100 + 20.0));
    EXPECT_NEAR(outlook.seconds_left, (10 - ended) * 100 * factor, 1e-9);
    if (ended == 5) {
      EXPECT_NEAR(outlook.seconds_left, 5, 1) << "half of it is done, and 5 s are left";
    }
    if (ended == 9) {
      EXPECT_NEAR(outlook.seconds_left, 1, 0.11);
      EXPECT_NEAR(outlook.fraction, 0.9, 0.01);
    }
  }
}

TEST(WorkProgress, ConvergesWhereEstimatesAreTooLow) {
  // Ten points estimated at 1 s take 10 s: after five of them 50 s are left.
  auto points = expected_points(std::vector<double>(10, 1));
  const auto outlook = look_ahead(after(points, 5, 1, 10));
  EXPECT_NEAR(outlook.seconds_left, 5 * std::pow(10, 5 / 5.2), 1e-9);
  EXPECT_NEAR(outlook.seconds_left, 50, 5);
  EXPECT_NEAR(outlook.fraction, 0.5, 0.03);
}

TEST(WorkProgress, IsNotMisledByAFirstSmallPoint) {
  // One point of a millisecond took a tenth of a second; 100 s of another kind are left. Its weight is 0.001 / 2.00102.
  ExpectedWork points;
  points.add(1, 100);
  points.add(2, 0.001);
  points.end(2, 0.001);
  WorkAtHand work;
  work.expected = &points;
  work.costs.add({2, 1, 0.001, 0.1, 0.001});
  work.occupied = 0.1;
  EXPECT_NEAR(look_ahead(work).seconds_left, 100, 0.3);
}

TEST(WorkProgress, CountsTheWorkOfEarlierRuns) {
  const auto points = expected_points({10});
  WorkAtHand work;
  work.expected = &points;
  work.occupied = 30;
  EXPECT_DOUBLE_EQ(look_ahead(work).fraction, 0.75);
}

TEST(WorkProgress, IsNeverShorterThanTheLongestPointThatWaits) {
  const auto points = expected_points({60, 1, 1, 1});
  WorkAtHand work;
  work.expected = &points;
  work.threads = 64;
  work.longest_waiting = serial(60, 0);
  EXPECT_DOUBLE_EQ(look_ahead(work).seconds_left, 60);
}

TEST(WorkProgress, CountsTheThreadsThatAPointKeepsFromOthers) {
  // Four points of 10 s that run on one of two threads and prevent others from running beside them.
  const auto points = expected_points({10, 10, 10, 10}, 2);
  WorkAtHand work;
  work.expected = &points;
  work.threads = 2;
  EXPECT_DOUBLE_EQ(look_ahead(work).seconds_left, 40);
  work.running = {{kind, 10, false, 2, 5}};  // half of the first point
  EXPECT_DOUBLE_EQ(look_ahead(work).seconds_left, 35);
  EXPECT_DOUBLE_EQ(look_ahead(work).fraction, 0.125);
}

TEST(WorkProgress, EndsWithWhatRunsWhereNoFurtherPointBegins) {
  const auto points = expected_points({10, 10, 10});
  WorkAtHand work;
  work.expected = &points;
  work.running = {serial(10, 3), serial(10, 8)};
  work.threads = 2;
  work.draining = true;
  const auto outlook = look_ahead(work);
  EXPECT_DOUBLE_EQ(outlook.seconds_left, 7);
  EXPECT_DOUBLE_EQ(outlook.fraction, 11 / 30.0);
}

TEST(WorkProgress, IsDoneWhereNothingIsLeft) {
  auto points = expected_points({0.1, 0.2, 0.3});
  const auto outlook = look_ahead(after(points, 0, 0, 0));
  EXPECT_LT(outlook.fraction, 1);
  for (const double seconds : {0.1, 0.2, 0.3}) points.end(kind, seconds);
  WorkAtHand work;
  work.expected = &points;
  EXPECT_EQ(look_ahead(work).fraction, 1);
  EXPECT_EQ(look_ahead(work).seconds_left, 0);
}

TEST(WorkProgress, TakesNoHarmFromAnEstimateThatMakesNoSense) {
  const auto points = expected_points({NAN, -3, 0, INFINITY, 2});
  WorkAtHand work;
  work.expected = &points;
  EXPECT_DOUBLE_EQ(look_ahead(work).seconds_left, 2);
  work.running = {serial(0, 0.5)};  // a point with an estimate of zero
  const auto outlook = look_ahead(work);
  EXPECT_GT(outlook.fraction, 0);
  EXPECT_LT(outlook.fraction, 1);
  EXPECT_GT(outlook.seconds_left, 2);
}

}  // namespace
}  // namespace tenex
