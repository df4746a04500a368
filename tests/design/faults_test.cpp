// The notation of faults, their axis, and their place in a point's key.
#include "tenex/design/faults.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "design/design_support.hpp"
#include "tenex/design/point_collective.hpp"

namespace tenex {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The canonical text, or the messages.
std::string read(std::string_view text) {
  const auto parsed = parse_faults(text, {"s", 3, 10});
  return parsed ? to_string(parsed->faults) : to_string(parsed.errors());
}

TEST(FaultNotation, IsSortedByKindAndIds) {
  EXPECT_EQ(read("npu 17, links 1% draw 2"), "links 1% draw 2; npu 17");
  EXPECT_EQ(read("switch 70; npus 2 draw 4 ; npu 3,npu 2; link 9->4; link 5-4; links 3"),
            "link 4-5; link 9->4; links 3 draw 1; npu 2; npu 3; npus 2 draw 4; switch 70");
  EXPECT_EQ(read("links 0.50%; links 0.5% draw 1"), "links 0.5% draw 1");
  EXPECT_EQ(read("links 12.125% draw 3;"), "links 12.125% draw 3");
  EXPECT_EQ(read(" none "), "none");
}

TEST(FaultNotation, ReadsItsOwnText) {
  const auto text = "link 4-5; link 9->4; links 0.025% draw 1; links 3 draw 2; npu 2; npus 1% draw 4; switch 70";
  EXPECT_EQ(read(text), text);
}

TEST(FaultNotation, NamesTheElementsOfANetwork) {
  EXPECT_EQ(read("plane 1; spine 0; leaf 2; nic 7; nic 3; npu 1"), "npu 1; nic 3; nic 7; leaf 2; spine 0; plane 1");
  EXPECT_THAT(read("nic"), HasSubstr("\"nic\" names no fault"));
  EXPECT_THAT(read("each nic"), HasSubstr("\"each\" is several values (one value belongs here)"));
  EXPECT_THAT(read("each box"), HasSubstr("\"each box\" names no fault"));
  EXPECT_THAT(read("each nic; each leaf"), HasSubstr("s:3:20: a second \"each\""));
}

TEST(FaultNotation, DropsWhatTakesNothing) {
  EXPECT_EQ(read("links 0% draw 3"), "none");
  EXPECT_EQ(read("npus 0; npu 1; links 0.000%"), "npu 1");
}

TEST(FaultNotation, RefusesWithLineAndColumn) {
  const std::string examples =
      "(it is for instance link 3->4, link 0-1, npu 17, nic 3, leaf 0, switch 64, links 1% draw 2 or npus 2)";
  EXPECT_EQ(read("npu 1; foo 2"), "s:3:17: \"foo 2\" names no fault " + examples + " separate several with \";\"");
  EXPECT_EQ(read(""), "s:3:10: a fault is missing " + examples);
  EXPECT_EQ(read("npu 1;; npu 2"), "s:3:16: a fault is missing " + examples);
  EXPECT_THAT(read("none; npu 1"), HasSubstr("s:3:10: \"none\" names no fault"));
  EXPECT_THAT(read("npu x"), HasSubstr("s:3:10: \"npu x\" names no fault"));
  EXPECT_THAT(read("npu"), HasSubstr("s:3:10: \"npu\" names no fault"));
  EXPECT_THAT(read("npu 4294967296"), HasSubstr("names no fault"));
  EXPECT_THAT(read("link 3 -> 4"), HasSubstr("s:3:10: \"link 3 -> 4\" names no fault"));
  EXPECT_THAT(read("links 1,5%"), HasSubstr("s:3:18: \"5%\" names no fault"));
  EXPECT_THAT(read("links -1"), HasSubstr("names no fault"));
  EXPECT_EQ(read("link 3->3"), "s:3:15: link 3->3 joins a vertex with itself (a link has two ends)");
  EXPECT_EQ(read("links 100.5%"), "s:3:16: the share 100.5% is out of range (it is from 0% to 100%)");
  EXPECT_EQ(read("links 0.0625%"),
            "s:3:16: the share 0.0625% has more than three decimals (shares are exact, in thousandths) round it");
  EXPECT_EQ(read("npu 3 draw 2"),
            "s:3:16: \"draw\" is one word too many (only links, switch_links and npus are drawn)");
  EXPECT_EQ(read("npu 3 4"), "s:3:16: \"4\" is one word too many (separate several faults with \";\")");
  EXPECT_EQ(read("links 1% drawn 2"),
            "s:3:19: \"drawn\" is not understood (after the amount a draw may follow) write for instance draw 2 or "
            "draw 1..20");
  EXPECT_THAT(read("links 1% draw"), HasSubstr("s:3:19: \"draw\" is not understood"));
  EXPECT_THAT(read("links 1% draw 2 3"), HasSubstr("s:3:26: \"3\" is not understood"));
  EXPECT_EQ(read("links 1% draw 0"),
            "s:3:24: \"0\" is no draw (draws are numbered from 1) write for instance draw 2 or draw 1..20");
  EXPECT_THAT(read("links 1% draw 1.."), HasSubstr("s:3:24: \"1..\" is no draw"));
  EXPECT_EQ(read("links 1% draw 3..1"),
            "s:3:24: the draws 3..1 run backwards (a range is written first..last) write 1..3");
  EXPECT_EQ(read("links 1% draw 1..1000001"),
            "s:3:24: the draws 1..1000001 are too many (an axis has at most 1000000 values)");
  EXPECT_EQ(read("npu 2; links 1% draw 1..3"),
            "s:3:31: a range of draws is several values (one value belongs here) write axes.faults = [...] for an "
            "axis, or one draw");
  // All mistakes at once.
  EXPECT_EQ(parse_faults("npu x; links 101%; link 2-2; npu 1").errors().size(), 3U);
}

TEST(FaultNotation, ExpandsARangeOfDraws) {
  const auto values = parse_fault_values("npu 7, links 1% draw 2..4");
  ASSERT_TRUE(values.ok());
  std::vector<std::string> texts;
  for (const auto& each : *values) texts.push_back(to_string(each.faults));
  EXPECT_THAT(texts, ElementsAre("links 1% draw 2; npu 7", "links 1% draw 3; npu 7", "links 1% draw 4; npu 7"));
  EXPECT_EQ(parse_fault_values("links 1% draw 5..5")->size(), 1U);
  EXPECT_EQ(to_string(parse_fault_values("links 1% draw 1..2, npus 1 draw 1..2", {"s", 1, 1}).errors()),
            "s:1:33: a second range of draws (a value has one at most) write the values one by one");
}

TEST(FaultKey, IsAnAxisWhoseRangesAreSeveralPoints) {
  const auto study = study_with("axes.faults = [\"none\", \"links 25% draw 1..3\", \"npu 2\"]\naxes.chunks = [1, 2]\n");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 10U);
  std::vector<std::string> texts;
  for (const auto& point : study->points) texts.push_back(text_setting(point, "faults"));
  EXPECT_THAT(texts, ElementsAre("none", "none", "links 25% draw 1", "links 25% draw 1", "links 25% draw 2",
                                 "links 25% draw 2", "links 25% draw 3", "links 25% draw 3", "npu 2", "npu 2"));
  EXPECT_THAT(study->points[0].canonical, Not(HasSubstr("faults")));
  EXPECT_THAT(study->points[2].canonical, HasSubstr("\nfaults=links 25% draw 1\n"));
}

