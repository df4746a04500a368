// The time that a running study still needs.
#include "../../src/cli/forecast.hpp"

#include <gtest/gtest.h>

namespace tenex::cli {
namespace {

TEST(Forecast, DividesWhatIsLeftByWhatIsDonePerSecond) {
  // Points take twice as long as expected. 4 points of 1 s are left, 8 s of work; the run does half a second of it per
  // second.
  const auto left = forecast({{1, 2}, {1, 2}, {1, 2}}, {1, 1, 1, 1}, 1, 0.5);
  EXPECT_DOUBLE_EQ(left.seconds, 16);
  EXPECT_DOUBLE_EQ(left.low, 16);  // nothing scatters
  EXPECT_DOUBLE_EQ(left.high, 16);
}

TEST(Forecast, WidensWithTheScatterOfFinishedPoints) {
  // Expected 1 each, measured 1, 2, 3: factor 2; residuals -1, 0, 1, so the spread is 2 / 3 * 3 / 2 = 1. 3 points are
  // left: 6 s of work, variance 1 * (3 + 3 * (3 / 3)^2) = 6, so 6 -+ 1.645 * 2.4495 s.
  const auto left = forecast({{1, 1}, {1, 2}, {1, 3}}, {1, 1, 1}, 1, 1);
  EXPECT_DOUBLE_EQ(left.seconds, 6);
  EXPECT_NEAR(left.low, 1.971, 0.001);
  EXPECT_NEAR(left.high, 10.029, 0.001);
}

TEST(Forecast, IsNeverShorterThanTheLongestPoint) {
  // 10 s over 4 ranks would be 2.5 s, but one rank has to do all of it.
  EXPECT_DOUBLE_EQ(forecast({{1, 1}}, {10}, 10, 4).seconds, 10);
  EXPECT_DOUBLE_EQ(forecast({{1, 1}}, {10}, 0, 4).seconds, 2.5);
}

TEST(Forecast, SaysWhenItKnowsNothing) {
  EXPECT_LT(forecast({}, {1}, 1, 1).seconds, 0);
  EXPECT_LT(forecast({{1, 2}}, {1}, 1, 0).seconds, 0);
  EXPECT_LT(forecast({{1, 1}, {1, 3}}, {1}, 1, 1).low, 0);  // two points give no spread
  EXPECT_EQ(forecast({}, {}, 0, 0).seconds, 0);             // nothing is left
}

}  // namespace
}  // namespace tenex::cli
