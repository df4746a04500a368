// The progress that users see during a run, and their warnings.
#include "tenex/coordinator/progress.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "coordinator/solver_lines.hpp"
#include "tenex/coordinator/resources.hpp"

namespace tenex {
namespace {

TEST(Progress, WritesTimesAsPeopleReadThem) {
  EXPECT_EQ(to_clock_text(0), "0s");
  EXPECT_EQ(to_clock_text(11.2), "12s");  // rounded up: an ETA of 0 s appears only at the end
  EXPECT_EQ(to_clock_text(245), "4:05");
  EXPECT_EQ(to_clock_text(3723), "1:02:03");
  EXPECT_EQ(to_clock_text(-1), "?");
}

TEST(Progress, HasNoRateBeforeTheFirstPoint) {
  EXPECT_EQ(progress_line({0, 200, 0, 0, 12, false}, 0), "0/200 points (0%), ETA 12s");
}

TEST(Progress, DrawsABarWithCountsRateAndEta) {
  const ProgressState state{50, 200, 0, 12.34, 12, false};
  EXPECT_EQ(progress_line(state, 8), "[##......] 50/200 points (25%), 12.3 points/s, ETA 12s");
  EXPECT_EQ(progress_line(state, 0), "50/200 points (25%), 12.3 points/s, ETA 12s");
}

TEST(Progress, SaysWhatFailedAndThatItDrains) {
  EXPECT_EQ(progress_line({199, 200, 3, 1, 5, true}, 0),
            "199/200 points (99%), 1 points/s, 3 not ok, finishing running points (5s)");
  EXPECT_EQ(progress_line({199, 200, 3, 1, -1, true}, 0),
            "199/200 points (99%), 1 points/s, 3 not ok, finishing running points");
}

TEST(Progress, WeighsTheWorkOfPointsWhereItIsKnown) {
  ProgressState state{0, 64, 0, 0, 47.5, false};
  state.fraction = 0.376;
  EXPECT_EQ(progress_line(state, 8), "[###.....] 0/64 points, 37% of the work, ETA 48s");
  state.fraction = 0.9999;  // everything but a last point that takes longer than expected
  EXPECT_EQ(progress_line(state, 4), "[###.] 0/64 points, 99% of the work, ETA 48s");
}

TEST(Progress, NamesWhatGoesOnBeforePointsAreEvaluated) {
  ProgressState state{0, 64, 0, 0, -1, false};
  state.phase = "search round 1 of 2";
  EXPECT_EQ(progress_line(state, 0), "0/64 points (0%), search round 1 of 2, ETA ?");
}

TEST(Progress, FitsTheTerminal) {
  const ProgressState state{50, 200, 0, 12.34, 12, false};
  const std::string text = "50/200 points (25%), 12.3 points/s, ETA 12s";  // 43 characters
  EXPECT_EQ(fitted_progress_line(state, 120), "[" + std::string(7, '#') + std::string(23, '.') + "] " + text);
  EXPECT_EQ(fitted_progress_line(state, 54), "[##......] " + text);  // 54 - 43 - 3 = 8 of a bar
  EXPECT_EQ(fitted_progress_line(state, 50), text);                  // 4 would be no bar
  EXPECT_EQ(fitted_progress_line(state, 20), text.substr(0, 20));
}

TEST(Progress, NamesNoEtaForAFinishedRunNorOneWithoutPoints) {
  EXPECT_EQ(progress_line({200, 200, 0, 4, 0, false}, 4), "[####] 200/200 points (100%), 4 points/s");
  EXPECT_EQ(progress_line({0, 0, 0, 0, 0, false}, 2), "[##] 0/0 points (100%)");
}

TEST(SolverLine, TellsEpochsTimeBoundGapAndWork) {
  EXPECT_EQ(solver_line({36, nanoseconds(3'600), nanoseconds(3'400), 1.0 / 18, 12, 3.26}),
            "36 epochs, time 3.6us, bound 3.4us, gap 5.56 %, 12 nodes, 3.3s in solvers");
  EXPECT_EQ(solver_line({}), "no schedule yet, 0 nodes, 0.0s in solvers");
}

// Moments at 0.4, 1.1, 1.9, 2.1, 2.3 and 3.5 s of solving: the first of each second is shown, and what comes after a
// restart of the clock belongs to another result.
TEST(SolverLine, IsShownOnceInASecond) {
  std::vector<double> shown;
  const auto progress = once_in(1, [&](const SolverMoment& moment) { shown.push_back(moment.seconds); });
  for (const double seconds : {0.4, 1.1, 1.9, 2.1, 2.3, 3.5, 0.2, 1.0}) {
    SolverMoment moment;
    moment.seconds = seconds;
    progress(moment);
  }
  EXPECT_EQ(shown, (std::vector{1.1, 2.1, 3.5, 1.0}));
}

// An evaluation whose solver works for 11 s leaves one line, with the first digits of the point's key.
TEST(SolverLines, HavePrefixesOfTheirPoints) {
  DesignPoint point;
  point.algorithm = "te_ccl";
  SolverLines lines;
  const auto evaluate_point = lines.tell_of([](const DesignPoint&, Cache&, const EvaluateOptions& options) {
    SolverMoment moment;
    for (const double seconds : {1.0, 11.0, 12.0}) {
      moment.seconds = seconds;
      options.solver_progress(moment);
    }
    return EvaluationOutput{};
  });
  Cache cache;
  (void)evaluate_point(point, cache, {});
  const auto told = lines.take();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front(), to_string(point.key).substr(0, 8) + " (te_ccl): no schedule yet, 0 nodes, 11.0s in solvers");
  EXPECT_TRUE(lines.take().empty());
}

TEST(AffinityWarning, NamesTheOptionThatMendsTooFewCores) {
  const auto warning = affinity_warning(8, true, 1, 64, 2);
  ASSERT_TRUE(warning.has_value());
  EXPECT_NE(warning->find("8 threads share 1 core "), std::string::npos) << *warning;
  EXPECT_NE(warning->find("--bind-to none"), std::string::npos) << *warning;
}

TEST(AffinityWarning, TellsWhenMpirunBoundARankToOneOfManyCores) {
  EXPECT_TRUE(affinity_warning(1, false, 1, 64, 2).has_value());
  EXPECT_FALSE(affinity_warning(1, true, 1, 64, 2).has_value()) << "one thread was asked for";
  EXPECT_FALSE(affinity_warning(1, false, 1, 2, 2).has_value()) << "every core has its rank";
  EXPECT_FALSE(affinity_warning(4, false, 4, 64, 2).has_value());
}

TEST(Resources, LimitIsWhatWasAskedElseAShareOfTheHost) {
  EXPECT_EQ(resolve_memory_limit(123, 4), 123U);
  const auto one = static_cast<double>(resolve_memory_limit(0, 1));
  const auto four = static_cast<double>(resolve_memory_limit(0, 4));
  EXPECT_GT(one, 64.0 * 1024 * 1024);
  EXPECT_NEAR(four / one, 0.25, 0.05);  // free memory may change a little between the two calls
  EXPECT_EQ(resolve_threads(5), 5);
  EXPECT_GE(resolve_threads(0), 1);
}

}  // namespace
}  // namespace tenex