/// The points' faults of a sweep on `topology`.
std::vector<std::string> faults_on(const std::string& topology, const std::string& faults) {
  const auto study = parse_study(
      "schema = 1\nname = \"t\"\n[[sweep]]\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\ncollective = \"all_gather\"\n"
      "size = \"1MB\"\nalgorithm = \"ring\"\n" +
          topology + "\n" + faults + "\n",
      "study.toml", test_words());
  if (!study) return {messages_of(study)};
  std::vector<std::string> texts;
  for (const auto& point : study->points) texts.push_back(text_setting(point, "faults"));
  return texts;
}

// SW(2)_SW(3): 6 NPUs with a link to one of 3 box switches and one of 2 rails. NICs are the links to the rails.
TEST(FaultKey, OfEachElementIsAnAxis) {
  const std::string rails = "topology = \"SW(2)_SW(3)\"";
  EXPECT_THAT(faults_on(rails, "faults = \"each nic\""),
              ElementsAre("nic 0", "nic 1", "nic 2", "nic 3", "nic 4", "nic 5"));
  EXPECT_THAT(faults_on(rails, "axes.faults = [\"none\", \"each leaf; npu 1\", \"each plane\"]"),
              ElementsAre("none", "npu 1; leaf 0", "npu 1; leaf 1", "plane 0", "plane 1"));
  EXPECT_THAT(faults_on(rails, "zip.faults = [\"each leaf\", \"none\"]\nzip.chunks = [1, 2]"),
              ElementsAre("leaf 0", "leaf 1", "none"));
  EXPECT_THAT(faults_on("axes.topology = [\"RI(3)\", \"LI(3)\"]", "faults = \"each npu\""),
              ElementsAre("npu 0", "npu 1", "npu 2", "npu 0", "npu 1", "npu 2"));
  // Each pair of vertices with a link, once.
  EXPECT_THAT(faults_on("topology = \"LI(2)_LI(2)\"", "faults = \"each link\""),
              ElementsAre("link 0-1", "link 0-2", "link 1-3", "link 2-3"));
  EXPECT_THAT(faults_on("topology = \"SW(2)\"", "faults = \"each link\""), ElementsAre("link 0-2", "link 1-2"));
}

