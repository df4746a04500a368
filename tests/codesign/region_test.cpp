// Regions: errors name contradictions, flat sets are detected, answers round to whole bandwidths inside.
#include "tenex/codesign/region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codesign/support.hpp"

namespace tenex {
namespace {

using support::constraints;
using support::region;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string conflict(std::size_t dimensions, const std::vector<std::string>& texts) {
  const auto made = make_region(dimensions, constraints(dimensions, texts));
  return made.ok() ? "feasible" : to_string(made.errors());
}

TEST(Region, NamesASmallestConflictingSubset) {
  // B1 and B2 take 1,200 GB/s of a total of 1,000; the constraints on B3 and B4 have no part in the conflict.
  const auto text = conflict(4, {"B4 <= 10GB/s", "B1 >= 600GB/s", "B3 >= 20GB/s", "B2 >= B1", "total = 1TB/s"});
  EXPECT_THAT(text, StartsWith("study.toml:1:1: the constraints \"B1 >= 600GB/s\", \"B2 >= B1\" and \"total = 1TB/s\" "
                               "contradict each other"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("B3")), Not(HasSubstr("B4"))));
}

TEST(Region, AnyConflictNamedIsIrreducible) {
  // Random sets of rows: the named texts conflict, and they no longer do without any one of them.
  const std::vector<std::string> pool{
      "B1 >= 300GB/s", "B2 >= 300GB/s",    "B1 + B2 <= 500GB/s", "B3 = 2*B1",    "B3 <= 400GB/s", "total = 1000GB/s",
      "B2 >= B3",      "B1 >= B2 + 1GB/s", "B4 <= 5GB/s",        "B4 >= 0.5*B1", "B1 = B2"};
  Random random(3);
  int conflicts = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> texts;
    for (const auto& text : pool)
      if (random.below(2) == 0) texts.push_back(text);
    const auto message = conflict(4, texts);
    if (message == "feasible") continue;
    ++conflicts;
    std::vector<std::string> named;
    for (const auto& text : texts)
      if (message.find('"' + text + '"') != std::string::npos) named.push_back(text);
    ASSERT_GE(named.size(), 2U) << message;
    EXPECT_NE(conflict(4, named), "feasible") << message;
    for (std::size_t left_out = 0; left_out < named.size(); ++left_out) {
      auto rest = named;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(left_out));
      EXPECT_EQ(conflict(4, rest), "feasible") << message;
    }
  }
  EXPECT_GT(conflicts, 50);
}

TEST(Region, SaysWhenOneConstraintCannotHoldAlone) {
  EXPECT_THAT(conflict(2, {"B1 + B2 + 5GB/s <= 3GB/s"}), HasSubstr("\"B1 + B2 + 5GB/s <= 3GB/s\" cannot hold"));
}

TEST(Region, DecidesByExactArithmetic) {
  // The bounds differ by one byte per second in 1e18.
  EXPECT_EQ(conflict(2, {"B1 <= 1000000000000000000B/s", "B1 >= 1000000000000000000B/s", "B2 <= B1"}), "feasible");
  EXPECT_THAT(conflict(2, {"B1 <= 1000000000000000000B/s", "B1 >= 1000000000000000001B/s"}),
              HasSubstr("contradict each other"));
}

TEST(Region, FindsSetsWithoutAnInside) {
  const auto flat = region(3, {"B1 >= B2", "B2 >= B3", "B3 >= B1", "total <= 900GB/s"});
  const auto rounded = flat.round(std::vector<double>{3e11, 3e11, 3e11});
  EXPECT_TRUE(rounded.exact);
  EXPECT_THAT(rounded.bandwidth,
              ElementsAre(gigabytes_per_second(300), gigabytes_per_second(300), gigabytes_per_second(300)));
  const auto point = region(2, {"B1 = 2*B2", "total = 900GB/s"});
  EXPECT_THAT(point.round(std::vector<double>{6e11, 3e11}).bandwidth,
              ElementsAre(gigabytes_per_second(600), gigabytes_per_second(300)));
}

TEST(Region, RoundsToWholeBandwidthsInside) {
  const auto set = region(4, {"3*B1 + 2*B2 = 1000000000001B/s", "B2 >= B3 >= B4", "total <= 700GB/s", "B4 >= 1.5GB/s"});
  Random random(5);
  for (int round = 0; round < 200; ++round) {
    // Points of the set: B1 from 200 to 300 GB/s, B2 from the equality, B3 and B4 below.
    const double b1 = 2e11 + 1e11 * random.unit();
    const double b2 = (1000000000001.0 - 3 * b1) / 2;
    const double b3 = 1.5e9 + (std::min(b2, 7e11 - b1 - b2) / 2 - 1.5e9) * random.unit();
    const double b4 = round % 2 == 0 ? b3 : 1.5e9;
    const auto rounded = set.round(std::vector<double>{b1, b2, b3, b4});
    EXPECT_TRUE(rounded.exact);
    EXPECT_TRUE(set.contains(rounded.bandwidth));
    EXPECT_NEAR(static_cast<double>(rounded.bandwidth[0].count()), b1, 20);
  }
}

TEST(Region, SaysWhenNoWholeBandwidthsMeetAnEquality) {
  // B2 = 500e9 / 3 is not whole.
  const auto set = region(2, {"B1 = 2*B2", "total = 500GB/s"});
  const auto rounded = set.round(std::vector<double>{1e12 / 3, 5e11 / 3});
  EXPECT_FALSE(rounded.exact);
  EXPECT_THAT(rounded.bandwidth, ElementsAre(bytes_per_second(333'333'333'333), bytes_per_second(166'666'666'667)));
}

TEST(Region, KnowsItsLimits) {
  EXPECT_EQ(region(3, {"B1 <= 5GB/s", "B2 <= 2*B1"}).unlimited_dimension(), 2U);
  EXPECT_EQ(region(3, {"B1 <= 5GB/s", "B2 <= 2*B1", "B3 <= B2 + 1GB/s"}).unlimited_dimension(), std::nullopt);
  // These limit B1 and B2 only together: B1 <= B2/2 + 1 and B2 <= B1 + 1 give B1 <= 3.
  EXPECT_EQ(region(2, {"B1 <= 0.5*B2 + 1GB/s", "B2 <= B1 + 1GB/s"}).unlimited_dimension(), std::nullopt);
  EXPECT_TRUE(region(2, {"total <= 5GB/s", "B1 >= B2"}).reaches_zero());
  EXPECT_FALSE(region(2, {"total <= 5GB/s", "B1 >= 1GB/s"}).reaches_zero());
  EXPECT_FALSE(region(2, {"total = 5GB/s"}).reaches_zero());
}

TEST(Region, HasOneToSixteenDimensions) {
  EXPECT_FALSE(make_region(0, {}).ok());
  EXPECT_FALSE(make_region(17, {}).ok());
  EXPECT_TRUE(make_region(16, {total_bandwidth_is(16, gigabytes_per_second(1))}).ok());
}

}  // namespace
}  // namespace tenex
