// Points whose bandwidths a scheme chooses: closed forms, costs, bounds, sets of workloads, and shared splits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "evaluate/training_points.hpp"

namespace tenex {
namespace {

using support::Files;
using support::phase_text;
using support::training_row;
using support::with;
using support::Words;
using support::workload_text;

// All NPUs together: on RI(4)_SW(8) 2*3/4 of 16 GB in dimension 1 and 2*7/32 in dimension 2: 24 and 7 GB.
const Files kOneTerm{{"one.toml", workload_text(phase_text("weight_gradient", "all_reduce", "16GB", "world"))}};
const Words kOneTermWords{{"workload", "one.toml"},
                          {"topology", "RI(4)_SW(8)"},
                          {"hp", "1,32"},
                          {"scheme", "perf_opt"},
                          {"total_bandwidth", "310GB/s"}};

double first_bandwidth(const Evaluation& row) { return static_cast<double>(row.chosen_bandwidth_bytes_per_s.at(0)); }

TEST(TrainingSplit, IsProportionalToTheVolumesOfOneTerm) {
  // 24 : 7 of 310 GB/s: both dimensions then take 0.1 s, the time of 31 GB at 310 GB/s, so no split is faster.
  const auto row = training_row(kOneTermWords, kOneTerm);
  // The solver stops at a gap of 1e-10: 10 ps here.
  EXPECT_NEAR(first_bandwidth(row), 240e9, 240);
  EXPECT_NEAR(static_cast<double>(row.training_time_ps), 100'000'000'000.0, 10);
  EXPECT_EQ(row.bound_ps, 100'000'000'000);
  EXPECT_EQ(row.bound_name, "total_bandwidth");
  EXPECT_NEAR(row.efficiency, 1, 1e-10);
  EXPECT_NEAR(row.objective, 0.1, 1e-11);
  EXPECT_LE(row.relative_gap, 1e-9);
  EXPECT_EQ(row.split_exact, 1);
}

// Tensor groups in dimension 1, data groups in dimension 2.
const Files kTwoTerms{{"two.toml", workload_text(phase_text("forward", "all_reduce", "56GB", "tensor") +
                                                     phase_text("weight_gradient", "all_reduce", "12GB", "data"),
                                                 "tensor = 4\n")}};
const Words kTwoTermsWords{{"workload", "two.toml"},
                           {"topology", "RI(4)_SW(8)"},
                           {"hp", "4,8"},
                           {"scheme", "perf_opt"},
                           {"total_bandwidth", "300GB/s"}};

TEST(TrainingSplit, GoesByTheSquareRootOfTheVolumesOfDisjointGroups) {
  // 2*3/4*56 = 84 GB in dimension 1, 2*7/8*12 = 21 GB in dimension 2: the least 84/B1 + 21/B2 is where B1 : B2 = 2 : 1:
  // 84/200 + 21/100 = 0.63 s. With the total bandwidth, the communications would take 105/300 = 0.35 s; the optimizer
  // proves 0.63 s.
  const auto row = training_row(kTwoTermsWords, kTwoTerms);
  EXPECT_NEAR(static_cast<double>(row.training_time_ps), 630'000'000'000.0, 1);
  EXPECT_EQ(row.bound_name, "optimizer");
  EXPECT_NEAR(static_cast<double>(row.bound_ps), 630'000'000'000.0, 630);  // a gap of 1e-9
  EXPECT_LE(row.bound_ps, row.training_time_ps);
  EXPECT_LE(row.relative_gap, 1e-9);
}

TEST(TrainingSplit, IsEqualWhereAskedFor) {
  const auto row = training_row(with(kTwoTermsWords, "scheme", "equal"), kTwoTerms);
  EXPECT_EQ(row.chosen_bandwidth_bytes_per_s, std::vector<std::int64_t>(2, 150'000'000'000));
  // 84/150 + 21/150.
  EXPECT_EQ(row.training_time_ps, 700'000'000'000);
  EXPECT_EQ(row.bound_name, "total_bandwidth");
}

TEST(TrainingSplit, MeetsTheConstraints) {
  // With B1 <= 160 GB/s the other 140 GB/s are dimension 2's: 84/160 + 21/140 = 0.675 s.
  const auto row = training_row(with(kTwoTermsWords, "constraints", "B1 <= 160GB/s; B1 >= B2"), kTwoTerms);
  EXPECT_NEAR(static_cast<double>(row.training_time_ps), 675'000'000'000.0, 10);
  EXPECT_EQ(row.split_exact, 1);
}

TEST(TrainingSplit, SaysWhereNoWholeBandwidthsMeetTheConstraints) {
  // B1 = 2*B2 of a total that 3 does not divide.
  auto words = with(with(kTwoTermsWords, "constraints", "B1 = 2*B2"), "total_bandwidth", "300000000001B/s");
  const auto row = training_row(words, kTwoTerms);
  EXPECT_EQ(row.split_exact, 0);
  EXPECT_EQ(row.bound_name, "total_bandwidth");  // the optimizer's bound holds for exact splits only
  EXPECT_NEAR(static_cast<double>(row.training_time_ps), 630'000'000'000.0, 100);
}

TEST(TrainingSplit, SpendsABudgetOnEveryShape) {
  // Two dimensions are a node and a pod: a ring's link costs 4 dollars per GB/s there, the pod's switched link 7.8 + 18
  // + 31.6 = 57.4 dollars, or as a ring 7.8. With one term, if only the cost limits them, the B_i are proportional to
  // the volumes and the whole budget is spent.
  for (const auto* topology : {"RI(4)_SW(8)", "RI(4)_RI(8)"}) {
    auto words = with(with(kOneTermWords, "topology", topology), "cost_budget", "200000USD");
    std::erase_if(words, [](const auto& word) { return word.first == "total_bandwidth"; });
    const auto row = training_row(words, kOneTerm);
    EXPECT_LE(row.network_cost_usd, 200'000);
    EXPECT_NEAR(row.network_cost_usd, 200'000, 1e-3);
    // 32 NPUs * (24x * 4 + 7x * price) = 200000 dollars; the time is 1/x s.
    const double price = std::string(topology) == "RI(4)_SW(8)" ? 57.4 : 7.8;
    const double seconds = 32 * (24 * 4 + 7 * price) / 200'000;
    EXPECT_NEAR(static_cast<double>(row.training_time_ps) * 1e-12, seconds, 1e-9);
  }
}

TEST(TrainingSplit, TradesTimeAgainstCost) {
  // T*cost of disjoint groups without compute: (a/B1 + b/B2)(p B1 + q B2) is least where B1/B2 = sqrt(a q / (b p));
  // with a : b = 4 : 1, p = 4 and q = 57.4: sqrt(57.4) = 7.576..; the objective is 32*(sqrt(84 * 4) + sqrt(21
  // * 57.4))^2.
  const auto row = training_row(with(kTwoTermsWords, "scheme", "perf_per_cost"), kTwoTerms);
  const double root = std::sqrt(84.0 * 4) + std::sqrt(21.0 * 57.4);
  EXPECT_NEAR(row.objective, 32 * root * root, 32 * root * root * 1e-6);
  EXPECT_NEAR(row.objective, static_cast<double>(row.training_time_ps) * 1e-12 * row.network_cost_usd,
              row.objective * 1e-9);
  EXPECT_DOUBLE_EQ(row.perf_per_cost_per_s_usd,
                   1 / (static_cast<double>(row.training_time_ps) * 1e-12 * row.network_cost_usd));
  EXPECT_LE(row.relative_gap, 1e-6);
}

TEST(TrainingSplit, MayBeForOtherWorkloadsThanThePointsOwn) {
  // For one term the split is 24 : 7, for any workload of the point: at 310 GB/s 84/240 + 21/70 = 0.65 s.
  Files files = kTwoTerms;
  files.insert(kOneTerm.begin(), kOneTerm.end());
  auto words = with(with(kTwoTermsWords, "total_bandwidth", "310GB/s"), "optimize_for", "one.toml HP-(1,32)");
  const auto row = training_row(words, files);
  EXPECT_NEAR(first_bandwidth(row), 240e9, 240);
  EXPECT_NEAR(static_cast<double>(row.training_time_ps), 650'000'000'000.0, 650);
  EXPECT_EQ(row.bound_name, "total_bandwidth");
  // A set of both with weights: one.toml's 16 GB count twice, as two entries or as one of weight 2.
  const auto twice = training_row(with(words, "optimize_for", "one.toml HP-(1,32) x2; two.toml HP-(4,8)"), files);
  const auto listed =
      training_row(with(words, "optimize_for", "one.toml HP-(1,32); two.toml HP-(4,8); one.toml HP-(1,32)"), files);
  EXPECT_NEAR(twice.objective, listed.objective, 1e-9);
  EXPECT_LT(twice.training_time_ps, row.training_time_ps);
}

TEST(TrainingSplit, OfAstraSimsLoopIsThatOfOverlap) {
  auto words = with(kTwoTermsWords, "training_loop", "astra_sim");
  const auto astra_sim = training_row(words, kTwoTerms);
  const auto overlap = training_row(with(words, "training_loop", "tp_dp_overlap"), kTwoTerms);
  EXPECT_EQ(astra_sim.chosen_bandwidth_bytes_per_s, overlap.chosen_bandwidth_bytes_per_s);
  EXPECT_EQ(astra_sim.bound_name, "total_bandwidth");
}

TEST(TrainingSplit, MayUseTheOtherFormulaThanTheTimes) {
  // FC(8) gives a tensor group of 2 one of 7 links, and a data group of 4 three. With derating, dimension 1 counts for
  // more and so gets more bandwidth.
  Files files{{"part.toml", workload_text(phase_text("forward", "all_reduce", "40GB", "tensor") +
                                              phase_text("weight_gradient", "all_reduce", "20GB", "data"),
                                          "tensor = 2\n")}};
  Words words{{"workload", "part.toml"},
              {"topology", "FC(8)_SW(4)"},
              {"hp", "2,16"},
              {"scheme", "perf_opt"},
              {"total_bandwidth", "100GB/s"}};
  const auto plain = training_row(words, files);
  const auto derated = training_row(with(words, "optimize_with", "libra_derated"), files);
  const auto both = training_row(with(words, "collective_time", "libra_derated"), files);
  EXPECT_NE(plain.chosen_bandwidth_bytes_per_s, derated.chosen_bandwidth_bytes_per_s);
  EXPECT_EQ(derated.chosen_bandwidth_bytes_per_s, both.chosen_bandwidth_bytes_per_s);
  EXPECT_GE(derated.training_time_ps, plain.training_time_ps);  // `plain` is the best for the formula without derating
  EXPECT_EQ(derated.bound_name, "total_bandwidth");
  EXPECT_EQ(both.bound_name, "optimizer");
}

}  // namespace
}  // namespace tenex
