// `tenex optimize`, training studies and their part of `list`, through the binary.
//
// The example throughout is one layer on FC(4)_SW(2), TP-4 in dimension 1 and DP-2 in dimension 2, 30 GB/s in all. It
// computes for 1 us in each phase. Forward it reduces 20,000 B over 4 NPUs, which moves 2 * 20,000 * 3/4 = 30,000 B in
// dimension 1; backward 120,000 B over 2, which moves 2 * 120,000 * 1/2 = 120,000 B in dimension 2. So
//
//   T(B) = 3 us + 30,000 B / B1 + 120,000 B / B2
//
// is least where B1 : B2 = sqrt(30,000) : sqrt(120,000) = 1 : 2, at 10 and 20 GB/s: 3 + 3 + 6 = 12 us.
// The default kinds of two dimensions are node and pod. At the low prices of Table I of LIBRA the network costs
// 8 * (B1 * 4 + B2 * (7.8 + 18 + 31.6)) dollars for B in GB/s: 8 * (40 + 1148) = 9504.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/seeing.hpp"
#include "support/process.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {
namespace {

namespace fs = std::filesystem;
using support::Finished;
using support::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::tenex;

constexpr auto one_layer = R"TOML(schema = 1
kind = "workload"
name = "one layer"
source = "made for a test"
measured_at = "1TFLOPS"
tensor = 4
[[block]]
[[block.layer]]
name = "all"
forward = { time = "1us", communicate = { collective = "all_reduce", size = "20000B", over = "tensor" } }
input_gradient = { time = "1us" }
weight_gradient = { time = "1us", communicate = { collective = "all_reduce", size = "120000B", over = "data" } }
)TOML";

class Optimize : public ::testing::Test {
 protected:
  Optimize() { support::write_text(workload_, one_layer); }

  [[nodiscard]] Finished optimize(std::vector<std::string> others) const {
    others.insert(others.begin(), {"optimize", "--workload", workload_.string(), "--topology", "FC(4)_SW(2)", "--hp",
                                   "4,2", "--total-bandwidth", "30GB/s"});
    return tenex(others);
  }

  TemporaryFolder folder_;
  fs::path workload_ = folder_.path() / "one_layer.toml";
};

/// The number after a key; NaN if there is none.
double number(const std::string& json, const std::string& key) {
  const auto at = json.find('"' + key + "\":");
  if (at == std::string::npos) return std::numeric_limits<double>::quiet_NaN();
  const char* first = json.c_str() + at + key.size() + 3;
  char* last = nullptr;
  const double value = std::strtod(first, &last);
  return last == first ? std::numeric_limits<double>::quiet_NaN() : value;
}

TEST_F(Optimize, FindsTheSplitOfTheClosedForm) {
  const auto finished = optimize({"--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("\"status\":\"ok\""));
  EXPECT_THAT(finished.out, HasSubstr("\"scheme\":\"perf_opt\""));
  // The optimum is flat: with a gap of 1e-9 each bandwidth may deviate by a fraction of 3e-5.
  EXPECT_NEAR(number(finished.out, "training_time_ps"), 12e6, 3);
  const auto bandwidths = finished.out.substr(finished.out.find("\"chosen_bandwidth_bytes_per_s\":[") + 32);
  EXPECT_NEAR(std::stod(bandwidths), 10e9, 1e6);
  EXPECT_NEAR(std::stod(bandwidths.substr(bandwidths.find(',') + 1)), 20e9, 1e6);
  EXPECT_NEAR(number(finished.out, "network_cost_usd"), 9504, 0.5);
  EXPECT_LE(number(finished.out, "relative_gap"), 1e-9);
  EXPECT_THAT(finished.out, HasSubstr("\"split_exact\":true"));
  EXPECT_THAT(finished.out, HasSubstr("\"bound_name\":\"optimizer\""));
  EXPECT_EQ(std::count(finished.out.begin(), finished.out.end(), '\n'), 1);
}

