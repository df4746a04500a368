// The progress that users see during a run, and their warnings.
#include "tenex/coordinator/progress.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(progress_line(state, 8), "[###.....] 0/64 points, 37% of the work, 0 points/s, ETA 48s");
  state.fraction = 0.9999;  // everything but a last point that takes longer than expected
  EXPECT_EQ(progress_line(state, 4), "[###.] 0/64 points, 99% of the work, 0 points/s, ETA 48s");
}

TEST(Progress, NamesWhatGoesOnBeforePointsAreEvaluated) {
  ProgressState state{0, 64, 0, 0, -1, false};
  state.phase = "search round 1 of 2";
  EXPECT_EQ(progress_line(state, 0), "0/64 points (0%), 0 points/s, search round 1 of 2, ETA ?");
}

TEST(Progress, NamesNoEtaForAFinishedRunNorOneWithoutPoints) {
  EXPECT_EQ(progress_line({200, 200, 0, 4, 0, false}, 4), "[####] 200/200 points (100%), 4 points/s");
  EXPECT_EQ(progress_line({0, 0, 0, 0, 0, false}, 2), "[##] 0/0 points (100%), 0 points/s");
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
