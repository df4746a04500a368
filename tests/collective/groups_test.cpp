// The notation of process groups.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenex/collective/collective.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::vector<std::uint32_t>> members(std::string_view text, std::size_t npus) {
  std::vector<std::vector<std::uint32_t>> lists;
  const auto groups = parse_groups(text, npus).value();
  for (const ProcessGroup& group : groups) {
    auto& list = lists.emplace_back();
    for (const NpuId npu : group.members) list.push_back(npu.value());
  }
  return lists;
}

std::string groups_refusal(std::string_view text, std::size_t npus = 8) {
  const auto groups = parse_groups(text, npus, {"study.toml", 3, 10});
  return groups ? "accepted" : to_string(groups.errors());
}

TEST(Groups, AllIsOneGroupOfEveryone) {
  EXPECT_THAT(members("all", 4), ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(members("  all ", 2), ElementsAre(ElementsAre(0, 1)));
}

TEST(Groups, RangesIncludeBothEnds) {
  EXPECT_THAT(members("0-3; 4-7", 8), ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7)));
  const auto halves = members("0-127; 128-255", 256);
  EXPECT_EQ(halves[0].size(), 128U);
  EXPECT_EQ(halves[1].front(), 128U);
  EXPECT_EQ(halves[1].back(), 255U);
}

TEST(Groups, ListsKeepTheirOrder) {
  EXPECT_THAT(members("0,2,4; 5,3,1", 8), ElementsAre(ElementsAre(0, 2, 4), ElementsAre(5, 3, 1)));
}

TEST(Groups, RangesMayStep) {
  EXPECT_THAT(members("0-6:2; 1-7:2", 8), ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
  EXPECT_THAT(members("6-6:3, 0-3:3", 8), ElementsAre(ElementsAre(6, 0, 3)));
}

TEST(Groups, ItemsMayBeMixed) { EXPECT_THAT(members("7, 0-2 ,4", 8), ElementsAre(ElementsAre(7, 0, 1, 2, 4))); }

TEST(Groups, RefusesNpusThatDoNotExist) {
  // "0-3; " has five letters, so the bad item stands five columns after the text's place.
  EXPECT_THAT(groups_refusal("0-3; 4-8"),
              HasSubstr("study.toml:3:15: NPU 8 does not exist in groups \"0-3; 4-8\" (NPUs are 0 to 7) "
                        "name NPUs below 8, or take a topology with 9 or more"));
  EXPECT_THAT(groups_refusal("0,99999999999999999999"), HasSubstr("does not exist"));
}

TEST(Groups, RefusesNpusThatAreNamedTwice) {
  EXPECT_THAT(groups_refusal("0-3,3-6"), HasSubstr("NPU 3 is named twice"));
  EXPECT_THAT(groups_refusal("1,1"), HasSubstr("NPU 1 is named twice"));
}

TEST(Groups, RefusesGroupsOfFewerThanTwo) {
  EXPECT_THAT(groups_refusal("0-3; 5"), HasSubstr("study.toml:3:15: a group of 1 NPU "));
  EXPECT_THAT(groups_refusal("all", 1), HasSubstr("a group of 1 NPU "));
}

TEST(Groups, RefusesBadRanges) {
  EXPECT_THAT(groups_refusal("3-0"), HasSubstr("the range 3-0 runs backwards"));
  EXPECT_THAT(groups_refusal("3-0"), HasSubstr("write 0-3"));
  EXPECT_THAT(groups_refusal("0-6:4"), HasSubstr("the step 4 from 0 misses 6"));
  EXPECT_THAT(groups_refusal("0-6:4"), HasSubstr("end at 4"));
  EXPECT_THAT(groups_refusal("0-6:0"), HasSubstr("a step of 0"));
}

TEST(Groups, RefusesBrokenSyntax) {
  EXPECT_THAT(groups_refusal(""), HasSubstr("an NPU is missing at the end"));
  EXPECT_THAT(groups_refusal("0-3;"), HasSubstr("an NPU is missing at the end"));
  EXPECT_THAT(groups_refusal("0-3;;4-7"), HasSubstr("\";\" where an NPU belongs"));
  EXPECT_THAT(groups_refusal("0-"), HasSubstr("an NPU is missing at the end"));
  EXPECT_THAT(groups_refusal("0,a"), HasSubstr("study.toml:3:12: \"a\" where an NPU belongs"));
  EXPECT_THAT(groups_refusal("0 1"), HasSubstr("\"1\" is not understood"));
  EXPECT_THAT(groups_refusal("-1,2"), HasSubstr("\"-\" where an NPU belongs"));
  EXPECT_THAT(groups_refusal("All"), HasSubstr("groups are \"all\" or lists"));
}

TEST(Groups, MayShareNpus) {
  const auto groups = parse_groups("0-3; 3-6; all", 8).value();
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[1].members.front(), NpuId(3));
  EXPECT_EQ(groups[2].members.size(), 8U);
}

TEST(Groups, MayHaveACollectiveOfTheirOwn) {
  const auto groups = parse_groups("0-3 all_gather 1MiB; 4-7 2 chunks all_to_all root 3 4MiB; 0,7", 8).value();
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(groups[0].size, Bytes::of(1 << 20));
  EXPECT_EQ(groups[0].chunks, std::nullopt);
  EXPECT_EQ(groups[1].kind, CollectiveKind::all_to_all);
  EXPECT_EQ(groups[1].size, Bytes::of(4 << 20));
  EXPECT_EQ(groups[1].chunks, 2);
  EXPECT_EQ(groups[1].root, 3U);
  EXPECT_EQ(groups[2].kind, std::nullopt);
}

TEST(Groups, RefusesWhatAGroupCannotHaveOfItsOwn) {
  EXPECT_THAT(groups_refusal("0-3 all_gather broadcast"), HasSubstr("study.toml:3:25: \"broadcast\" is one too many"));
  EXPECT_THAT(groups_refusal("0-3 all_gathr"), HasSubstr("did you mean \"all_gather\"?"));
  EXPECT_THAT(groups_refusal("0-3 2"), HasSubstr("write \"2 chunks\""));
  EXPECT_THAT(groups_refusal("0-3 0 chunks"), HasSubstr("0 chunks"));
  EXPECT_THAT(groups_refusal("0-3 1MX"), HasSubstr("1MX"));
  EXPECT_THAT(groups_refusal("0-3 root"), HasSubstr("\"root\" without a rank"));
}

TEST(Groups, ReportsSeveralMistakesAtOnce) { EXPECT_EQ(parse_groups("0-9; 3-1; 4,4", 8).errors().size(), 3U); }

}  // namespace
}  // namespace tenex
