// Rows of related training points: shared work never changes a row, and a point that cannot be evaluated gives a
// reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "evaluate/training_points.hpp"

namespace tenex {
namespace {

using support::training_point;
using support::with;
using support::Words;
using ::testing::HasSubstr;

/// Points that share much of their work, in every possible way.
std::vector<DesignPoint> related_points() {
  std::vector<DesignPoint> points;
  for (const auto* workload : {"gpt3", "msft_1t"})
    for (const auto* hp : {"4,8", "8,4"})
      for (const auto* scheme : {"equal", "perf_opt", "perf_per_cost"})
        for (const auto* time : {"libra", "libra_derated"})
          for (const auto* loop : {"no_overlap", "tp_dp_overlap"})
            points.push_back(training_point({{"workload", workload},
                                             {"topology", "RI(4)_SW(8)"},
                                             {"hp", hp},
                                             {"scheme", scheme},
                                             {"collective_time", time},
                                             {"training_loop", loop},
                                             {"total_bandwidth", "300GB/s"}}));
  return points;
}

TEST(TrainingRows, AreTheSameAloneAndAmongOthers) {
  const auto points = related_points();
  Cache shared;
  Cache tiny(1);  // keeps nothing
  std::vector<std::vector<MetricValue>> forward;
  for (const auto& point : points) forward.push_back(support::results_of(evaluate(point, shared, {}).row));
  Cache reversed;
  for (auto which = points.size(); which-- > 0;) {
    EXPECT_EQ(forward[which], support::results_of(evaluate(points[which], reversed, {}).row))
        << points[which].canonical;
    EXPECT_EQ(forward[which], support::results_of(evaluate(points[which], shared, {}).row)) << points[which].canonical;
    EXPECT_EQ(forward[which], support::results_of(evaluate(points[which], tiny, {}).row)) << points[which].canonical;
  }
  // The rows differ, so a result taken from another point would have shown.
  for (std::size_t which = 1; which < points.size(); ++which) EXPECT_NE(forward[which - 1], forward[which]);
}

/// A valid point with an invalid value that no study's text can give.
DesignPoint broken(const std::function<void(TrainingPoint&)>& change) {
  auto point = training_point({{"workload", "gpt3"},
                               {"topology", "RI(4)_SW(8)"},
                               {"hp", "4,8"},
                               {"total_bandwidth", "300GB/s"},
                               {"split", "2:1"}});
  change(point.training());
  return point;
}

TEST(TrainingRows, SayWhyAPointIsInfeasible) {
  const auto reason = [](const std::function<void(TrainingPoint&)>& change) {
    const auto row = support::row_of(broken(change));
    EXPECT_EQ(row.status, PointStatus::infeasible);
    EXPECT_EQ(row.training_time_ps, -1);
    return row.reason;
  };
  EXPECT_THAT(reason([](auto& choice) { choice.hp = {4, 4, 1, 1}; }), HasSubstr("hp: HP-(4,4) is for 16 NPUs"));
  EXPECT_THAT(reason([](auto& choice) { choice.split = {2, 1, 1}; }), HasSubstr("3 shares for RI(4)_SW(8)"));
  EXPECT_THAT(reason([](auto& choice) { choice.total_bandwidth = bytes_per_second(0); }),
              HasSubstr("dimension 1 gets no bandwidth"));
  EXPECT_THAT(reason([](auto& choice) { choice.workload.content = "schema = 2"; }), HasSubstr("gpt3"));
  EXPECT_THAT(reason([](auto& choice) {
                choice.scheme = SplitScheme::perf_opt;
                choice.constraints = {parse_constraint("B1 >= 400GB/s").value()};
              }),
              HasSubstr("contradict each other"));
  EXPECT_THAT(reason([](auto& choice) {
                choice.scheme = SplitScheme::perf_opt;
                choice.total_bandwidth = bytes_per_second(0);
              }),
              HasSubstr("nothing limits B1 from above"));
}

TEST(TrainingRows, AreLeftToTheirTextByTheStudysCheck) {
  Study study;
  study.points.push_back(training_point({{"workload", "gpt3"},
                                         {"topology", "RI(4)_SW(8)"},
                                         {"hp", "4,8"},
                                         {"scheme", "perf_opt"},
                                         {"total_bandwidth", "300GB/s"}}));
  EXPECT_TRUE(check_study(study).empty());
}

}  // namespace
}  // namespace tenex
