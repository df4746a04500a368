// Time models with two concurrent streams: their normal form, and the optimizer's answers for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codesign/random_walk.hpp"
#include "codesign/support.hpp"
#include "tenex/codesign/optimizer.hpp"

namespace tenex {
namespace {

using support::gigabytes;
using support::random_overlap_model;
using support::region;
using support::split;
using ::testing::SizeIs;
using enum SplitScheme;

/// A model that has only overlaps.
TimeModel overlapping(std::size_t dimensions, std::vector<TimeOverlap> overlaps, double constant = 0) {
  return {dimensions, constant, {}, std::move(overlaps)};
}

TEST(Overlaps, TakeTheLaterStream) {
  // 1 + 2 * max(0.5 + 4e9/1e10, 3 * 6e9/2e10) = 1 + 2 * max(0.9, 0.9 * 1) at B1 = 10, B2 = 20 GB/s; at B2 = 10 GB/s the
  // second takes 1.8: 1 + 2 * 1.8.
  const auto model = overlapping(2, {{2, {0.5, {{1, {4e9, 0}}}}, {0, {{3, {0, 6e9}}}}}}, 1);
  EXPECT_NEAR(time_at(model, std::vector{1e10, 2e10}), 2.8, 1e-12);
  EXPECT_NEAR(time_at(model, std::vector{1e10, 1e10}), 4.6, 1e-12);
  EXPECT_NEAR(time_at(model, std::vector{gigabytes_per_second(10), gigabytes_per_second(10)}), 4.6, 1e-12);
}

TEST(Overlaps, OfEqualLayersAreOne) {
  // 96 layers: one overlap, the same twice as long, and the same with its sides exchanged: 1 + 2 + 1 times each.
  TimeModel model{2, 0, {}, {}};
  for (int layer = 0; layer < 96; ++layer) {
    model.overlaps.push_back({1, {0, {{1, {4e9, 1e9}}}}, {0.1, {{1, {0, 2e9}}}}});
    model.overlaps.push_back({1, {0, {{1, {8e9, 2e9}}}}, {0.2, {{2, {0, 2e9}}}}});
    model.overlaps.push_back({1, {0.1, {{2, {0, 1e9}}}}, {0, {{1, {2e9, 5e8}}, {1, {2e9, 5e8}}}}});
  }
  const auto collapsed = collapse(model);
  ASSERT_THAT(collapsed.overlaps, SizeIs(1));
  EXPECT_THAT(collapsed.terms, SizeIs(0));
  EXPECT_NEAR(collapsed.overlaps[0].weight, 384, 1e-9);
  // 384 * max(0.4, 0.1 + 0.1) at 10 and 20 GB/s.
  EXPECT_NEAR(time_at(collapsed, std::vector{1e10, 2e10}), 384 * 0.4, 1e-9);
  EXPECT_NEAR(time_at(model, std::vector{1e10, 2e10}), 384 * 0.4, 1e-9);
}

TEST(Overlaps, ThatDifferStayApart) {
  const TimeOverlap one{1, {0, {{1, {4e9, 1e9}}}}, {0.1, {{1, {0, 2e9}}}}};
  auto longer = one;
  longer.second.constant = 0.2;
  auto other = one;
  other.first.terms[0].volumes = {4e9, 2e9};
  EXPECT_THAT(collapse(overlapping(2, {one, longer, other})).overlaps, SizeIs(3));
}

TEST(Overlaps, GiveUpWhatBothSidesShare) {
  // 2 * max(1 + 3 X + Y, 2 + 5 X) = 2 * (1 + 3 X + max(Y, 1 + 2 X)) with X of {4e9, 1e9}, Y of {0, 2e9}.
  const TimeModel model = overlapping(2, {{2, {1, {{3, {4e9, 1e9}}, {1, {0, 2e9}}}}, {2, {{2.5, {8e9, 2e9}}}}}});
  const auto collapsed = collapse(model);
  EXPECT_DOUBLE_EQ(collapsed.constant, 2);
  ASSERT_THAT(collapsed.terms, SizeIs(1));
  EXPECT_DOUBLE_EQ(collapsed.terms[0].weight, 6);
  ASSERT_THAT(collapsed.overlaps, SizeIs(1));
  EXPECT_DOUBLE_EQ(collapsed.overlaps[0].first.constant, 0);
  EXPECT_DOUBLE_EQ(collapsed.overlaps[0].second.constant, 1);
  EXPECT_DOUBLE_EQ(collapsed.overlaps[0].second.terms[0].weight * 8e9, 2 * 4e9);
  for (const double first : {1e9, 7e9, 4e10})
    EXPECT_NEAR(time_at(collapsed, std::vector{first, 3e9}), time_at(model, std::vector{first, 3e9}), 1e-12);
}

TEST(Overlaps, OfWhichOneSideIsNeverLaterAreSums) {
  // The second side includes all of the first and more: 3 * (2 + 4 X).
  const auto collapsed = collapse(overlapping(1, {{3, {1, {{2, {1e9}}}}, {2, {{4, {1e9}}}}}}));
  EXPECT_THAT(collapsed.overlaps, SizeIs(0));
  EXPECT_DOUBLE_EQ(collapsed.constant, 6);
  EXPECT_DOUBLE_EQ(time_at(collapsed, std::vector{1e9}), 6 + 12);
}

TEST(Overlaps, OfSeveralWorkloadsAddUp) {
  const TimeOverlap overlap{1, {0, {{1, {4e9}}}}, {1, {{1, {1e9}}}}};
  const std::vector models{overlapping(1, {overlap}, 1), overlapping(1, {overlap, overlap}, 2)};
  const auto sum = weighted_sum(models, std::vector{0.5, 2.0});
  // 0.5 * 1 + 2 * 2 seconds, and 0.5 + 2 * 2 times max(4, 1 + 1), in units of one term: max(4 X, 1 + X) = X + max(3 X,
  // 1).
  EXPECT_THAT(sum.overlaps, SizeIs(1));
  EXPECT_DOUBLE_EQ(time_at(sum, std::vector{1e9}), 4.5 + 4.5 * 4);
  EXPECT_DOUBLE_EQ(time_at(sum, std::vector{8e9}), 4.5 + 4.5 * 1.125);
}

TEST(PerfOptWithOverlaps, EndsBothStreamsTogether) {
  // max(60e9/B1, 0.5 + 20e9/B2) with B1 + B2 = 100 GB/s: the first falls and the second rises with B1, so the best is
  // where they are equal: B1 = 60, B2 = 40: 1 = 0.5 + 0.5.
  const auto best = split(perf_opt, overlapping(2, {{1, {0, {{1, {60e9, 0}}}}, {0.5, {{1, {0, 20e9}}}}}}),
                          region(2, {"total = 100GB/s"}));
  EXPECT_NEAR(gigabytes(best.bandwidth[0]), 60, 1e-6);
  EXPECT_NEAR(gigabytes(best.bandwidth[1]), 40, 1e-6);
  EXPECT_NEAR(best.time, 1, 1e-9);
  EXPECT_LE(best.relative_gap, 1e-9);
}

TEST(PerfOptWithOverlaps, HidesCommunicationAndNoMore) {
  // max(100e9/B1, 5 s) + 64e9/B2 with B1 + B2 = 100 GB/s. B1 = 20 GB/s just hides the first. Below it each GB/s costs
  // 100/20^2 = 0.25 s; above it each GB/s saves nothing and costs 64/80^2 = 0.01 s. So B2 = 80, 5.8 s.
  TimeModel model = overlapping(2, {{1, {0, {{1, {100e9, 0}}}}, {5, {}}}});
  model.terms.push_back({1, {0, 64e9}});
  const auto best = split(perf_opt, model, region(2, {"total = 100GB/s"}));
  EXPECT_NEAR(gigabytes(best.bandwidth[0]), 20, 1e-5);
  EXPECT_NEAR(best.time, 5.8, 1e-9);
  EXPECT_LE(best.relative_gap, 1e-9);
}

TEST(PerfOptWithOverlaps, ProvesWhatComputationHidesWholly) {
  // Every split with B1 >= 20 GB/s takes 5 s.
  const auto best =
      split(perf_opt, overlapping(2, {{1, {0, {{1, {100e9, 0}}}}, {5, {}}}}), region(2, {"total = 100GB/s"}));
  EXPECT_NEAR(best.time, 5, 1e-9);
  EXPECT_GE(gigabytes(best.bandwidth[0]), 20 - 1e-6);
  EXPECT_LE(best.relative_gap, 1e-9);
}

TEST(PerfOptWithOverlaps, ProvesEverySolveTo1e9) {
  const auto rates = support::libra_4d_rates();
  Random random(31);
  for (const auto& texts : support::kSets) {
    const auto set = region(4, texts, &rates);
    for (int round = 0; round < 200; ++round) {
      const auto best = split(perf_opt, random_overlap_model(random, 4, round % 3, 1 + round % 4), set, &rates);
      EXPECT_LE(best.relative_gap, 1e-9) << texts.back() << ", round " << round;
      EXPECT_LE(best.solver_gap, 1e-9);
      EXPECT_GE(best.time, best.lower_bound * (1 - 1e-14));
      EXPECT_TRUE(set.contains(best.bandwidth));
    }
  }
}

TEST(PerfOptWithOverlaps, ProvesSolvesOfManyDimensionsAndOverlaps) {
  Random random(37);
  for (const std::size_t dimensions : {1U, 2U, 8U, 16U}) {
    const auto set = region(dimensions, {"total = 2000GB/s", "B1 >= 1GB/s"});
    for (const int overlaps : {1, 6, 40}) {
      for (int round = 0; round < 5; ++round) {
        const auto best = split(perf_opt, random_overlap_model(random, dimensions, 2, overlaps), set);
        EXPECT_LE(best.relative_gap, 1e-9) << dimensions << " dimensions, " << overlaps << " overlaps";
      }
    }
  }
}

TEST(PerfOptWithOverlaps, Beats10000RandomFeasibleSplits) {
  const auto rates = support::libra_4d_rates();
  Random random(41);
  for (std::size_t which = 0; which < support::kInside.size(); ++which) {
    const auto rows = support::constraints(4, support::kSets[which], &rates);
    const auto set = region(4, support::kSets[which], &rates);
    for (int overlaps = 1; overlaps <= 3; ++overlaps) {
      const auto model = random_overlap_model(random, 4, overlaps % 2, overlaps);
      const auto best = split(perf_opt, model, set, &rates);
      double fastest = 1e30;
      support::walk(rows, support::kInside[which], 10'000, random,
                    [&](const std::vector<double>& point) { fastest = std::min(fastest, time_at(model, point)); });
      EXPECT_LE(best.time, fastest * (1 + 1e-9)) << support::kSets[which].back();
      EXPECT_LT(fastest, 3 * best.time) << "the walk comes near the optimum, so the comparison means something";
    }
  }
}

TEST(PerfPerCostWithOverlaps, StopsWhereCommunicationIsHidden) {
  // T = max(60e9/B1, 2 s), B1 + B2 = 100 GB/s, rates 9 and 1 dollars per GB/s: cost = 100 + 8 B1. Below B1 = 30 the
  // product 6000/B1 + 480 falls, above it 2 (100 + 8 B1) rises: 2 * 340 at 30.
  const CostRates rates{{dollars(9), dollars(1)}};
  const auto best = split(perf_per_cost, overlapping(2, {{1, {0, {{1, {60e9, 0}}}}, {2, {}}}}),
                          region(2, {"total = 100GB/s"}, &rates), &rates);
  EXPECT_NEAR(gigabytes(best.bandwidth[0]), 30, 1e-3);
  EXPECT_NEAR(best.objective, 680, 680e-6);
  EXPECT_LE(best.relative_gap, 1e-6);
}

TEST(PerfPerCostWithOverlaps, NeedsNoLimitWhereAStreamComputes) {
  // The product has a least value without an upper limit because the overlap's second side takes 2 s at any bandwidth.
  const CostRates rates{{dollars(9), dollars(1)}};
  const TimeModel model = overlapping(2, {{1, {0, {{1, {60e9, 20e9}}}}, {2, {}}}});
  EXPECT_LE(split(perf_per_cost, model, region(2, {"B1 >= 5GB/s"}, &rates), &rates).relative_gap, 1e-6);
}

TEST(PerfPerCostWithOverlaps, BeatsRandomFeasibleSplitsWithin1e6) {
  const auto rates = support::libra_4d_rates();
  Random random(43);
  for (std::size_t which = 0; which < support::kInside.size(); ++which) {
    const auto rows = support::constraints(4, support::kSets[which], &rates);
    const auto set = region(4, support::kSets[which], &rates);
    for (int overlaps = 1; overlaps <= 3; ++overlaps) {
      const auto model = random_overlap_model(random, 4, overlaps % 2, overlaps);
      const auto best = split(perf_per_cost, model, set, &rates);
      EXPECT_LE(best.relative_gap, 1e-6) << support::kSets[which].back();
      double least = 1e300;
      support::walk(rows, support::kInside[which], 10'000, random, [&](const std::vector<double>& point) {
        double cost = 0;
        for (std::size_t i = 0; i < 4; ++i)
          cost += static_cast<double>(rates.per_gigabyte_per_second[i].count()) * 1e-15 * point[i];
        least = std::min(least, time_at(model, point) * cost);
      });
      EXPECT_LE(best.objective, least * (1 + 1e-6)) << support::kSets[which].back();
    }
  }
}

TEST(PerfPerCost, ProvesThatTheCheapestIsNearlyTheBest) {
  // The term uses almost only the cheap dimension, so time and cost hardly conflict: supports of ever steeper lines lie
  // within rounding of each other.
  const auto rates = support::libra_4d_rates();
  const TimeModel model{4, 0.276, {{35.11, {9.63743e9, 3.10099e7, 2.18855e7, 0}}}};
  const auto best = split(perf_per_cost, model, region(4, {"total = 1000GB/s"}, &rates), &rates);
  EXPECT_LE(best.relative_gap, 1e-6);
  EXPECT_LT(best.solves, 1000);
}

}  // namespace
}  // namespace tenex
