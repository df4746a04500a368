// Stragglers: the syntax, and their place in a point's key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "design/design_support.hpp"
#include "tenex/design/stragglers.hpp"

namespace tenex {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Stragglers, AreSortedByKindAndIds) {
  const auto parsed = parse_stragglers("npu 7 delay 5us; link 5-4 x3; npu 3 x2 ;link 4->5 x1.25");
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.errors());
  EXPECT_EQ(to_string(*parsed), "npu 3 x2; link 4-5 x3; link 4->5 x1.25; npu 7 delay 5000000ps");
  EXPECT_TRUE(slows_links(*parsed));
}

TEST(Stragglers, ReadTheirOwnText) {
  const auto parsed = parse_stragglers("npu 3 x2.005; npu 0 delay 1ns");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parse_stragglers(to_string(*parsed)), *parsed);
}

TEST(Stragglers, MayHaveAFactorOfBetaAndOneOfAlpha) {
  const auto parsed =
      parse_stragglers("link 4->5 alpha x3; npu 3 alpha x2.50; link 1-0 alpha x1.5; npu 3 x2; npu 4 x3");
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.errors());
  EXPECT_EQ(to_string(*parsed), "npu 3 x2; npu 3 alpha x2.5; npu 4 x3; link 0-1 alpha x1.5; link 4->5 alpha x3");
  EXPECT_EQ(*parse_stragglers(to_string(*parsed)), *parsed);
  EXPECT_TRUE(slows_links(*parse_stragglers("npu 3 alpha x2")));
}

// 1 % of packets lost: each is sent 1 / 0.99 = 1.0101.. times; with the 64 behind it again, (1 + 64 * 0.01) / 0.99 =
// 1.6565.. times. Factors are rounded up to thousandths.
TEST(Stragglers, MayLosePackets) {
  const auto text = [](std::string_view entry) {
    const auto parsed = parse_stragglers(entry);
    return parsed ? to_string(*parsed) : to_string(parsed.errors());
  };
  EXPECT_EQ(text("link 0-1 loses 1%"), "link 0-1 x1.011");
  EXPECT_EQ(text("link 4->5 loses 1% resending 64"), "link 4->5 x1.657");
  EXPECT_EQ(text("npu 3 loses 50%"), "npu 3 x2");
  EXPECT_EQ(text("npu 3 loses 0%"), "none");
  EXPECT_EQ(text("link 0-1 loses 0.1% from 1us to 2us"), "link 0-1 x1.002 from 1000000ps to 2000000ps");
  EXPECT_THAT(text("link 0-1 loses 100%"), HasSubstr("the share of \"link 0-1 loses 100%\" is out of range"));
  EXPECT_THAT(text("link 0-1 loses 1"), HasSubstr("names no straggler"));
  EXPECT_THAT(text("link 0-1 loses 1% resending"), HasSubstr("names no straggler"));
  EXPECT_THAT(text("link 0-1 alpha loses 1%"), HasSubstr("names no straggler"));
}

TEST(Stragglers, SlowEachLinkOnceForBothFactors) {
  // A link both ways is two slowdowns. One way of it may have factors of its own; the larger ones count.
  const auto slowdowns =
      slowdowns_of(*parse_stragglers("npu 3 x2; npu 3 alpha x2.5; link 0-1 x5; link 0->1 x3; link 0->1 alpha x7"));
  ASSERT_EQ(slowdowns.size(), 3U);
  const auto is = [](const Slowdown& each, std::uint32_t source, std::optional<VertexId> target, std::int64_t beta,
                     std::int64_t alpha) {
    return each.source == VertexId(source) && each.target == target && each.thousandths == beta &&
           each.alpha_thousandths == alpha;
  };
  EXPECT_TRUE(is(slowdowns[0], 3, std::nullopt, 2000, 2500));
  EXPECT_TRUE(is(slowdowns[1], 0, VertexId(1), 5000, 7000));
  EXPECT_TRUE(is(slowdowns[2], 1, VertexId(0), 5000, kNoSlowdown));
}

TEST(Stragglers, ThatAreNoSlowerAreNone) {
  EXPECT_EQ(to_string(*parse_stragglers("npu 3 x1; npu 4 delay 0us; npu 5 alpha x1; npu 6 alpha x1.000")), "none");
  EXPECT_TRUE(parse_stragglers("none")->empty());
  EXPECT_FALSE(slows_links(*parse_stragglers("npu 4 delay 1us")));
}

