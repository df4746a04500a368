// The words of training keys: one spelling for each meaning, and errors with their places and reasons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "design/design_support.hpp"
#include "design/settings/entry.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

/// The canonical form of a key's value (for optimize_for with names instead of digests), or the errors in it.
std::string word(std::string_view key, std::string_view text) {
  const Vocabulary words = test_words();
  FileReader files({}, words);
  ValueContext context{words, files};
  const Place place{"s.toml", 3, 10};
  const Setting& setting = *find_setting(key);
  const auto value = parse_value(setting.key, key, Node::make_string(place, std::string(text), place), context);
  if (!value) return to_string(value.errors());
  DesignPoint point;
  CollectivePoint collective;
  TrainingPoint training;
  setting.set({point, collective, training}, **value);
  const PointView view{point, collective, training, true};
  const auto canonical = setting.key == Key::optimize_for ? setting.text(view) : setting.canonical(view);
  return canonical.empty() ? std::string(*setting.fallback) : canonical;
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
            "s.toml:3:10: \"gpt3 16,256\" has no parallelization (a workload is "
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
                                       {"optimize_for", "gpt3 HP-(1,2); msft_1t HP-(3,4) x0.5"}}) {
    const auto once = word(key, text);
    EXPECT_EQ(word(key, once), once) << key;
  }
}

TEST(TrainingWords, AreRefusedWhereTheyAreWrong) {
  EXPECT_THAT(word("hp", "16"), HasSubstr("s.toml:3:10: \"16\" is no parallelization"));
  EXPECT_THAT(word("compute", "234"), HasSubstr("write \"shipped\", or a rate such as \"234TFLOPS\""));
  EXPECT_THAT(word("collective_time", "libra_derate"), HasSubstr("did you mean \"libra_derated\"?"));
  EXPECT_EQ(word("contention", "link"),
            "s.toml:3:10: unknown contention \"link\" (it is one of none, links) did you mean "
            "\"links\"?");
  EXPECT_EQ(word("in_network", "1, x"),
            "s.toml:3:13: \"x\" is no dimension (dimensions count from 1) write \"none\", "
            "or dimensions such as \"1,4\"");
  EXPECT_EQ(word("split", "4:0:1"),
            "s.toml:3:12: \"0\" is no share of bandwidth (a share is a whole number from 1 to "
            "1e12) write one per dimension: \"4:2:1:1\"");
  // The column of the wrong operator in the second constraint: 10 + 17.
  EXPECT_THAT(word("constraints", "B1 >= 5GB/s; B1 <> B2"), HasSubstr("s.toml:3:26: unknown operator \"<>\""));
  EXPECT_THAT(word("cost_budget", "15M"), HasSubstr("s.toml:3:10"));
  EXPECT_THAT(word("dimension_kinds", "node, Pod"), HasSubstr("s.toml:3:16: \"Pod\" is no dimension kind"));
  EXPECT_THAT(word("optimize_for", "gpt3 HP-(1,2) y2"), HasSubstr("s.toml:3:24: \"y2\" is no weight"));
  EXPECT_THAT(word("optimize_for", "gpt3 HP-(1,2) x0"), HasSubstr("s.toml:3:24: \"x0\" is no weight"));
  EXPECT_THAT(word("optimize_for", "HP-(1,2)"), HasSubstr("names no workload"));
  EXPECT_THAT(word("optimize_for", "gpt3 HP-(1,2"), HasSubstr("has no parallelization"));
  EXPECT_THAT(word("optimize_for", "gpt3 HP-(1,b)"), HasSubstr("s.toml:3:15: \"HP-(1,b)\" is no parallelization"));
  EXPECT_THAT(word("training_loop", "overlap"), HasSubstr("unknown training loop"));
  EXPECT_THAT(word("batch_rule", "global"), HasSubstr("it is one of replica, machine"));
  EXPECT_THAT(word("scheme", "perf-opt"), HasSubstr("did you mean \"perf_opt\"?"));
  EXPECT_THAT(word("optimize_with", "pipeline"), HasSubstr("it is one of auto, libra, libra_derated"));
  EXPECT_THAT(word("price_level", "middle"), HasSubstr("low"));
}

}  // namespace
}  // namespace tenex
