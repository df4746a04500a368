// Compact files of schedules that follow a rule: timetables of grids, combs, periods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "files/compact_files.hpp"
#include "schedule/schedule_factories.hpp"
#include "tenex/schedule/storage/comb_schedule.hpp"
#include "tenex/schedule/storage/grid_schedule.hpp"
#include "tenex/schedule/storage/periodic_schedule.hpp"

namespace tenex {
namespace {

using compact::file_of;
using compact::kOccupancy;
using compact::message_after;
using compact::round_trip;
using ::testing::HasSubstr;

/// The All-to-All of mesh(3,2). In each of two phases, the lines of three exchange one chunk per pair, farthest first
/// (2 slots, 4 hops each way); those of two exchange one or two chunks each way. 2 * 2 * 8 + 2 * 9 hops.
ScheduleFile exchange() {
  const auto mesh = support::mesh(3, 2);
  const auto all_to_all = support::collective(CollectiveKind::all_to_all, 6, bytes(6144));
  const SimTime slot = hop_time(mesh.classes()[0], all_to_all.chunk_sizes()[0], kOccupancy).latency;
  GridSchedule data{{{3, slot}, {2, slot}},
                    1,
                    {SimTime::zero(), slot * 2},
                    {{2, {0, 0}}, {3, {1, 0, 1, 0, 1, 0, 1, 0}}},
                    {1, 1, 0, 0}};
  return file_of(mesh, all_to_all, make_grid_schedule(std::move(data)));
}

TEST(CompactSchedules, GiveBackGrids) {
  const auto file = exchange();
  ASSERT_EQ(file.schedule.sends(), 50U);
  EXPECT_TRUE(round_trip(file).schedule.offers_chunks());
}

TEST(CompactSchedules, WithUnsoundTimetablesAreRefused) {
  const auto file = exchange();
  const auto changed = [&](const std::string& column, std::size_t row, auto value) {
    return message_after(file, "/storage/0/" + column, row, value);
  };
  EXPECT_THAT(changed("size", 0, std::uint32_t{4}), HasSubstr("a timetable is unfit"));
  EXPECT_THAT(changed("slot_ps", 1, std::int64_t{0}), HasSubstr("a dimension is unfit"));
  EXPECT_THAT(changed("slot_ps", 1, std::int64_t{1} << 60), HasSubstr("phases overlap"));
  EXPECT_THAT(changed("phase_begin_ps", 1, std::int64_t{1}), HasSubstr("phases overlap"));
  EXPECT_THAT(changed("phase_begin_ps", 1, std::numeric_limits<std::int64_t>::max()), HasSubstr("too late"));
  EXPECT_THAT(changed("timetable", 3, std::uint32_t{2}), HasSubstr("a timetable is missing"));
  EXPECT_THAT(changed("start", 3, ~std::uint32_t{0}), HasSubstr("too long"));
  // A start that delays one hop: it can be read, and the verifier finds what is wrong.
  EXPECT_EQ(changed("start", 3, std::uint32_t{1}), "(no error)");
}

TEST(CompactSchedules, GiveBackCombs) {
  const auto grid = support::shape("grid(4,3,2)");
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 24, bytes(24 * 2 * 1000), 2);
  const HopTime hop = hop_time(grid.classes()[0], all_reduce.chunk_sizes()[0], kOccupancy);
  const auto file = file_of(grid, all_reduce, make_comb_schedule({{4, 3, 2}, hop.busy, hop.latency, {1, 2, 1}, 48}));
  EXPECT_TRUE(round_trip(file).schedule.tiles() > 0);
  const auto changed = [&](const std::string& column, std::size_t row, auto value) {
    return message_after(file, "/storage/0/" + column, row, value);
  };
  EXPECT_THAT(changed("size", 0, std::uint32_t{1}), HasSubstr("a dimension is unfit"));
  EXPECT_THAT(changed("size", 0, std::uint32_t{5}), HasSubstr("another topology"));
  EXPECT_THAT(changed("rounds", 1, std::uint32_t{3}), HasSubstr("a number of rounds is unfit"));
  EXPECT_THAT(changed("rounds", 0, ~std::uint32_t{0}), HasSubstr("a number of rounds is unfit"));
  // Other rounds: it can be read, and is as valid.
  EXPECT_EQ(changed("rounds", 0, std::uint32_t{2}), "(no error)");
}

TEST(CompactSchedules, GiveBackPeriods) {
  // Two NPUs, five trees a period: the sum of a chunk goes from 1 to 0 in one period, its copy back in the next.
  constexpr std::uint32_t kTrees = 5;
  const auto pair = support::line(2);
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 2, bytes(2 * 6 * 1000), 6);
  const SimTime slot = hop_time(pair.classes()[0], all_reduce.chunk_sizes()[0], kOccupancy).latency;
  const auto from_one = pair.out_links(VertexId(1))[0];
  const auto from_zero = pair.out_links(VertexId(0))[0];
  PeriodicSchedule data{slot * kTrees, kTrees, 12, {}};
  for (std::uint32_t tree = 0; tree < kTrees; ++tree) {
    data.sends.push_back({slot * tree, from_one, ChunkId(tree), Stage::reduce});
    data.sends.push_back({slot * tree + data.period, from_zero, ChunkId(tree), Stage::copy});
  }
  const auto file = file_of(pair, all_reduce, make_periodic_schedule(std::move(data), pair.links()));
  ASSERT_EQ(file.schedule.sends(), 24U);
  EXPECT_TRUE(round_trip(file).schedule.tiles() > 0);
  const auto changed = [&](const std::string& column, std::size_t row, auto value) {
    return message_after(file, "/storage/0/" + column, row, value);
  };
  EXPECT_THAT(changed("link", 0, std::uint32_t{2}), HasSubstr("a link does not exist"));
  EXPECT_THAT(changed("start_ps", 0, slot.count()), HasSubstr("two sends at once"));
  EXPECT_THAT(changed("tree", 1, kTrees), HasSubstr("a tree does not exist"));
  EXPECT_THAT(changed("stage", 0, std::uint8_t{2}), HasSubstr("a stage is unfit"));
  EXPECT_THAT(changed("start_ps", 0, std::int64_t{-1}), HasSubstr("a start is unfit"));
}

}  // namespace
}  // namespace tenex