TEST(Stragglers, RefuseWhatTheyDoNotKnow) {
  for (const auto* text : {"",
                           "npu",
                           "npu x x2",
                           "npu 3 2",
                           "npu 3 x2 x3",
                           "npu 3 x1.2345",
                           "link 0 x2",
                           "link 0-0 x2",
                           "link 0-1 delay 5us",
                           "switch 3 x2",
                           "npu 3 delay 5",
                           "npu 3 x-2",
                           "npu 3 x2;; npu 4 x2",
                           ";",
                           "npu 3 x2;;",
                           "npu 3 delay 1us; npu 3 delay 2us",
                           "npu 3 alpha",
                           "npu 3 alpha 2",
                           "npu 3 alpha x2 x3",
                           "npu 3 x2 alpha",
                           "npu 3 x2 alpha x2",
                           "npu 3 alpha alpha x2",
                           "npu 3 alpha x0.999",
                           "npu 3 alpha x1.0001",
                           "npu 3 alpha x1000000.001",
                           "npu alpha 3 x2",
                           "link 0-1 alpha 5us",
                           "link 0-1 alpha delay 5us",
                           "npu 3 alpha delay 5us",
                           "alpha x2",
                           "npu 3 x2 from 1us",
                           "npu 3 x2 from 1us to",
                           "npu 3 x2 from 1us to 1us",
                           "npu 3 x2 from 2us to 1us",
                           "npu 3 x2 from 1 to 2us",
                           "npu 3 x2 to 2us from 1us",
                           "npu 3 x2 from 1us to 2us x3",
                           "npu 3 alpha x2 from 1us to 2us",
                           "npu 3 delay 2us from 1us to 2us"})
    EXPECT_FALSE(parse_stragglers(text).ok()) << text;
}

TEST(Stragglers, TakeTheLargestOfSeveralFactors) {
  // Both name the links between NPUs 0 and 1, in either order.
  EXPECT_EQ(to_string(*parse_stragglers("link 0-1 x1.5; link 1-0 x3")), "link 0-1 x3");
  EXPECT_EQ(to_string(*parse_stragglers("npu 2 x4; npu 2 x2; npu 2 delay 1ns")), "npu 2 x4; npu 2 delay 1000ps");
  EXPECT_EQ(to_string(*parse_stragglers("npu 2 alpha x4; npu 2 x2; npu 2 alpha x2")), "npu 2 x2; npu 2 alpha x4");
  EXPECT_EQ(to_string(*parse_stragglers("link 0->1 x2; link 1->0 x3")), "link 0->1 x2; link 1->0 x3");
}

// Windows of one subject stand side by side, in order of time, and are no slowdown at all times.
TEST(Stragglers, MayHaveWindows) {
  const auto parsed = parse_stragglers(
      "link 4->5 x3 from 20us to 30us; link 4->5 x3 from 5us to 10us; npu 3 x2.5 from 0us to 1ns; link 5-4 x2 from 1us "
      "to 2us; npu 3 x1 from 1us to 2us; link 4->5 x4 from 5us to 10us");
  ASSERT_TRUE(parsed.ok()) << to_string(parsed.errors());
  EXPECT_EQ(to_string(*parsed),
            "npu 3 x2.5 from 0ps to 1000ps; link 4-5 x2 from 1000000ps to 2000000ps; link 4->5 x4 from 5000000ps to "
            "10000000ps; link 4->5 x3 from 20000000ps to 30000000ps");
  EXPECT_EQ(*parse_stragglers(to_string(*parsed)), *parsed);
  EXPECT_FALSE(slows_links(*parsed));
  EXPECT_TRUE(slowdowns_of(*parsed).empty());
  const auto windows = windows_of(*parsed);
  ASSERT_EQ(windows.size(), 5U);  // that of a link both ways is two
  EXPECT_EQ(windows[0].target, std::nullopt);
  EXPECT_EQ(windows[1].target, VertexId(5));
  EXPECT_EQ(windows[2].target, VertexId(4));
  EXPECT_EQ(windows[3].window, (SlowWindow{microseconds(5), microseconds(10), 4000}));
}

TEST(Stragglers, MayEndInASemicolon) { EXPECT_EQ(to_string(*parse_stragglers("npu 3 x2; ")), "npu 3 x2"); }

