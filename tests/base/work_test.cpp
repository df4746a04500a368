// Work is counted by unit and priced by one table; what decides stays as it is.
#include "tenex/base/work.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

namespace tenex {
namespace {

double weight_of(std::string_view name) {
  const auto table = work_prices();
  const auto found = std::ranges::find(table, name, &WorkPrice::name);
  return found == table.end() ? -1 : found->weight;
}

TEST(Work, AddsCountsUnitByUnit) {
  Work work = Work(WorkUnit::recorded_hop, 3) + Work(WorkUnit::verified_send, 4);
  work += Work(WorkUnit::recorded_hop, 2);
  const Work twice = 2 * work;
  EXPECT_EQ(twice.count(WorkUnit::recorded_hop), 10);
  EXPECT_EQ(twice.count(WorkUnit::verified_send), 8);
  EXPECT_EQ(twice.count(WorkUnit::link), 0);
}

TEST(Work, IsPricedByItsUnits) {
  for (const WorkPrice& price : work_prices()) {
    const Work work(price.unit, 1000);
    EXPECT_DOUBLE_EQ(work.seconds(), 1000 * price.seconds) << price.name;
    EXPECT_DOUBLE_EQ(work.weight(), 1000 * price.weight) << price.name;
  }
}

TEST(WorkPrices, NameEveryUnitOnceWithAPartThatIsMeasured) {
  std::set<std::string_view> names;
  for (const WorkPrice& price : work_prices()) {
    EXPECT_TRUE(names.insert(price.name).second) << price.name;
    const std::array<std::string_view, 4> measured{"synthesis", "simulation", "verification", "rest"};
    const bool told = std::ranges::find(measured, price.part) != measured.end();
    EXPECT_TRUE(told ? price.seconds > 0 : price.part == "weight" && price.seconds == 0 && price.weight > 0)
        << price.name;
  }
}

// Engines, algorithms and numbers of chunks are chosen by these weights: another one gives other results, which raises
// `physics`. A fit of the seconds leaves them alone.
TEST(WorkPrices, HaveWeightsThatNeverChange) {
  EXPECT_EQ(weight_of("recorded_hop"), 2e-7);
  EXPECT_EQ(weight_of("simulated_hop"), 1e-7);
  EXPECT_EQ(weight_of("verified_send"), 2.5e-7);
  EXPECT_EQ(weight_of("event_send"), 7.5e-8);
  EXPECT_EQ(weight_of("event_look"), 7e-10);
  EXPECT_EQ(weight_of("arrival_link"), 1.5e-9);
  EXPECT_EQ(weight_of("exact_delivery"), 2e-8);
  EXPECT_EQ(weight_of("orbit_look"), 1e-8);
  EXPECT_EQ(weight_of("layer_candidate"), 2e-9);
  EXPECT_EQ(weight_of("path_hop"), 4e-7);
  EXPECT_EQ(weight_of("tree_visit"), 9e-8);
  EXPECT_EQ(weight_of("played_send"), 6e-7);
  EXPECT_EQ(weight_of("switched_hop"), 1e-6);
  EXPECT_EQ(weight_of("justified_send"), 1e-7);
  EXPECT_EQ(weight_of("balanced_hop"), 5e-7);
  EXPECT_EQ(weight_of("capped_send"), 4e-7);
  // All of them: the sum of logarithms tells of any other one.
  double logarithms = 0;
  for (const WorkPrice& price : work_prices())
    if (price.weight > 0) logarithms += std::log10(price.weight);
  EXPECT_NEAR(logarithms, -384.90658579703756, 1e-9);
}

}  // namespace
}  // namespace tenex
