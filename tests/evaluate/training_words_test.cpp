// The words of training keys: one spelling for each meaning, and what is refused, where, and why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "evaluate/training_points.hpp"
#include "tenex/files/builtin_files.hpp"

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

std::string word(std::string_view key, std::string_view text) {
  const auto canonical = vocabulary().training_word(key, text, {"s.toml", 3, 10});
  return canonical ? *canonical : to_string(canonical.errors());
}

TEST(TrainingWords, HaveOneSpellingForEachMeaning) {
  EXPECT_EQ(word("hp", "HP-(16,256)"), "16,256");
  EXPECT_EQ(word("hp", " 16, 256, 1, 1"), "16,256");
  EXPECT_EQ(word("hp", "16,64,4,8"), "16,64,4,8");
  EXPECT_EQ(word("compute", "shipped"), "shipped");
  EXPECT_EQ(word("compute", "0.5TFLOPS"), "500000000000");
  EXPECT_EQ(word("in_network", "4, 1,1"), "1,4");
  EXPECT_EQ(word("in_network", "none"), "none");
  EXPECT_EQ(word("split", "8 : 4:2:2"), "4:2:1:1");
  EXPECT_EQ(word("constraints", " B1  + B2=500GB/s ;; B1 >= B2;"), "B1 + B2=500GB/s; B1 >= B2");
  EXPECT_EQ(word("cost_budget", "$15,000,000"), "15000000000000");
  EXPECT_EQ(word("cost_budget", "15MUSD"), "15000000000000");
  EXPECT_EQ(word("dimension_kinds", "node,pod"), "node,pod");
  EXPECT_EQ(word("dimension_kinds", "node , pod"), "node,pod");
  EXPECT_EQ(word("optimize_for", "gpt3 16,256"),
            "s.toml:3:10: \"gpt3 16,256\" says no parallelization (a workload is "
            "laid out as HP-(m,n)) write \"gpt3 HP-(16,256); msft_1t HP-(128,32) "
            "x2\"");
  EXPECT_EQ(word("optimize_for", "gpt3 HP-(16,256);msft_1t HP-(128,32,1)  x2.0"),
            "gpt3 HP-(16,256) x1; msft_1t HP-(128,32) x2");
  for (const std::string_view each : {"no_overlap", "tp_dp_overlap", "astra_sim"})
    EXPECT_EQ(word("training_loop", each), each);
  for (const std::string_view each : {"libra", "libra_derated", "pipeline", "themis", "synthesized"})
    EXPECT_EQ(word("collective_time", each), each);
  for (const std::string_view each : {"given", "equal", "perf_opt", "perf_per_cost"})
    EXPECT_EQ(word("scheme", each), each);
  for (const std::string_view each : {"auto", "libra", "libra_derated"}) EXPECT_EQ(word("optimize_with", each), each);
  for (const std::string_view each : {"none", "links"}) EXPECT_EQ(word("contention", each), each);
  for (const std::string_view each : {"replica", "machine"}) EXPECT_EQ(word("batch_rule", each), each);
  for (const std::string_view each : {"low", "mid", "high"}) EXPECT_EQ(word("price_level", each), each);
}

TEST(TrainingWords, MeanTheSameInTheirCanonicalForm) {
  for (const auto& [key, text] : Words{{"hp", "HP-(16,64,4)"},
                                       {"in_network", "4,1"},
                                       {"split", "8:4"},
                                       {"constraints", "B1 =  2*B2;B1 <= 3GB/s"},
                                       {"dimension_kinds", "node, pod"},
                                       {"optimize_for", "a HP-(1,2); b HP-(3,4) x0.5"}}) {
    const auto once = word(key, text);
    EXPECT_EQ(word(key, once), once) << key;
  }
}

