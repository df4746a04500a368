// The cost of parts of a study, and the time that all of it takes.
#include "../../src/cli/plan_costs.hpp"

#include <gtest/gtest.h>

namespace tenex::cli {
namespace {

StudyCost cost_of(const std::vector<Estimate>& points) {
  StudyCost cost;
  for (const auto& point : points) cost.add(point);
  return cost;
}

TEST(PlanCosts, SharesTheWorkAmongTheCoresInUse) {
  const auto cost = cost_of({{10, 1}, {10, 1}, {20, 1}});
  EXPECT_DOUBLE_EQ(expected_wall_seconds(cost, {1, 1, 8}), 40);
  EXPECT_DOUBLE_EQ(expected_wall_seconds(cost, {1, 2, 8}), 20);
  EXPECT_DOUBLE_EQ(expected_wall_seconds(cost, {2, 1, 8}), 20);
  EXPECT_DOUBLE_EQ(expected_wall_seconds(cost, {1, 2, 1}), 40) << "two threads on one core";
  EXPECT_DOUBLE_EQ(expected_wall_seconds(cost, {4, 4, 2}), 20) << "sixteen threads on two cores";
}

TEST(PlanCosts, AreNeverLessThanTheLongestPoint) {
  EXPECT_DOUBLE_EQ(expected_wall_seconds(cost_of({{10, 1}, {20, 1}}), {1, 8, 8}), 20);
  // A point that threads make faster: 80 s of work on four of eight cores take 20 s, and 10 s on all.
  EXPECT_DOUBLE_EQ(expected_wall_seconds(cost_of({{80, 1, true}}), {1, 8, 8}), 10);
  EXPECT_DOUBLE_EQ(expected_wall_seconds(cost_of({{80, 1, true}}), {2, 4, 8}), 20) << "one rank has all of it";
}

TEST(PlanCosts, NameTheDearestFirst) {
  CostShares shares;
  shares.add("ring", 1);
  shares.add("tacos", 5);
  shares.add("ring", 2);
  shares.add("auto", 2);
  const auto entries = shares.entries("algorithm");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(to_json(entries[0]),
            "{\"schema\":2,\"algorithm\":\"tacos\",\"points\":1,\"expected_core_seconds\":5.0,\"share\":0.5}\n");
  EXPECT_EQ(to_json(entries[1]),
            "{\"schema\":2,\"algorithm\":\"ring\",\"points\":2,\"expected_core_seconds\":3.0,\"share\":0.3}\n");
  EXPECT_EQ(to_json(entries[2]),
            "{\"schema\":2,\"algorithm\":\"auto\",\"points\":1,\"expected_core_seconds\":2.0,\"share\":0.2}\n");
  CostShares none;
  none.add("ring", 0);
  EXPECT_EQ(to_json(none.entries("algorithm")[0]),
            "{\"schema\":2,\"algorithm\":\"ring\",\"points\":1,\"expected_core_seconds\":0.0,\"share\":0.0}\n");
}

}  // namespace
}  // namespace tenex::cli