TEST(FaultKey, OfEachElementNeedsNetworksWithAsMany) {
  EXPECT_THAT(faults_on("topology = \"RI(4)\"", "faults = \"each nic\""),
              ElementsAre(HasSubstr("study.toml:10:11: no nic in \"RI(4)\"")));
  EXPECT_THAT(faults_on("axes.topology = [\"SW(2)_SW(3)\", \"SW(8)\"]", "faults = \"each nic\""),
              ElementsAre(HasSubstr("\"SW(2)_SW(3)\" has 6 of \"each nic\", \"SW(8)\" has 8")));
  EXPECT_THAT(faults_on("axes.topology = [\"LI(2)_LI(2)\", \"RI(4)\"]", "faults = \"each link\""),
              ElementsAre(HasSubstr("\"LI(2)_LI(2)\" has 4 of \"each link\", \"RI(4)\" has 4 others")));
  EXPECT_THAT(faults_on("topology = \"SW(2)_SW(3)\"", "faults = \"nic 6\""),
              ElementsAre(HasSubstr("nic 6 does not exist in \"SW(2)_SW(3)\" (they are 0 to 5)")));
}

TEST(FaultKey, AdvancesInAZip) {
  const auto study = study_with("zip.faults = [\"links 25% draw 1..2\", \"none\"]\nzip.chunks = [1, 2, 3]\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->points.size(), 3U);
  EXPECT_EQ(text_setting(study->points[1], "faults"), "links 25% draw 2");
}

TEST(FaultKey, OfNothingIsNone) {
  const auto study = study_with("axes.faults = [\"none\", \"links 0% draw 1..5\"]\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->points.size(), 1U);
}

TEST(FaultKey, IsComparedAsText) {
  const auto study = study_with(
      "axes.faults = [\"none\", \"links 25% draw 1..3\"]\nkeep = \"faults = none or faults = 'links 25% draw 2'\"\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->points.size(), 2U);
}

TEST(FaultKey, RefusesARangeWhereOneValueBelongs) {
  EXPECT_EQ(messages_of(study_with("faults = \"links 1% draw 1..3\"\n")),
            "study.toml:11:25: a range of draws is several values (one value belongs here) write axes.faults = [...] "
            "for an axis, or one draw");
  EXPECT_THAT(messages_of(study_with("faults = [\"none\"]\n")), HasSubstr("write axes.faults for an axis"));
}

TEST(FaultKey, RefusesWhatTheShapeDoesNotHave) {
  EXPECT_EQ(messages_of(study_with("faults = \"npu 1; link 0->2\"\n")),
            "study.toml:11:18: no link leads from 0 to 2 in \"RI(4)\" (only what exists can fail) 0 has links with 1, "
            "3");
  EXPECT_EQ(messages_of(study_with("axes.faults = [\"none\", \"npu 4\"]\n")),
            "study.toml:11:25: NPU 4 does not exist in \"RI(4)\" (NPUs are 0 to 3) leave such rows out with keep = "
            "\"faults = none or topology != 'RI(4)'\"");
  EXPECT_THAT(messages_of(study_with("faults = \"links 5\"\n")),
              HasSubstr("study.toml:11:11: 5 link pairs cannot fail in \"RI(4)\" (there are 4)"));
  EXPECT_THAT(messages_of(study_with("faults = \"switch 4\"\n")), HasSubstr("(there is no switch)"));
  // `without` comes first.
  EXPECT_THAT(messages_of(study_with("without = [[0, 1]]\nfaults = \"link 0-1\"\n")),
              HasSubstr("study.toml:12:11: no link joins 0 and 1"));
  // What faults do is a result: this cut is none of the text.
  EXPECT_EQ(messages_of(study_with("faults = \"links 100%\"\n")), "");
}

TEST(FaultKey, RefusesAFailedNpuInANamedGroup) {
  EXPECT_EQ(messages_of(study_with("faults = \"npu 2\"\ngroups = \"0-2\"\n")),
            "study.toml:11:11: the failed NPU 2 is in a process group (only `all` stands for the NPUs that are left) "
            "leave it out of the group");
  EXPECT_EQ(messages_of(study_with("faults = \"npu 3\"\ngroups = \"0-2\"\n")), "");
  EXPECT_EQ(messages_of(study_with("faults = \"npu 3\"\ngroups = \"0-3\"\n")), "");  // that is `all`
}

TEST(FaultKey, IsForCollectivesOnly) {
  EXPECT_THAT(refusal_of({{"faults", "npu 2"}}),
              HasSubstr("a parallelization is laid over the dimensions of a whole shape"));
}

TEST(FaultKey, LeavesTheSurvivorsAsAll) {
  const auto study = study_with("axes.faults = [\"npu 2\", \"npus 3\", \"npus 2 draw 3\"]\n");
  ASSERT_EQ(messages_of(study), "");
  const auto request = collective_request(study->points[0], 4);
  ASSERT_TRUE(request.ok());
  EXPECT_THAT(request->groups[0].members, ElementsAre(NpuId(0), NpuId(1), NpuId(3)));
  EXPECT_EQ(to_string(collective_request(study->points[1], 4).errors()),
            "3 of 4 NPUs have failed (a collective has at least two NPUs)");
  EXPECT_EQ(collective_request(study->points[2], 4)->groups[0].members.size(), 2U);
}

TEST(FaultKey, OfADrawRefusesANamedGroupInItsRow) {
  const auto study = study_with("faults = \"npus 100%\"\ngroups = \"0-1\"\n");
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(to_string(collective_request(study->points[0], 4).errors()),
            "a process group has lost NPUs 0, 1 (only `all` stands for the NPUs that are left) choose another draw, or "
            "groups = all");
}

}  // namespace
}  // namespace tenex
