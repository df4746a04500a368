#include "tenex/schedule/storage/step_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "schedule/row_storage.hpp"
namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Send send_of(std::int64_t start, std::uint32_t link, std::uint32_t chunk) {
  return {picoseconds(start), LinkId(link), ChunkId(chunk)};
}

template <class T>
RawArray<T> raw(const std::vector<T>& items) {
  RawArray<T> array(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) array[i] = items[i];
  return array;
}

/// Three NPUs on a ring of five links, of which link 2 is not used. NPU 0 receives over links 0 and 3, NPU 1 over link
/// 1, NPU 2 over link 4. Every NPU starts with one chunk, its own number; chunks are numbered from 10. Rows of 100 ps,
/// in tiles of one and of three rows:
///
///     tile 0: row 0           link 0 brings 2, link 1 brings 0, link 4 brings 1
///     tile 1: rows 1, 2, 3    link 3 brings 1 (row 1), link 1 brings 2 (row 1), link 4 brings 0 (row 1)
///
/// and to show a tile of several rows, NPU 0 also wants 3 and 4: link 0 brings them in rows 1 and 2.
template <class Slot>
StepTable<Slot> small_table() {
  StepTable<Slot> table;
  table.lanes = {{picoseconds(100), picoseconds(100), 1, picoseconds(0)}};
  table.list_begin = {0, 5, 8, 11};
  table.own = {1, 1, 1};
  table.first_chunk = {10, 10, 10};
  table.port_begin = {0, 2, 3, 4};
  table.port_link = {LinkId(0), LinkId(3), LinkId(1), LinkId(4)};
  table.port_lane = {0, 0, 0, 0};
  table.lists = raw<Slot>({0, 2, 3, 4, 1, /**/ 1, 0, 2, /**/ 2, 1, 0});
  table.lane_rows = {{0, 1, 4}};
  table.lengths.push_back(raw<Slot>({1, 1, 1}));
  table.lengths.push_back(raw<Slot>({2, 2, 2}));
  table.lengths.push_back(raw<Slot>({5, 3, 3}));
  table.counts.push_back(raw<std::uint8_t>({1, 0, 1, 1}));
  table.counts.push_back(raw<std::uint8_t>({2, 1, 1, 1}));
  return table;
}

std::vector<Send> read_link(const Schedule& schedule, std::size_t tile, std::uint32_t link) {
  SendBuffer buffer;
  schedule.read_link(tile, LinkId(link), buffer);
  std::vector<Send> sends;
  for (std::size_t i = 0; i < buffer.batch.size(); ++i) sends.push_back(buffer.batch[i]);
  return sends;
}

template <class Slot>
class StepTableOf : public ::testing::Test {};
using Slots = ::testing::Types<std::uint16_t, std::uint32_t>;
TYPED_TEST_SUITE(StepTableOf, Slots);

TYPED_TEST(StepTableOf, YieldsSendsByStartAndThenByLink) {
  const Schedule schedule = make_step_schedule(small_table<TypeParam>(), 5);
  EXPECT_EQ(schedule.storage_kind(), "step_table");
  EXPECT_EQ(schedule.sends(), 8U);
  EXPECT_THAT(list_sends(schedule),
              ElementsAre(send_of(0, 0, 12), send_of(0, 1, 10), send_of(0, 4, 11), send_of(100, 0, 13),
                          send_of(100, 1, 12), send_of(100, 3, 11), send_of(100, 4, 10), send_of(200, 0, 14)));
  EXPECT_EQ(test::sends_by_rows(schedule, 5), list_sends(schedule));
}

TYPED_TEST(StepTableOf, ListsItsLateRowsAsRunsOfTheirOwn) {
  // Rows 0 .. 2, where rows from `early_rows` on start 2 rows later; no rows where they start half a row later.
  for (const std::int64_t early : {0, 1, 2, 3, 9}) {
    auto table = small_table<TypeParam>();
    table.lanes[0].early_rows = early;
    table.lanes[0].late = picoseconds(200);
    const Schedule schedule = make_step_schedule(std::move(table), 5);
    EXPECT_EQ(schedule.row_time(), picoseconds(100));
    EXPECT_EQ(test::sends_by_rows(schedule, 5), list_sends(schedule)) << early;
  }
  auto table = small_table<TypeParam>();
  table.lanes[0].early_rows = 1;
  table.lanes[0].late = picoseconds(50);
  EXPECT_EQ(make_step_schedule(std::move(table), 5).row_time(), SimTime::zero());
}

