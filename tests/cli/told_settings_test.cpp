// What show, status and simulate tell of settings: seeds, defaults of switches and of points that train, sizes, and the
// algorithm where none is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/seeing.hpp"

namespace tenex {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::tenex;

using ToldSettings = testing::Seeing;

TEST_F(ToldSettings, SeedsAreAColumnAndAConditionWhereTheyDiffer) {
  auto text = testing::rings("[\"1KiB\"]");
  text.insert(text.find("[[sweep]]"), "seed = [1, 7]\n");
  ASSERT_EQ(tenex({"run", study(text), "--out", out(), "--quiet"}).exit_code, 0);
  const auto table = tenex({"show", out()});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("  seed  "));
  EXPECT_EQ(tenex({"show", out(), "--where", "seed = 7", "--columns", "seed,size", "--csv"}).out,
            "seed,size\n7,1024\n");
  const auto key = tenex({"show", out(), "--where", "seed = 7", "--columns", "key", "--csv"}).out.substr(4, 12);
  EXPECT_THAT(tenex({"show", out(), key}).out, HasSubstr("\nseed "));
}

TEST_F(ToldSettings, OneSeedIsNoColumn) {
  run_rings();
  EXPECT_THAT(tenex({"show", out()}).out, Not(HasSubstr("seed")));
}

/// A study of All-Gathers on topologies, with further keys.
std::string gathers(const std::string& keys) {
  return "schema = 1\nname = \"told\"\n[[sweep]]\nsize = \"1MiB\"\ncollective = \"all_gather\"\nalgorithm = "
         "\"direct\"\n" +
         keys;
}

TEST_F(ToldSettings, OfSwitchesAreWhatShapesDoByThemselves) {
  const auto links = std::string("alpha = \"1us\"\nbandwidth = \"50GB/s\"\ntopology = \"SW(4)\"\n");
  const auto file = study(gathers(links + "axes.forwarding = [\"store_and_forward\", \"cut_through\"]\n"));
  ASSERT_EQ(tenex({"run", file, "--out", out(), "--quiet"}).exit_code, 0);
  EXPECT_EQ(tenex({"show", out(), "--columns", "forwarding,switch_copy,switch_reduce,switch_buffer", "--csv"}).out,
            "forwarding,switch_copy,switch_reduce,switch_buffer\nstore_and_forward,no,no,unlimited\n"
            "cut_through,no,no,unlimited\n");
  EXPECT_THAT(tenex({"show", out()}).out, AllOf(HasSubstr(" store_and_forward "), Not(HasSubstr("switch_copy"))));
}

// A machine file says what its switches do, which is no difference to a shape.
TEST_F(ToldSettings, OfMachineFilesStandAsBuiltAndAreNoColumn) {
  const auto both = gathers("topology = \"ndv2_2ch_switch\"\n") +
                    "[[sweep]]\nsize = \"1MiB\"\ncollective = \"all_gather\"\nalgorithm = \"direct\"\n"
                    "topology = \"SW(4)\"\nalpha = \"1us\"\nbandwidth = \"50GB/s\"\n";
  ASSERT_EQ(tenex({"run", study(both), "--out", out(), "--quiet"}).exit_code, 0);
  EXPECT_EQ(tenex({"show", out(), "--columns", "forwarding", "--csv"}).out,
            "forwarding\nas_built\nstore_and_forward\n");
  EXPECT_THAT(tenex({"show", out()}).out, AllOf(HasSubstr("topology"), Not(HasSubstr("forwarding"))));
}

TEST_F(ToldSettings, OfTrainingAreColumnsWhereTheyMakeADifference) {
  const auto text = std::string(R"TOML(schema = 1
name = "trains"
[[sweep]]
topology = "RI(4)_SW(4)"
workload = "gpt3"
hp = "HP-(4,4)"
total_bandwidth = "400GB/s"
split = "1:1"
compute = "234TFLOPS"
alpha = "1us"
axes.collective_time = ["libra", "pipeline"]
)TOML");
  ASSERT_EQ(tenex({"run", study(text), "--out", out(), "--quiet"}).exit_code, 0);
  EXPECT_THAT(tenex({"show", out()}).out, AllOf(HasSubstr("collective_time_setting"), Not(HasSubstr("relays")),
                                                Not(HasSubstr("improve")), Not(HasSubstr("occupancy"))));
}

TEST_F(ToldSettings, SizesStandInStatusAsTheStudyWroteThem) {
  const auto ran = tenex({"run", study(testing::rings("[\"1GiB\"]")), "--out", out(), "--quiet"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(tenex({"status", out()}).out, HasSubstr("all_gather ring on RI(4), 1GiB "));
}

TEST(ObservedGroups, HaveTheirTimesWhereNothingElseIsAskedFor) {
  // Group times alone keep no topology. Every NPU sends its share to all others at once: 1 KiB of four, 2 KiB of two.
  const auto observed =
      tenex({"simulate", "--topology", "FC(6)", "--alpha", "0us", "--bandwidth", "1GB/s", "--collective", "all_gather",
             "--size", "4KiB", "--algorithm", "direct", "--groups", "0-3; 4,5", "--observe", "group_times", "--json"});
  ASSERT_EQ(observed.exit_code, 0) << observed.err;
  EXPECT_THAT(observed.out, HasSubstr("\"group_times\":[{\"time_ps\":1024000},{\"time_ps\":2048000}]"));
}

TEST(SimulateWithoutAnAlgorithm, TakesTheFirstThatMakesTheCollective) {
  const auto simulated = [](const char* collective) {
    return testing::text_of(tenex({"simulate", "--topology", "SW(4)", "--alpha", "1us", "--bandwidth", "50GB/s",
                                   "--collective", collective, "--size", "1MiB", "--json"})
                                .out,
                            "algorithm");
  };
  EXPECT_EQ(simulated("all_reduce"), "ring");
  EXPECT_EQ(simulated("all_to_all"), "direct");
  EXPECT_EQ(simulated("broadcast"), "direct");
}

}  // namespace
}  // namespace tenex