TEST(TrainingWords, AreRefusedWhereTheyAreWrong) {
  EXPECT_THAT(word("hp", "16"), HasSubstr("s.toml:3:10: \"16\" is no parallelization"));
  EXPECT_THAT(word("compute", "234"), HasSubstr("write \"shipped\", or a rate such as \"234TFLOPS\""));
  EXPECT_THAT(word("collective_time", "libra_derate"), HasSubstr("did you mean \"libra_derated\"?"));
  EXPECT_EQ(word("contention", "link"),
            "s.toml:3:10: unknown contention \"link\" (known are none, links) did you mean "
            "\"links\"?");
  EXPECT_EQ(word("in_network", "1, x"),
            "s.toml:3:13: \"x\" is no dimension (dimensions count from 1) write \"none\", "
            "or dimensions such as \"1,4\"");
  EXPECT_EQ(word("split", "4:0:1"),
            "s.toml:3:12: \"0\" is no share of bandwidth (a share is a whole number from 1 to "
            "1e12) write one per dimension: \"4:2:1:1\"");
  // The column of the wrong operator in the second constraint: 10 + 17.
  EXPECT_THAT(word("constraints", "B1 >= 5GB/s; B1 == B2"), HasSubstr("s.toml:3:26: unknown operator \"==\""));
  EXPECT_THAT(word("cost_budget", "15M"), HasSubstr("s.toml:3:10"));
  EXPECT_THAT(word("dimension_kinds", "node, pods"), HasSubstr("s.toml:3:16"));
  EXPECT_THAT(word("optimize_for", "gpt3 HP-(1,2) y2"), HasSubstr("s.toml:3:24: \"y2\" is no weight"));
  EXPECT_THAT(word("optimize_for", "gpt3 HP-(1,2) x0"), HasSubstr("s.toml:3:24: \"x0\" is no weight"));
  EXPECT_THAT(word("optimize_for", "HP-(1,2)"), HasSubstr("names no workload"));
  EXPECT_THAT(word("optimize_for", "gpt3 HP-(1,2"), HasSubstr("says no parallelization"));
  EXPECT_THAT(word("optimize_for", "gpt3 HP-(1,b)"), HasSubstr("s.toml:3:15: \"HP-(1,b)\" is no parallelization"));
  EXPECT_THAT(word("training_loop", "overlap"), HasSubstr("unknown training loop"));
  EXPECT_THAT(word("batch_rule", "global"), HasSubstr("known are replica, machine"));
  EXPECT_THAT(word("scheme", "perf-opt"), HasSubstr("did you mean \"perf_opt\"?"));
  EXPECT_THAT(word("optimize_with", "pipeline"), HasSubstr("known are auto, libra, libra_derated"));
  EXPECT_THAT(word("price_level", "middle"), HasSubstr("low"));
}

TEST(TrainingWords, FindsWhatTenexBringsAlong) {
  const auto words = vocabulary();
  EXPECT_EQ(words.builtin_file("workload", "gpt3"), std::string(*find_builtin(builtin_workloads(), "gpt3")));
  EXPECT_EQ(words.builtin_file("cost_model", "libra"), std::string(*find_builtin(builtin_cost_models(), "libra")));
  EXPECT_EQ(words.builtin_file("workload", "libra"), std::nullopt);
}

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
  EXPECT_THAT(training_refusal(
                  with(with(with(kWords, "in_network", "2"), "collective_time", "pipeline"), "alpha", "1us"), kFiles),
              HasSubstr("--in_network: in-network reduction beside collective_time \"pipeline\""));
  EXPECT_THAT(refusal("dimension_kinds", "node"), HasSubstr("--dimension_kinds"));
  EXPECT_THAT(refusal("dimension_kinds", "node,chiplet"), HasSubstr("--dimension_kinds"));
}

TEST(TrainingChecks, RefuseASetWithAWorkloadThatDoesNotFit) {
  EXPECT_THAT(refusal("optimize_for", "sums.toml HP-(4,8); data.toml HP-(8,4)"),
              HasSubstr("--optimize_for: HP-(8,4) for workload \"tiny\""));
}

}  // namespace
}  // namespace tenex