TYPED_TEST(StepTableOf, YieldsALinksSendsTileByTile) {
  const Schedule schedule = make_step_schedule(small_table<TypeParam>(), 5, 1);
  ASSERT_EQ(schedule.tiles(), 2U);
  EXPECT_THAT(read_link(schedule, 0, 0), ElementsAre(send_of(0, 0, 12)));
  EXPECT_THAT(read_link(schedule, 1, 0), ElementsAre(send_of(100, 0, 13), send_of(200, 0, 14)));
  EXPECT_THAT(read_link(schedule, 0, 3), IsEmpty());
  EXPECT_THAT(read_link(schedule, 1, 3), ElementsAre(send_of(100, 3, 11)));
  EXPECT_THAT(read_link(schedule, 0, 2), IsEmpty());  // no port
}

TEST(StepTable, JoinsTilesForReaders) {
  const Schedule schedule = make_step_schedule(small_table<std::uint16_t>(), 5);
  ASSERT_EQ(schedule.tiles(), 1U);
  EXPECT_THAT(read_link(schedule, 0, 0), ElementsAre(send_of(0, 0, 12), send_of(100, 0, 13), send_of(200, 0, 14)));
  EXPECT_THAT(read_link(schedule, 0, 3), ElementsAre(send_of(100, 3, 11)));
}

