// Schedules of other tools on networks of tenex.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "evaluate/points.hpp"
#include "support/process.hpp"
#include "tenex/evaluate/judged_schedule.hpp"

namespace tenex {
namespace {

ForeignTransfer transfer(std::uint32_t from, std::uint32_t to) {
  ForeignTransfer made;
  made.source = NpuId(from);
  made.destination = NpuId(to);
  made.chunks = {ChunkId(from)};
  return made;
}

// Three NPUs in a line at 10 GB/s, and two switches that join the ends at 1 GB/s. What the schedule sends from one end
// to the other, no NPU passes on: 1,000 bytes take three links of 1 us each, though two links over NPU 1 are shorter.
TEST(JudgedSchedule, ATransferPassesSwitchesAlone) {
  const support::TemporaryFolder folder;
  const auto file = (folder.path() / "line.toml").string();
  support::write_text(
      file,
      "schema = 1\nkind = \"machine\"\nname = \"line\"\nsource = \"none\"\nnpus = 3\n[[switches]]\ncount = "
      "2\n[[links]]\nbandwidth = \"10GB/s\"\nalpha = \"0us\"\npairs = [[0, 1], [1, 2]]\n[[links]]\n"
      "bandwidth = \"1GB/s\"\nalpha = \"0us\"\npairs = [[0, 3], [3, 4], [4, 2]]\n");
  const auto point = make_point(
      {{"topology", file}, {"collective", "all_gather"}, {"algorithm", "best"}, {"size", "3000B"}}, vocabulary());
  ASSERT_TRUE(point.ok()) << to_string(point.errors());
  ForeignSchedule schedule;
  schedule.format = "by hand";
  schedule.npus = 3;
  for (std::uint32_t from = 0; from < 3; ++from)
    for (std::uint32_t to = 0; to < 3; ++to)
      if (from != to) schedule.transfers.push_back(transfer(from, to));
  const auto judged = judge_schedule(schedule, *point, {});
  ASSERT_TRUE(judged.ok()) << to_string(judged.errors());
  EXPECT_TRUE(judged->verdict.valid());
  EXPECT_EQ(judged->time, microseconds(3));
}

// Without the switches nothing but NPU 1 joins the ends.
TEST(JudgedSchedule, AWayOverAnNpuIsNoLink) {
  auto point = support::point({{"topology", "LI(3)"}, {"algorithm", "best"}, {"size", "3000B"}});
  ForeignSchedule schedule;
  schedule.npus = 3;
  schedule.transfers = {transfer(0, 2)};
  EXPECT_FALSE(judge_schedule(schedule, point, {}).ok());
  ASSERT_EQ(schedule.wrong.size(), 1U);
  EXPECT_EQ(schedule.wrong.front().wrong, Wrong::no_link);
  EXPECT_THAT(schedule.wrong.front().message, ::testing::HasSubstr("the way leads over NPU 1"));
}

}  // namespace
}  // namespace tenex
