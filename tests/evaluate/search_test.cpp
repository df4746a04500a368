// Objectives, early values of points, and the Pareto front.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "evaluate/points.hpp"
#include "evaluate/training_points.hpp"
#include "tenex/base/random.hpp"
#include "tenex/evaluate/search.hpp"

namespace tenex {
namespace {

using support::point;
using support::row_of;
using ::testing::ElementsAre;
using Values = std::vector<std::vector<std::uint32_t>>;

/// The front by definition: compares each row with every other one.
std::vector<bool> naive_front(const Values& values) {
  const std::size_t rows = values.front().size();
  std::vector<bool> front(rows, true);
  for (std::size_t a = 0; a < rows; ++a) {
    for (std::size_t b = 0; b < rows; ++b) {
      bool nowhere_worse = true;
      bool somewhere_better = false;
      for (const auto& objective : values) {
        nowhere_worse = nowhere_worse && objective[b] <= objective[a];
        somewhere_better = somewhere_better || objective[b] < objective[a];
      }
      if (nowhere_worse && somewhere_better) front[a] = false;
    }
  }
  return front;
}

TEST(ParetoFront, IsTheStaircaseOfTwoObjectives) {
  // (1,5) (2,3) (4,1) are the front; (2,4), (4,3) and (3,3) are dominated by (2,3).
  EXPECT_THAT(pareto_front({{1, 2, 2, 3, 4, 4}, {5, 3, 4, 3, 1, 3}}),
              ElementsAre(true, true, false, false, true, false));
}

TEST(ParetoFront, HasAllOfSeveralEqualRowsOrNone) {
  EXPECT_THAT(pareto_front({{1, 1, 2, 2}, {1, 1, 2, 2}}), ElementsAre(true, true, false, false));
  EXPECT_THAT(pareto_front({{3, 3, 3}, {3, 3, 3}, {3, 3, 3}}), ElementsAre(true, true, true));
}

TEST(ParetoFront, IsTheLeastValueOfOneObjective) {
  EXPECT_THAT(pareto_front({{4, 2, 3, 2}}), ElementsAre(false, true, false, true));
}

TEST(ParetoFront, IsEmptyWithoutRows) {
  EXPECT_TRUE(pareto_front({}).empty());
  EXPECT_TRUE(pareto_front({{}, {}}).empty());
}

TEST(ParetoFront, IsWhatTheDefinitionSaysForRandomRows) {
  Random random(5);
  for (std::size_t objectives = 1; objectives <= 4; ++objectives) {
    for (const std::uint32_t range : {2U, 5U, 1000U}) {  // with many ties, some, none
      for (int repeat = 0; repeat < 10; ++repeat) {
        Values values(objectives);
        for (auto& objective : values)
          for (int row = 0; row < 120; ++row) objective.push_back(random.below(range));
        EXPECT_EQ(pareto_front(values), naive_front(values)) << objectives << " objectives of " << range;
      }
    }
  }
}

TEST(Places, AreTheOrderOfValuesWithEqualOnesTogether) {
  const std::vector<double> reals{2.5, -1, 2.5, 7};
  EXPECT_THAT(places_of(std::span<const double>(reals), false), ElementsAre(1, 0, 1, 2));
  EXPECT_THAT(places_of(std::span<const double>(reals), true), ElementsAre(1, 2, 1, 0));
  // Integers that a double cannot tell apart: 2^53 and 2^53 + 1.
  const std::vector<std::int64_t> times{(std::int64_t{1} << 53) + 1, std::int64_t{1} << 53};
  EXPECT_THAT(places_of(std::span<const std::int64_t>(times), false), ElementsAre(1, 0));
}

TEST(Objective, IsReadFromARow) {
  Evaluation row;
  row.status = PointStatus::ok;
  row.collective_time_ps = 12;
  row.algbw_bytes_per_s = 0.5;
  EXPECT_EQ(objective_value(row, {"collective_time_ps", false}), 12.0);
  EXPECT_EQ(objective_value(row, {"algbw_bytes_per_s", true}), 0.5);
  EXPECT_EQ(objective_value(row, {"training_time_ps", false}), std::nullopt) << "absent";
  EXPECT_EQ(objective_value(row, {"perf_per_cost_per_s_usd", true}), std::nullopt) << "absent";
  row.status = PointStatus::infeasible;
  EXPECT_EQ(objective_value(row, {"collective_time_ps", false}), std::nullopt);
}

TEST(ObjectiveNames, LeaveOutWhatRunsMeasure) {
  const auto has = [](std::string_view name) {
    return std::ranges::any_of(objective_names(), [&](const auto& each) { return each.metric == name; });
  };
  EXPECT_TRUE(has("collective_time_ps") && has("network_cost_usd") && has("sends"));
  EXPECT_FALSE(has("evaluation_seconds") || has("status") || has("mapping"));
}

double early(const DesignPoint& given, Fidelity fidelity, const Objective& objective) {
  Cache cache;
  return early_value(given, fidelity, objective, cache, {}).value_or(std::numeric_limits<double>::quiet_NaN());
}

TEST(EarlyValue, IsTheBoundOfAnAlgorithm) {
  // All-Gather of 400 B on a ring of four by 1 GB/s links: the opposite NPU's 100 B cross two links, 100 ns each.
  // Direct sends 300 B from each NPU, half of the opposite one's over each first link at most, and its relays wait.
  const auto direct = point({{"topology", "RI(4)"}, {"size", "400B"}, {"algorithm", "direct"}});
  EXPECT_EQ(early(direct, Fidelity::bound, {"collective_time_ps", false}), 200'000);
  EXPECT_DOUBLE_EQ(early(direct, Fidelity::bound, {"algbw_bytes_per_s", true}), 400 / 200e-9);
  EXPECT_GT(row_of(direct).collective_time_ps, 200'000);
}

TEST(EarlyValue, IsATimeWithoutCongestionOfAnAlgorithm) {
  const auto direct = point({{"topology", "RI(4)"}, {"size", "400B"}, {"algorithm", "direct"}});
  const auto free =
      point({{"topology", "RI(4)"}, {"size", "400B"}, {"algorithm", "direct"}, {"backend", "congestion_unaware"}});
  const double coarse = early(direct, Fidelity::coarse, {"collective_time_ps", false});
  EXPECT_EQ(coarse, static_cast<double>(row_of(free).collective_time_ps));
  EXPECT_LT(coarse, static_cast<double>(row_of(direct).collective_time_ps));
}

// Direct sends 7 chunks of 1000 B from each NPU of RI(8); without congestion the farthest one takes 4 hops of one chunk
// at once, 1 us. The bound of 4 us would prune the point.
TEST(EarlyValue, OfATimeWithoutCongestionIsThatTime) {
  const auto free =
      point({{"topology", "RI(8)"}, {"size", "8000B"}, {"algorithm", "direct"}, {"backend", "congestion_unaware"}});
  for (const auto fidelity : {Fidelity::bound, Fidelity::coarse})
    EXPECT_EQ(early(free, fidelity, {"collective_time_ps", false}), 1'000'000);
}

TEST(EarlyValue, IsTheBoundOfASynthesizerInBothFidelities) {
  const auto made = point({{"topology", "mesh(2,3)"}, {"size", "600B"}, {"algorithm", "tacos"}});
  const auto row = row_of(made);
  EXPECT_EQ(early(made, Fidelity::bound, {"collective_time_ps", false}), static_cast<double>(row.bound_ps));
  EXPECT_EQ(early(made, Fidelity::coarse, {"collective_time_ps", false}), static_cast<double>(row.bound_ps));
}

TEST(EarlyValue, IsNeverAboveTheTimeWhereItIsABound) {
  for (const char* const topology : {"RI(6)", "mesh(3,3)", "SW(5)", "FC(4)_RI(4)"}) {
    for (const char* const collective : {"all_gather", "reduce_scatter", "all_reduce"}) {
      for (const char* const algorithm : {"ring", "direct", "tacos"}) {
        const auto given = point({{"topology", topology},
                                  {"size", "720KB"},
                                  {"collective", collective},
                                  {"algorithm", algorithm},
                                  {"alpha", "100ns"}});
        const auto row = row_of(given);
        ASSERT_EQ(row.status, PointStatus::ok) << topology << collective << algorithm << row.reason;
        EXPECT_LE(early(given, Fidelity::bound, {"collective_time_ps", false}),
                  static_cast<double>(row.collective_time_ps))
            << topology << collective << algorithm;
      }
    }
  }
}

TEST(EarlyValue, IsAbsentWhereThePointCannotBeEvaluated) {
  auto broken = point({{"topology", "RI(4)"}, {"size", "400B"}, {"algorithm", "ring"}});
  broken.algorithm = "nobody";
  EXPECT_TRUE(std::isnan(early(broken, Fidelity::coarse, {"collective_time_ps", false})));
  const auto one = point({{"topology", "RI(4)"}, {"size", "400B"}, {"algorithm", "ring"}});
  EXPECT_TRUE(std::isnan(early(one, Fidelity::bound, {"training_time_ps", false}))) << "it trains nothing";
}

support::Words searched_training(const std::string& model) {
  return {{"topology", "RI(4)_SW(4)"},
          {"workload", "gpt3"},
          {"hp", "4,4"},
          {"npu_bandwidth", "100GB/s, 25GB/s"},
          {"collective_time", model}};
}

TEST(EarlyValue, OfTrainingIsLibrasTime) {
  auto words = searched_training("themis");
  words.emplace_back("alpha", "1us");
  words.emplace_back("chunks", "8");
  const auto themis = support::training_point(words);
  const auto libra = support::training_row(searched_training("libra"));
  EXPECT_EQ(early(themis, Fidelity::coarse, {"training_time_ps", false}), static_cast<double>(libra.training_time_ps));
  EXPECT_EQ(early(themis, Fidelity::coarse, {"network_cost_usd", false}), libra.network_cost_usd);
}

TEST(EarlyValue, OfTrainingIsABoundWhenThatIsAskedFor) {
  const auto words = searched_training("libra");
  const auto row = support::training_row(words);
  const auto given = support::training_point(words);
  EXPECT_EQ(early(given, Fidelity::bound, {"training_time_ps", false}), static_cast<double>(row.bound_ps));
  EXPECT_DOUBLE_EQ(early(given, Fidelity::bound, {"perf_per_cost_per_s_usd", true}),
                   1 / (static_cast<double>(row.bound_ps) * 1e-12 * row.network_cost_usd));
  EXPECT_LT(row.bound_ps, row.training_time_ps);
}

}  // namespace
}  // namespace tenex