TEST(StepTable, FindsSendsInTilesOfManyRows) {
  // One NPU, four ports, 100 rows a tile, two tiles: 400 sends a tile do not fit into a byte.
  StepTable<std::uint16_t> table;
  table.lanes = {{picoseconds(100), picoseconds(100), 1, picoseconds(0)}};
  table.list_begin = {0, 801};
  table.own = {1};
  table.first_chunk = {0};
  table.port_begin = {0, 4};
  table.port_link = {LinkId(0), LinkId(1), LinkId(2), LinkId(3)};
  table.port_lane = {0, 0, 0, 0};
  std::vector<std::uint16_t> list(801);
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<std::uint16_t>(i);
  table.lists = raw(list);
  table.lane_rows = {{0, 100, 200}};
  table.lengths.push_back(raw<std::uint16_t>({1}));
  table.lengths.push_back(raw<std::uint16_t>({401}));
  table.lengths.push_back(raw<std::uint16_t>({801}));
  for (int tile = 0; tile < 2; ++tile) table.counts.push_back(raw<std::uint8_t>({100, 100, 100, 100}));
  const Schedule schedule = make_step_schedule(std::move(table), 4);
  const auto sends = read_link(schedule, 0, 3);
  ASSERT_EQ(sends.size(), 200U);
  EXPECT_EQ(sends[0], send_of(0, 3, 301));         // 1 own, 300 over the other ports
  EXPECT_EQ(sends[100], send_of(10'000, 3, 701));  // 400 sends later
  EXPECT_EQ(test::sends_by_rows(schedule, 4), list_sends(schedule));
}

TEST(StepTable, CountsItsMemoryToTheByte) {
  // Two bytes more per slot and length: 11 slots, 3 * 3 lengths.
  const auto narrow = make_step_schedule(small_table<std::uint16_t>(), 5).memory_bytes();
  const auto wide = make_step_schedule(small_table<std::uint32_t>(), 5).memory_bytes();
  EXPECT_EQ(wide - narrow, 2U * (11 + 9));
}

TEST(StepTable, OfNothingHasNoSegments) {
  StepTable<std::uint16_t> table;
  table.lanes = {{picoseconds(100), picoseconds(100), 1, picoseconds(0)}};
  table.list_begin = {0};
  table.port_begin = {0};
  table.lane_rows = {{0}};
  const Schedule schedule = make_step_schedule(std::move(table), 2);
  EXPECT_EQ(schedule.segments(), 0U);
  EXPECT_EQ(schedule.tiles(), 0U);
  EXPECT_EQ(schedule.sends(), 0U);
}

/// NPU 0 receives over a fast link 0 (rows of 100 ps) and a slow link 1 (rows of 250 ps). Tiles go by arrival: tile 0
/// ends at 200 ps, tile 1 at 400, tile 2 at 600. Fast rows 0, 1 | 2, 3 | 4; slow row 0 arrives at 250 (tile 1), row 1
/// at 500.
Schedule two_lanes() {
  StepTable<std::uint16_t> table;
  table.lanes = {{picoseconds(100), picoseconds(100), 1, picoseconds(0)},
                 {picoseconds(250), picoseconds(250), 1, picoseconds(0)}};
  table.list_begin = {0, 7};
  table.own = {0};
  table.first_chunk = {0};
  table.port_begin = {0, 2};
  table.port_link = {LinkId(0), LinkId(1)};
  table.port_lane = {0, 1};
  table.lists = raw<std::uint16_t>({0, 1, /**/ 2, 3, 4, /**/ 5, 6});
  table.lane_rows = {{0, 2, 4, 6}, {0, 0, 1, 2}};
  table.lengths.push_back(raw<std::uint16_t>({0}));
  table.lengths.push_back(raw<std::uint16_t>({2}));
  table.lengths.push_back(raw<std::uint16_t>({5}));
  table.lengths.push_back(raw<std::uint16_t>({7}));
  table.counts.push_back(raw<std::uint8_t>({2, 0}));
  table.counts.push_back(raw<std::uint8_t>({2, 1}));
  table.counts.push_back(raw<std::uint8_t>({1, 1}));
  return make_step_schedule(std::move(table), 2, 1);
}

TEST(StepTable, MergesLanesOfDifferentSteps) {
  EXPECT_EQ(two_lanes().row_time(), SimTime::zero());
  EXPECT_THAT(list_sends(two_lanes()),
              ElementsAre(send_of(0, 0, 0), send_of(0, 1, 4), send_of(100, 0, 1), send_of(200, 0, 2),
                          send_of(250, 1, 6), send_of(300, 0, 3), send_of(400, 0, 5)));
}

TEST(StepTable, CutsTilesByStartWhateverTheLane) {
  // Fast rows begin the tiles, at 0, 200 and 400 ps: slow row 0 starts in the first, row 1 (at 250) in the second.
  const Schedule schedule = two_lanes();
  EXPECT_THAT(read_link(schedule, 0, 1), ElementsAre(send_of(0, 1, 4)));
  EXPECT_THAT(read_link(schedule, 1, 1), ElementsAre(send_of(250, 1, 6)));
  EXPECT_THAT(read_link(schedule, 2, 1), IsEmpty());
  EXPECT_THAT(read_link(schedule, 1, 0), ElementsAre(send_of(200, 0, 2), send_of(300, 0, 3)));
}

TEST(StepLane, ShiftsItsLateRows) {
  // Rows of 100 ps; from row 2 on 30 ps later: 0, 100, 230, 330. Arrival 150 ps after the start.
  const StepLane lane{picoseconds(100), picoseconds(150), 2, picoseconds(30)};
  EXPECT_EQ(lane.start(1), picoseconds(100));
  EXPECT_EQ(lane.start(2), picoseconds(230));
  EXPECT_EQ(lane.first_row_from(picoseconds(-5)), 0);
  EXPECT_EQ(lane.first_row_from(picoseconds(0)), 0);
  EXPECT_EQ(lane.first_row_from(picoseconds(100)), 1);
  EXPECT_EQ(lane.first_row_from(picoseconds(101)), 2);
  EXPECT_EQ(lane.first_row_from(picoseconds(230)), 2);
  EXPECT_EQ(lane.first_row_from(picoseconds(231)), 3);
  EXPECT_EQ(lane.rows_arrived(picoseconds(149)), 0);  // row 0 arrives at 150, row 1 at 250, row 2 at 380
  EXPECT_EQ(lane.rows_arrived(picoseconds(150)), 1);
  EXPECT_EQ(lane.rows_arrived(picoseconds(379)), 2);
  EXPECT_EQ(lane.rows_arrived(picoseconds(380)), 3);
}

}  // namespace
}  // namespace tenex
