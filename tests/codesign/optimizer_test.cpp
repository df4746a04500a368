// The optimizer: closed forms, certificates, random feasible splits, an independent solver, and refusals.
#include "tenex/codesign/optimizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "codesign/random_walk.hpp"
#include "codesign/support.hpp"

namespace tenex {
namespace {

using support::gigabytes;
using support::kInside;
using support::kSets;
using support::random_model;
using support::region;
using support::split;
using support::walk;
using ::testing::HasSubstr;
using enum SplitScheme;

std::string refusal(SplitScheme scheme, const TimeModel& model, const BandwidthRegion& set, const CostRates* rates) {
  const auto made = split_bandwidth(scheme, model, set, rates);
  return made.ok() ? "no refusal" : to_string(made.errors());
}

TEST(TimeModel, CollapsesWhatIsProportional) {
  TimeModel model{3, 1.5, {}};
  // 96 layers with the same collective in two sizes, one other collective, one without volume, one without weight.
  for (int layer = 0; layer < 96; ++layer) {
    model.terms.push_back({2, {4e9, 1e9, 0}});
    model.terms.push_back({1, {8e9, 2e9, 0}});
  }
  model.terms.push_back({1, {1e9, 4e9, 1e9}});
  model.terms.push_back({1, {0, 0, 0}});
  model.terms.push_back({0, {1, 2, 3}});
  const auto collapsed = collapse(model);
  ASSERT_EQ(collapsed.terms.size(), 2U);
  // 96 * (2 + 1 * 2) times {4e9, 1e9, 0}.
  EXPECT_DOUBLE_EQ(collapsed.terms[0].weight, 384);
  const std::vector<double> bandwidth{1e11, 2e11, 3e11};
  EXPECT_NEAR(time_at(collapsed, bandwidth), time_at(model, bandwidth), 1e-12);
  // 1.5 + 384 * max(0.04, 0.005) + max(0.01, 0.02, 0.0033).
  EXPECT_NEAR(time_at(collapsed, bandwidth), 1.5 + 384 * 0.04 + 0.02, 1e-12);
}

TEST(TimeModel, SumsWorkloadsByWeight) {
  const std::vector models{TimeModel{1, 1, {{1, {1e9}}}}, TimeModel{1, 2, {{3, {2e9}}}}};
  const auto sum = weighted_sum(models, std::vector{0.5, 2.0});
  // 0.5 * 1 + 2 * 2 = 4.5; 0.5 * 1e9 + 2 * 3 * 2e9 = 12.5e9 bytes.
  ASSERT_EQ(sum.terms.size(), 1U);
  EXPECT_DOUBLE_EQ(time_at(sum, std::vector<double>{1e9}), 4.5 + 12.5);
}

TEST(PerfOpt, OfOneTermIsProportionalToItsVolumes) {
  // max V_i / B_i under sum B_i = 1000 GB/s: B_i = 1000 * V_i / 7.5e9, T = 7.5e9 / 1e12 s.
  const TimeModel model{4, 0, {{1, {4e9, 2e9, 1e9, 0.5e9}}}};
  const auto best = split(perf_opt, model, region(4, {"total = 1000GB/s"}));
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(gigabytes(best.bandwidth[i]), 1000 * model.terms[0].volumes[i] / 7.5e9, 1e-6);
  EXPECT_NEAR(best.time, 7.5e-3, 1e-12);
  EXPECT_LE(best.relative_gap, 1e-9);
}

TEST(PerfOpt, OfDisjointDimensionsSharesBySquareRoots) {
  // Terms on {1,2} and {3}: T = S1/A1 + S2/A2 with S the summed volumes and A the groups' bandwidths, A1 + A2 = A: by
  // Lagrange A_g is proportional to sqrt(S_g). S1 = 9e9, S2 = 4e9: 600 and 400 GB/s; inside the first 2 : 1.
  const TimeModel model{3, 0.25, {{1, {6e9, 3e9, 0}}, {2, {0, 0, 2e9}}}};
  const auto best = split(perf_opt, model, region(3, {"total = 1000GB/s"}));
  EXPECT_NEAR(gigabytes(best.bandwidth[0]), 400, 1e-4);
  EXPECT_NEAR(gigabytes(best.bandwidth[1]), 200, 1e-4);
  EXPECT_NEAR(gigabytes(best.bandwidth[2]), 400, 1e-4);
  // 0.25 + 9e9/6e11 + 4e9/4e11 = 0.25 + 0.015 + 0.01.
  EXPECT_NEAR(best.time, 0.275, 1e-10);
  EXPECT_LE(best.relative_gap, 1e-9);
}

TEST(PerfOpt, LeavesABudgetOfMoneyOnTheCheapDimensions) {
  // T = 1/B1 + 1/B2 under 1 B1 + 4 B2 <= cost: B1 / B2 = sqrt(4) by Lagrange. Rates 1 and 4 dollars per GB/s and a
  // budget of 6000 dollars: B1 = 2000, B2 = 1000 GB/s.
  const CostRates rates{{dollars(1), dollars(4)}};
  const TimeModel model{2, 0, {{1, {1e9, 0}}, {1, {0, 1e9}}}};
  const auto best = split(perf_opt, model, region(2, {"cost <= $6000"}, &rates), &rates);
  EXPECT_NEAR(gigabytes(best.bandwidth[0]), 2000, 1e-2);
  EXPECT_NEAR(gigabytes(best.bandwidth[1]), 1000, 1e-2);
  EXPECT_LE(best.cost->count(), dollars(6000).count());
  EXPECT_LE(best.relative_gap, 1e-9);
}

// Where a total, a cost and a sum bind together, the whole bandwidths beside the optimum are infeasible; the best ones
// are some 36 B/s away. The model is a Reduce-Scatter of 768 MiB and an All-to-All of 32 MiB over four of dimension 2
// and four of dimension 3.
TEST(PerfOpt, FindsWholeBandwidthsInACornerOfConstraints) {
  const CostRates rates{{dollars(17 * 128), dollars(17 * 128), dollars(2 * 128)}};
  const TimeModel model{3, 0, {{2, {0, 603979776, 150994944}}, {2, {0, 25165824, 25165824}}}};
  const auto corner =
      region(3, {"total = 84211879468B/s", "B1 >= B2", "2 * B3 + B2 <= 50039690803B/s", "cost <= $156796"}, &rates);
  const auto best = split(perf_opt, model, corner, &rates);
  EXPECT_TRUE(best.exact);
  EXPECT_LE(best.relative_gap, 1e-9);
  EXPECT_LE(best.time, time_at(model, std::vector<double>{47947735396, 22488597341, 13775546731}));
}

TEST(PerfOpt, ProvesEverySolveTo1e9) {
  const auto rates = support::libra_4d_rates();
  Random random(11);
  for (const auto& texts : kSets) {
    const auto set = region(4, texts, &rates);
    for (int round = 0; round < 200; ++round) {
      const auto best = split(perf_opt, random_model(random, 4, 1 + round % 5), set, &rates);
      EXPECT_LE(best.relative_gap, 1e-9) << texts.back() << ", round " << round;
      EXPECT_LE(best.solver_gap, 1e-9);
      EXPECT_GE(best.time, best.lower_bound * (1 - 1e-14));
      EXPECT_TRUE(best.exact);
      EXPECT_TRUE(set.contains(best.bandwidth));
    }
  }
}

TEST(PerfOpt, ProvesSolvesOfManyDimensionsAndTerms) {
  Random random(13);
  for (const std::size_t dimensions : {1U, 2U, 8U, 12U, 16U}) {
    const auto set = region(dimensions, {"total = 2000GB/s", "B1 >= 1GB/s"});
    for (const int terms : {1, 2, 40}) {
      for (int round = 0; round < 10; ++round) {
        const auto best = split(perf_opt, random_model(random, dimensions, terms), set);
        EXPECT_LE(best.relative_gap, 1e-9) << dimensions << " dimensions, " << terms << " terms, round " << round;
      }
    }
  }
}

TEST(PerfOpt, Beats10000RandomFeasibleSplits) {
  const auto rates = support::libra_4d_rates();
  Random random(17);
  for (std::size_t which = 0; which < kInside.size(); ++which) {
    const auto rows = support::constraints(4, kSets[which], &rates);
    const auto set = region(4, kSets[which], &rates);
    for (int terms = 1; terms <= 3; ++terms) {
      const auto model = random_model(random, 4, terms);
      const auto best = split(perf_opt, model, set, &rates);
      double fastest = 1e30;
      walk(rows, kInside[which], 10'000, random,
           [&](const std::vector<double>& point) { fastest = std::min(fastest, time_at(model, point)); });
      EXPECT_LE(best.time, fastest * (1 + 1e-9)) << kSets[which].back();
      EXPECT_LT(fastest, 3 * best.time) << "the walk comes near the optimum, so the comparison means something";
    }
  }
}

TEST(PerfPerCost, BeatsRandomFeasibleSplitsWithin1e6) {
  const auto rates = support::libra_4d_rates();
  Random random(19);
  for (std::size_t which = 0; which < kInside.size(); ++which) {
    const auto rows = support::constraints(4, kSets[which], &rates);
    const auto set = region(4, kSets[which], &rates);
    for (int terms = 1; terms <= 3; ++terms) {
      const auto model = random_model(random, 4, terms);
      const auto best = split(perf_per_cost, model, set, &rates);
      EXPECT_LE(best.relative_gap, 1e-6) << kSets[which].back();
      double least = 1e300;
      walk(rows, kInside[which], 10'000, random, [&](const std::vector<double>& point) {
        double cost = 0;
        for (std::size_t i = 0; i < 4; ++i)
          cost += static_cast<double>(rates.per_gigabyte_per_second[i].count()) * 1e-15 * point[i];
        least = std::min(least, time_at(model, point) * cost);
      });
      EXPECT_LE(best.objective, least * (1 + 1e-6)) << kSets[which].back();
      EXPECT_NEAR(best.objective, best.time * static_cast<double>(best.cost->count()) * 1e-6, 1e-9 * best.objective);
    }
  }
}

TEST(PerfPerCost, HasItsClosedFormInOneDimension) {
  // (C + V/B) * r B = C r B + V r grows with B: the least B allowed is best. r = 2 dollars per GB/s, C = 1, V = 50e9,
  // B = 10 GB/s: (1 + 5) * 20 = 120.
  const CostRates rates{{dollars(2)}};
  const auto best =
      split(perf_per_cost, TimeModel{1, 1, {{1, {50e9}}}}, region(1, {"10GB/s <= B1 <= 90GB/s"}, &rates), &rates);
  EXPECT_NEAR(gigabytes(best.bandwidth[0]), 10, 1e-5);
  EXPECT_NEAR(best.objective, 120, 1e-4);
  EXPECT_LE(best.relative_gap, 1e-6);
}

TEST(PerfPerCost, TradesTheCheapAgainstTheDearDimension) {
  // B1 + B2 = 100 GB/s, disjoint terms V1 = V2 = V, C = 0, rates 1 and 9. With x = B1/100: product proportional to
  // (1/x + 1/(1-x)) * (x + 9 (1-x)) = (9 - 8x) / (x (1-x)). Its derivative is zero where
  // -8 (x - x^2) = (9 - 8x)(1 - 2x), that is 8x^2 - 18x + 9 = 0: x = (18 - sqrt(36)) / 16 = 0.75.
  const CostRates rates{{dollars(1), dollars(9)}};
  const TimeModel model{2, 0, {{1, {1e9, 0}}, {1, {0, 1e9}}}};
  const auto best = split(perf_per_cost, model, region(2, {"total = 100GB/s"}, &rates), &rates);
  EXPECT_NEAR(gigabytes(best.bandwidth[0]), 75, 0.1);  // flat at the optimum: 1e-3 of x changes the product by 1e-6
  // (1/75 + 1/25) s * (75 + 225) dollars = 16.
  EXPECT_NEAR(best.objective, 16, 16e-6);
  EXPECT_LE(best.relative_gap, 1e-6);
}

TEST(PerfPerCost, TakesTheCheapestWhereNothingCommunicates) {
  // 3 s for every split, so the cheapest is best: all in dimension 1 at 2 * 4096 dollars per GB/s, 1000 GB/s: 3 *
  // 8,192,000.
  const auto rates = support::libra_4d_rates();
  const TimeModel model{4, 3, {}};
  const auto best = split(perf_per_cost, model, region(4, {"total = 1000GB/s"}, &rates), &rates);
  EXPECT_NEAR(best.objective, 24'576'000, 25);
  EXPECT_LE(best.relative_gap, 1e-6);
  EXPECT_EQ(best.solves, 1);
  // Where the cost is given, every split is the best: 3 s times 15 million.
  const auto given = split(perf_per_cost, model, region(4, {"cost = 15MUSD"}, &rates), &rates);
  EXPECT_NEAR(given.objective, 45e6, 1);
  EXPECT_LE(given.relative_gap, 1e-6);
  EXPECT_EQ(split(perf_per_cost, TimeModel{4, 0, {}}, region(4, {"total = 1000GB/s"}, &rates), &rates).objective, 0);
}

TEST(PerfPerCost, ProvesSetsThatAllowAScale) {
  // The total may be anything from 100 to 1000 GB/s; without computation every scale is equally good.
  const auto rates = support::libra_4d_rates();
  Random random(23);
  for (int round = 0; round < 5; ++round) {
    auto model = random_model(random, 4, 3);
    if (round == 0) model.constant = 0;
    const auto set = region(4, {"100GB/s <= total <= 1000GB/s", "B4 >= 5GB/s"}, &rates);
    EXPECT_LE(split(perf_per_cost, model, set, &rates).relative_gap, 1e-6) << round;
  }
  // Without an upper limit the cost limits itself, because the computation takes time.
  const auto model = random_model(random, 4, 2);
  EXPECT_LE(split(perf_per_cost, model, region(4, {"B1 >= 5GB/s"}, &rates), &rates).relative_gap, 1e-6);
}

TEST(Schemes, EqualGivesEveryDimensionTheSame) {
  const TimeModel model{4, 0, {{1, {4e9, 2e9, 1e9, 0.5e9}}}};
  const auto even = split(equal, model, region(4, {"total = 1000GB/s"}));
  EXPECT_THAT(even.bandwidth, ::testing::Each(gigabytes_per_second(250)));
  EXPECT_DOUBLE_EQ(even.time, 4e9 / 250e9);
  const auto capped = split(equal, model, region(4, {"total <= 1000GB/s", "B3 <= 100GB/s"}));
  EXPECT_THAT(capped.bandwidth, ::testing::Each(gigabytes_per_second(100)));
  // 1000e9 / 3 is no whole number: two dimensions get 333,333,333,333 B/s, one a byte per second more.
  const auto thirds = split(equal, TimeModel{3, 0, {{1, {1, 1, 1}}}}, region(3, {"total = 1000GB/s"}));
  EXPECT_TRUE(thirds.exact);
  EXPECT_EQ(thirds.bandwidth[0] + thirds.bandwidth[1] + thirds.bandwidth[2], gigabytes_per_second(1000));
}

TEST(Schemes, RefuseWhatHasNoBestSplitAndNameTheMissingConstraint) {
  const auto rates = support::libra_4d_rates();
  const TimeModel model{4, 1, {{1, {4e9, 2e9, 1e9, 0.5e9}}}};
  const auto unlimited = region(4, {"B1 + B2 <= 100GB/s", "B4 <= 5GB/s"}, &rates);
  EXPECT_THAT(refusal(perf_opt, model, unlimited, nullptr), HasSubstr("nothing limits B3 from above"));
  EXPECT_THAT(refusal(perf_opt, model, unlimited, nullptr), HasSubstr("add a total bandwidth"));
  const auto upper_only = region(4, {"total <= 1000GB/s"}, &rates);
  EXPECT_THAT(refusal(perf_per_cost, model, upper_only, &rates), HasSubstr("shrink to nothing"));
  EXPECT_THAT(refusal(perf_per_cost, model, upper_only, &rates), HasSubstr("add a lower limit"));
  EXPECT_THAT(refusal(perf_per_cost, model, upper_only, nullptr), HasSubstr("name a cost model"));
  EXPECT_THAT(refusal(equal, model, region(4, {"B1 >= 5GB/s"}), nullptr), HasSubstr("equal has no best split"));
  EXPECT_THAT(refusal(equal, model, region(4, {"total = 100GB/s", "B1 + B2 = 60GB/s"}), nullptr),
              HasSubstr("equal bandwidths cannot meet \"total = 100GB/s\" together with \"B1 + B2 = 60GB/s\""));
}

TEST(Schemes, TakeAPointAsItIs) {
  const auto rates = support::libra_4d_rates();
  const auto set = region(4, {"B1 = 400GB/s", "B2 = 300GB/s", "B3 = 200GB/s", "B4 = 100GB/s"}, &rates);
  const TimeModel model{4, 1, {{1, {4e9, 2e9, 1e9, 0.5e9}}}};
  EXPECT_EQ(split(perf_opt, model, set).relative_gap, 0);
  EXPECT_EQ(split(perf_per_cost, model, set, &rates).bandwidth, split(perf_opt, model, set).bandwidth);
}

TEST(Schemes, WorkWithoutCommunication) {
  const auto best = split(perf_opt, TimeModel{2, 3, {}}, region(2, {"total = 10GB/s"}));
  EXPECT_EQ(best.time, 3);
  EXPECT_EQ(best.relative_gap, 0);
}

TEST(Schemes, HaveNames) {
  EXPECT_EQ(to_string(perf_opt), "perf_opt");
  EXPECT_EQ(to_string(perf_per_cost), "perf_per_cost");
  EXPECT_EQ(to_string(equal), "equal");
}

}  // namespace
}  // namespace tenex
