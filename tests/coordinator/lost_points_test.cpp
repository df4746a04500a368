// Points that come back from a dead rank: suspects, each evaluated alone, and large points; and nodes of unequal
// memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/open_work.hpp"

namespace tenex {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::make_study;

/// A plan for 20 points of a hundredth of a second and a byte each, except for some large ones.
struct Planned {
  Study study = make_study(20);
  std::vector<Estimate> costs = std::vector<Estimate>(20, Estimate{0.01, 1});
  Estimates estimates{study, [this](const DesignPoint& point) { return costs[point.seed - 1]; }};
  Quarantine quarantine;
  std::optional<OpenWork> plan;

  explicit Planned(const NodeMap& nodes, const std::vector<std::pair<std::size_t, std::size_t>>& large = {}) {
    for (const auto& [point, bytes] : large) costs[point].bytes = bytes;
    std::vector<std::uint32_t> all(costs.size());
    std::iota(all.begin(), all.end(), 0U);
    plan.emplace(estimates, all, std::vector<int>(nodes.node_of_rank.size(), 1), nodes, quarantine, LeaseOptions());
  }
  void complete(std::size_t rank, const Lease& lease) {
    RankReport report;
    report.finished_leases = {lease.id};
    report.progress = {lease.seconds, lease.seconds};
    plan->learn(rank, report);
  }
};

TEST(OpenWork, LeasesASuspectToARankThatHasNothingElseAtHandAndGetsNothingElse) {
  // Three nodes of one rank each: rank 1 dies in its probe of six points (1/16 s) while rank 2 has one, too.
  Planned planned({{0, 1, 2}, {100, 100, 100}});
  const auto lost = planned.plan->next(1, 0);
  const auto ordinary = planned.plan->next(2, 0);
  ASSERT_TRUE(lost && ordinary);
  (void)planned.plan->lose(1, {}, false);
  EXPECT_FALSE(planned.plan->next(2, ordinary->seconds).has_value()) << "a suspect would take the probe with it";
  planned.complete(2, *ordinary);
  const auto suspect = planned.plan->next(2, 0);
  ASSERT_TRUE(suspect.has_value());
  EXPECT_TRUE(suspect->careful);
  ASSERT_EQ(suspect->points.size(), 1U);
  EXPECT_THAT(lost->points, Contains(suspect->points.front()));
  EXPECT_FALSE(planned.plan->next(2, suspect->seconds).has_value()) << "beside a suspect";
  EXPECT_FALSE(planned.plan->next(2, 0).has_value()) << "before it is known how the suspect ended";
}

TEST(OpenWork, WaitsWithALargePointThatCameBackUntilAnotherNodeIsIdle) {
  // Two nodes of two ranks each: rank 0 dies in its large point while rank 2 of the other node is at work.
  Planned planned({{0, 0, 2, 2}, {100, 100, 100, 100}}, {{7, 150}});
  const auto large = planned.plan->next(0, 0);
  ASSERT_TRUE(large && large->exclusive);
  const auto ordinary = planned.plan->next(2, 0);
  ASSERT_TRUE(ordinary && !ordinary->exclusive);
  (void)planned.plan->lose(0, {}, false);
  EXPECT_FALSE(planned.plan->next(3, 0).has_value()) << "beside what rank 2 has at hand";
  planned.complete(2, *ordinary);
  const auto again = planned.plan->next(3, 0);
  ASSERT_TRUE(again.has_value());
  EXPECT_THAT(again->points, ElementsAre(7U));
  EXPECT_TRUE(again->exclusive);
}

TEST(OpenWork, GivesALargePointToANodeThatHoldsItAndToTheLargestWhatNoneHolds) {
  // Node 0 has 2 x 100 bytes, node 2 has 2 x 50: 150 fit on the first alone, 500 on neither.
  Planned planned({{0, 0, 2, 2}, {100, 100, 50, 50}}, {{7, 150}, {8, 500}});
  const auto other = planned.plan->next(2, 0);
  ASSERT_TRUE(other.has_value());
  EXPECT_FALSE(other->exclusive) << "point " << other->points.front() << " is larger than its node";
  const auto first = planned.plan->next(0, 0);
  ASSERT_TRUE(first.has_value());
  EXPECT_THAT(first->points, ElementsAre(7U));
  planned.complete(0, *first);
  const auto second = planned.plan->next(1, 0);
  ASSERT_TRUE(second.has_value());
  EXPECT_THAT(second->points, ElementsAre(8U));
}

}  // namespace
}  // namespace tenex