TEST(Stragglers, TellAllMistakesAtOnce) {
  const auto parsed = parse_stragglers("npu 3 x2.0001; npu 4 x0.5; npu 5 slow; npu 6 x2");
  ASSERT_FALSE(parsed.ok());
  ASSERT_EQ(parsed.errors().size(), 3U);
  EXPECT_EQ(parsed.errors()[0].problem, "the factor of \"npu 3 x2.0001\" has more than three decimals");
  EXPECT_EQ(parsed.errors()[1].problem, "the factor of \"npu 4 x0.5\" is out of range");
  EXPECT_EQ(parsed.errors()[2].problem, "\"npu 5 slow\" names no straggler");
}

TEST(NewKeys, ChangeTheKeyOnlyWhereTheyAreUsed) {
  const auto plain = study_with("")->points.front();
  EXPECT_EQ(
      study_with("stragglers = \"none\"\norder = \"relative\"\nsimulation_engine = \"auto\"\n")->points.front().key,
      plain.key);
  const auto slow =
      study_with("stragglers = \"npu 3 x2.0\"\norder = \"absolute\"\nalgorithm = \"direct\"\n")->points.front();
  EXPECT_THAT(slow.canonical, HasSubstr("\norder=absolute\n"));
  EXPECT_THAT(slow.canonical, HasSubstr("\nstragglers=npu 3 x2\n"));
  const auto late = study_with("stragglers = \"npu 3 alpha x2; npu 3 x2\"\nalgorithm = \"direct\"\n")->points.front();
  EXPECT_THAT(late.canonical, HasSubstr("\nstragglers=npu 3 x2; npu 3 alpha x2\n"));
}

TEST(NewKeys, HoldOnlyTheRatioOfPriorities) {
  const std::string two = "algorithm = \"pccl\"\ngroups = \"0,1; 2,3\"\n";  // weighs groups, in this vocabulary
  const auto weighed = study_with(two + "priorities = \" 6,2 \"\n");
  ASSERT_TRUE(weighed.ok()) << messages_of(weighed);
  EXPECT_THAT(weighed->points.front().canonical, HasSubstr("\npriorities=3,1\n"));
  EXPECT_EQ(study_with(two + "priorities = \"3,1\"\n")->points.front().key, weighed->points.front().key);
  EXPECT_EQ(study_with(two + "priorities = \"none\"\n")->points.front().key, study_with(two)->points.front().key);
  EXPECT_NE(study_with(two + "priorities = \"1,1\"\n")->points.front().key, study_with(two)->points.front().key);
  // One group has nothing to be weighed against.
  EXPECT_EQ(study_with("algorithm = \"pccl\"\npriorities = \"4\"\n")->points.front().key,
            study_with("algorithm = \"pccl\"\n")->points.front().key);
}

TEST(NewKeys, AreLeftOutWhereNothingReadsThem) {
  // Only direct reads `window`; a synthesizer's schedule is not simulated and addresses no peers.
  EXPECT_THAT(study_with("window = 3\n")->points.front().canonical, Not(HasSubstr("window")));
  EXPECT_THAT(study_with("window = 3\nalgorithm = \"direct\"\n")->points.front().canonical, HasSubstr("window=3"));
  // A ring's NPU has one peer at a time, so there is no order of peers.
  EXPECT_EQ(study_with("algorithm = \"ring\"\norder = \"absolute\"\n")->points.front().key,
            study_with("algorithm = \"ring\"\n")->points.front().key);
  EXPECT_NE(study_with("algorithm = \"direct\"\norder = \"absolute\"\n")->points.front().key,
            study_with("algorithm = \"direct\"\n")->points.front().key);
  const auto synthesized =
      study_with("algorithm = \"tacos\"\norder = \"absolute\"\nsimulation_engine = \"window\"\nwindow = 2\n");
  EXPECT_EQ(synthesized->points.front().key, study_with("algorithm = \"tacos\"\n")->points.front().key);
}

TEST(Outputs, HoldOnlyWhereTheirConditionDoes) {
  const auto study =
      study_with("axes.size = [\"1MiB\", \"2MiB\"]\n[outputs]\nstore = \"utilization\"\nwhere = \"size > 1MiB\"\n");
  ASSERT_TRUE(study.ok()) << messages_of(study);
  EXPECT_EQ(study->store_where, (std::vector<bool>{false, true}));
  EXPECT_EQ(study->outputs.utilization_bins, 100U);
  const auto everywhere = study_with("axes.size = [\"1MiB\", \"2MiB\"]\n[outputs]\nstore = \"utilization\"\n");
  EXPECT_TRUE(everywhere->store_where.empty());
  EXPECT_NE(study->digest, everywhere->digest);
}

}  // namespace

}  // namespace tenex