TEST_F(Optimize, TimesAGivenSplitExactly) {
  // 10 and 20 GB/s: 30,000 B take 3 us, 120,000 B take 6 us. The bound for any split of 30 GB/s gives every
  // communication all of it: 3 us + 1 us + 4 us.
  const auto finished = optimize({"--scheme", "given", "--split", "1:2", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  for (const auto* words :
       {"\"training_time_ps\":12000000,", "\"chosen_bandwidth_bytes_per_s\":[10000000000,20000000000]",
        "\"network_cost_usd\":9504.0",
        "\"forward_compute_ps\":1000000,\"input_gradient_compute_ps\":1000000,\"weight_gradient_compute_ps\":1000000,",
        "\"forward_exposed_ps\":3000000,\"input_gradient_exposed_ps\":0,\"weight_gradient_exposed_ps\":6000000,",
        "\"bubble_ps\":0,", "\"bound_ps\":8000000,", "\"bound_name\":\"total_bandwidth\"", "\"relative_gap\":null",
        "\"hp\":\"4,2\"", "\"mapping\":\"tensor: 4 of 4 in dimension 1", "\"npus\":8,"})
    EXPECT_THAT(finished.out, HasSubstr(words));
}

TEST_F(Optimize, ShowsEachDimensionBesideEqualShares) {
  // 10 and 20 GB/s: busy for 3 and 6 us, 8 * 10 * 4 and 8 * 20 * 57.4 dollars. 1 % more saves 3 us / 101 = 29,702.97 ps
  // and 6 us / 101 = 59,405.9 ps; times are rounded up, so what they save is rounded down.
  // 1 % less costs 3 us / 99 = 30,303.03 ps and 6 us / 99 = 60,606.06 ps, rounded up. Equal shares of 15 GB/s: 2
  // and 8 us.
  const auto finished = optimize({"--scheme", "given", "--split", "1:2", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out,
              HasSubstr("\"network\":{\"libra_time_ps\":12000000,\"network_cost_usd\":9504.0,\"dimensions\":["
                        "{\"bandwidth_bytes_per_s\":10000000000,\"cost_usd\":320.0,\"busy_ps\":3000000,"
                        "\"saved_by_one_percent_more_ps\":29702,\"lost_by_one_percent_less_ps\":30304},"
                        "{\"bandwidth_bytes_per_s\":20000000000,\"cost_usd\":9184.0,\"busy_ps\":6000000,"
                        "\"saved_by_one_percent_more_ps\":59405,\"lost_by_one_percent_less_ps\":60607}]}"));
  EXPECT_THAT(finished.out, HasSubstr("\"equal_shares\":{\"libra_time_ps\":13000000,\"network_cost_usd\":7368.0,"));
  EXPECT_THAT(finished.out, HasSubstr("\"busy_ps\":2000000,"));
  EXPECT_THAT(finished.out, HasSubstr("\"busy_ps\":8000000,"));
  const auto table = optimize({"--scheme", "given", "--split", "1:2"}).out;
  EXPECT_THAT(table, HasSubstr("in equal shares"));
  EXPECT_THAT(table, ::testing::ContainsRegex("1 FC\\(4\\) +node +10GB/s +33.3 % +\\$320 +3us +29.7ns \\(0.25 %\\)"));
  EXPECT_THAT(table, ::testing::ContainsRegex("iteration +30GB/s +\\$9,504 +12us +30GB/s +\\$7,368 +13us"));
}

TEST_F(Optimize, SplitsEquallyAndUnderConstraintsAlike) {
  // 15 GB/s each: 2 us and 8 us; 8 * (15 * 4 + 15 * 57.4) dollars. With B2 fixed at 15 GB/s the best split is the same.
  const auto equal = optimize({"--scheme", "equal", "--json"});
  ASSERT_EQ(equal.exit_code, 0) << equal.err;
  EXPECT_THAT(equal.out, HasSubstr("\"training_time_ps\":13000000,"));
  EXPECT_THAT(equal.out, HasSubstr("\"network_cost_usd\":7368.0"));
  const auto held = optimize({"--constraint", "B2 <= 15GB/s", "--constraint", "B1 >= 1GB/s", "--json"});
  ASSERT_EQ(held.exit_code, 0) << held.err;
  EXPECT_NEAR(number(held.out, "training_time_ps"), 13e6, 3);
}

TEST_F(Optimize, WeighsTimeAgainstCost) {
  const auto best = optimize({"--scheme", "perf_per_cost", "--json"});
  const auto fast = optimize({"--scheme", "perf_opt", "--json"});
  ASSERT_EQ(best.exit_code + fast.exit_code, 0) << best.err << fast.err;
  EXPECT_LE(number(best.out, "relative_gap"), 1e-6);
  EXPECT_GT(number(best.out, "perf_per_cost_per_s_usd"), 1.01 * number(fast.out, "perf_per_cost_per_s_usd"));
  EXPECT_GT(number(best.out, "training_time_ps"), number(fast.out, "training_time_ps"));
}

TEST_F(Optimize, PrintsRoundedUnitsForPeople) {
  const auto finished = optimize({"--scheme", "given", "--split", "1:2"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("12000000 (12"));
  EXPECT_THAT(finished.out, HasSubstr("10GB/s, 20GB/s"));
  EXPECT_THAT(finished.out, HasSubstr("$9,504"));
  EXPECT_THAT(finished.out, ::testing::ContainsRegex("forward_exposed_ps +3000000 \\(3"));
}

TEST_F(Optimize, RefusesConstraintsThatContradictEachOtherAndNamesThem) {
  // 20 + 15 > 30; B1 <= 100 GB/s is not part of the contradiction.
  const auto finished = optimize(
      {"--constraint", "B1 <= 100GB/s", "--constraint", "B1 >= 20GB/s", "--constraint", "B2 >= 15GB/s", "--json"});
  EXPECT_EQ(finished.exit_code, 2) << finished.out;
  for (const auto* words : {"B1 >= 20GB/s", "B2 >= 15GB/s", "30GB/s"}) EXPECT_THAT(finished.err, HasSubstr(words));
  EXPECT_THAT(finished.err, Not(HasSubstr("100GB/s")));
}

TEST_F(Optimize, PointsAtTheColumnOfAWrongConstraint) {
  //                                                                123456^: the second one, its seventh character
  const auto finished = optimize({"--constraint", "B1 >= 1GB/s", "--constraint", "B2 <= 15GX/s"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--constraint:2:7: "));
}

TEST_F(Optimize, SaysWhichDegreesWouldMultiplyToTheNpuCount) {
  auto finished = tenex({"optimize", "--workload", workload_.string(), "--topology", "FC(4)_SW(2)", "--hp", "4,3",
                         "--total-bandwidth", "30GB/s"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--hp"));
  EXPECT_THAT(finished.err, HasSubstr("HP-(4,2)"));
}

TEST_F(Optimize, NamesTheNearestWorkloadAndWord) {
  const auto unknown = [](std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"optimize", "--topology", "FC(4)_SW(2)", "--hp", "4,2", "--total-bandwidth", "30GB/s"});
    const auto finished = tenex(words);
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    return finished.err;
  };
  EXPECT_THAT(unknown({"--workload", "gtp3"}), HasSubstr("gpt3"));
  EXPECT_THAT(unknown({"--workload", "gpt3", "--scheme", "perf_otp"}), HasSubstr("perf_opt"));
  EXPECT_THAT(unknown({"--workload", "gpt3", "--cost-model", "libar"}), HasSubstr("libra"));
  EXPECT_THAT(unknown({}), HasSubstr("--workload"));
}

TEST(ListOfTraining, NamesOnlyWordsThatStudiesMayUse) {
  // Takes the name in every line "  name  description" below a heading as a word of the key.
  for (const auto& [topic, key] : {std::pair("schemes", "scheme"), std::pair("collective_times", "collective_time"),
                                   std::pair("training_loops", "training_loop")}) {
    const auto finished = tenex({"list", topic});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    std::istringstream lines(finished.out);
    std::string line;
    int names = 0;
    while (std::getline(lines, line)) {
      if (!line.starts_with("  ")) continue;
      const auto name = line.substr(2, line.find(' ', 2) - 2);
      const auto& known = find_setting(key)->words;
      EXPECT_NE(std::ranges::find(known, name), known.end()) << key << " " << name;
      ++names;
    }
    EXPECT_GE(names, 3) << topic;
  }
}

TEST(ListOfTraining, NamesTheWorkloadsAndCostModelsInside) {
  const auto workloads = tenex({"list", "workloads"});
  ASSERT_EQ(workloads.exit_code, 0) << workloads.err;
  for (const auto* name : {"dlrm", "gnmt", "gpt3", "moe", "msft_1t", "resnet50", "turing_nlg"})
    EXPECT_THAT(workloads.out, HasSubstr(std::string("  ") + name + " "));
  EXPECT_THAT(workloads.out, HasSubstr("TP-16, compute at 60TiFLOPS"));  // gpt3
  const auto models = tenex({"list", "cost_models"});
  ASSERT_EQ(models.exit_code, 0) << models.err;
  EXPECT_THAT(models.out, HasSubstr("  libra "));
}

TEST_F(Optimize, IsWhatAStudyOfOnePointDoes) {
  support::write_text(folder_.path() / "study.toml", R"TOML(schema = 1
name = "training"
[[sweep]]
workload = "one_layer.toml"
topology = "FC(4)_SW(2)"
hp = "4,2"
total_bandwidth = "30GB/s"
axes.scheme = ["equal", "perf_opt", "perf_per_cost"]
[[sweep]]
topology = "RI(4)"
alpha = "1us"
bandwidth = "1GB/s"
collective = "all_gather"
algorithm = "ring"
size = "4KB"
)TOML");
  const auto study = (folder_.path() / "study.toml").string();
  const auto plan = tenex({"plan", study});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("workload=one_layer.toml scheme=equal points=1"));

  const auto out = (folder_.path() / "out").string();
  const auto ran = tenex({"run", study, "--out", out, "--quiet"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("4 points: 4 evaluated now"));
  EXPECT_THAT(ran.out, HasSubstr("all_gather  ring"));
  EXPECT_THAT(ran.out, HasSubstr("workload, scheme"));
  EXPECT_THAT(ran.out, HasSubstr("one_layer.toml  perf_per_cost"));
  EXPECT_THAT(ran.out, HasSubstr("$7,368"));  // of equal

  // The folder has its own copy of the workload.
  fs::remove(workload_);
  const auto merged = tenex({"merge", out});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
}

}  // namespace
}  // namespace tenex
