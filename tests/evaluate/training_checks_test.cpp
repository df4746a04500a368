// Errors that the settings of a training point show, refused before any work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "evaluate/training_points.hpp"

namespace tenex {
namespace {

using support::Files;
using support::phase_text;
using support::training_point;
using support::training_refusal;
using support::with;
using support::Words;
using support::workload_text;
using ::testing::HasSubstr;

const Files kFiles{
    {"sums.toml", workload_text(phase_text("forward", "all_reduce", "1GB", "tensor") +
                                    phase_text("weight_gradient", "all_reduce", "1GB", "data"),
                                "tensor = 4\n")},
    {"data.toml", workload_text(phase_text("weight_gradient", "all_reduce", "1GB", "data"))},
    {"broken.toml", "schema = 1\nkind = \"workload\"\nname = 3\n"},
    {"no_pods.toml", "schema = 1\nkind = \"cost_model\"\nname = \"x\"\nsource = \"x\"\n[node]\nlink = 1\n"}};
const Words kWords{{"workload", "sums.toml"},
                   {"topology", "RI(4)_SW(8)"},
                   {"hp", "4,8"},
                   {"scheme", "perf_opt"},
                   {"total_bandwidth", "300GB/s"}};

std::string refusal(const std::string& name, const std::string& text) {
  return training_refusal(with(kWords, name, text), kFiles);
}

TEST(TrainingChecks, RefuseAParallelizationThatDoesNotFit) {
  EXPECT_EQ(training_refusal(kWords, kFiles), "");
  EXPECT_THAT(refusal("hp", "4,16"), HasSubstr("--hp: HP-(4,16) is for 64 NPUs (RI(4)_SW(8) has 32) use HP-(4,8) or "
                                               "HP-(2,16)"));
  EXPECT_THAT(refusal("hp", "4,4,2"), HasSubstr("--hp: 2 pipeline stages for workload \"tiny\""));
  EXPECT_THAT(training_refusal(with(with(kWords, "workload", "data.toml"), "hp", "2,16"), kFiles),
              HasSubstr("use TP-1"));
}

TEST(TrainingChecks, RefuseFilesWithMistakesAtTheirPlaces) {
  EXPECT_THAT(refusal("workload", "broken.toml"), HasSubstr("broken.toml:3:"));
  EXPECT_THAT(refusal("cost_model", "no_pods.toml"), HasSubstr("pod"));
}

TEST(TrainingChecks, RefuseAGeneratedModelWithoutARate) {
  const Words words{
      {"workload", "gpt3_generated"}, {"topology", "RI(4)_SW(8)"}, {"hp", "4,8"}, {"npu_bandwidth", "1GB/s"}};
  EXPECT_THAT(training_refusal(words),
              HasSubstr("states no compute rate (its work is counted in FLOPs) set a rate, for "
                        "instance compute = \"234TFLOPS\""));
  EXPECT_EQ(training_refusal(with(words, "compute", "234TFLOPS")), "");
}

TEST(TrainingChecks, RefuseConstraintsThatNameNoDimensionOrContradictEachOther) {
  EXPECT_THAT(refusal("constraints", "B1 >= B3"), HasSubstr("B3"));
  const auto conflict = refusal("constraints", "B1 >= 200GB/s; B2 >= 150GB/s; B1 <= 250GB/s");
  EXPECT_THAT(conflict, HasSubstr("B1 >= 200GB/s"));
  EXPECT_THAT(conflict, HasSubstr("B2 >= 150GB/s"));
  EXPECT_THAT(conflict, ::testing::Not(HasSubstr("B1 <= 250GB/s")));
  EXPECT_THAT(refusal("cost_budget", "1USD"), HasSubstr("contradict each other"));
}

TEST(TrainingChecks, RefuseASchemeWithoutABestSplit) {
  auto words = kWords;
  std::erase_if(words, [](const auto& each) { return each.first == "total_bandwidth"; });
  EXPECT_THAT(training_refusal(words, kFiles), HasSubstr("nothing limits B1 from above"));
  EXPECT_THAT(training_refusal(with(words, "scheme", "equal"), kFiles), HasSubstr("nothing limits B1 from above"));
  EXPECT_THAT(training_refusal(with(with(words, "scheme", "perf_per_cost"), "constraints", "B1 <= 9GB/s"), kFiles),
              HasSubstr("shrink to nothing"));
}

TEST(TrainingChecks, RefuseSwitchesAndDimensionsThatAreNone) {
  EXPECT_THAT(refusal("in_network", "1"), HasSubstr("--in_network: in-network reduction in dimension 1"));
  EXPECT_THAT(refusal("in_network", "3"), HasSubstr("RI(4)_SW(8) has 2 dimensions"));
  auto unwound = with(with(kWords, "in_network", "2"), "collective_time", "synthesized");
  unwound = with(with(unwound, "alpha", "1us"), "unwind", "1");
  EXPECT_THAT(training_refusal(unwound, kFiles),
              HasSubstr("--in_network: in-network reduction where switches are unwound"));
  EXPECT_THAT(refusal("dimension_kinds", "node"), HasSubstr("--dimension_kinds"));
  EXPECT_THAT(refusal("dimension_kinds", "node,chiplet"), HasSubstr("--dimension_kinds"));
  EXPECT_THAT(refusal("dimension_kinds", "node,pods"), HasSubstr("did you mean \"pod\"?"));
}

// Kinds of links with limits: `near` joins up to 8 NPUs at up to 100 GB/s each, `far` any number at any bandwidth.
const Files kTechnologies{{"sums.toml", kFiles.at("sums.toml")},
                          {"kinds.toml",
                           "schema = 1\nkind = \"cost_model\"\nname = \"x\"\nsource = \"x\"\n"
                           "[near]\nlink = 1\nswitch = 1\nbandwidth = \"100GB/s\"\nreach = 8\n"
                           "[far]\nlink = 9\nswitch = 9\n"}};

TEST(TrainingChecks, KeepTheLimitsOfTheKindsOfLinks) {
  const auto words = with(with(kWords, "cost_model", "kinds.toml"), "dimension_kinds", "near,far");
  // RI(4) joins 4 NPUs: it may be near, and gets at most 100 GB/s, though the sums of dimension 1 want more. SW(8)
  // joins all 32.
  const auto free = support::row_of(training_point(with(words, "dimension_kinds", "far,far"), kTechnologies), {});
  const auto limited = support::row_of(training_point(words, kTechnologies), {});
  ASSERT_EQ(free.chosen_bandwidth_bytes_per_s.size(), 2U);
  EXPECT_GT(free.chosen_bandwidth_bytes_per_s[0], 100'000'000'000);
  // To a byte per second below the limit, as its total is met exactly.
  EXPECT_LE(limited.chosen_bandwidth_bytes_per_s[0], 100'000'000'000);
  EXPECT_GE(limited.chosen_bandwidth_bytes_per_s[0], 99'999'999'990);
  EXPECT_EQ(limited.chosen_bandwidth_bytes_per_s[0] + limited.chosen_bandwidth_bytes_per_s[1], 300'000'000'000);
  EXPECT_THAT(training_refusal(with(words, "dimension_kinds", "far,near"), kTechnologies),
              HasSubstr("--dimension_kinds: dimension 2 (near) joins 32 NPUs (the kind near of the cost model \"x\" "
                        "reaches 8)"));
  auto given = with(with(words, "scheme", "given"), "npu_bandwidth", "150GB/s");
  std::erase_if(given, [](const auto& each) { return each.first == "total_bandwidth"; });
  EXPECT_THAT(training_refusal(given, kTechnologies), HasSubstr("the kind near has at most 100GB/s per NPU"));
  EXPECT_EQ(training_refusal(with(given, "npu_bandwidth", "100GB/s,150GB/s"), kTechnologies), "");
}

TEST(TrainingChecks, RefuseASetWithAWorkloadThatDoesNotFit) {
  EXPECT_THAT(refusal("optimize_for", "sums.toml HP-(4,8); data.toml HP-(8,4)"),
              HasSubstr("--optimize_for: HP-(8,4) for workload \"tiny\""));
}

}  // namespace
}  // namespace tenex
