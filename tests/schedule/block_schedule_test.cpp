// The block-expanded storage: every row of every run is read as a send, both in time order and link by link.
#include "tenex/schedule/storage/block_schedule.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "schedule/row_storage.hpp"
#include "support/topologies.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

constexpr SimTime kRow = nanoseconds(10);

/// Blocks of consecutive chunks with these lengths.
BlockSchedule blocks_of(std::size_t npus, const std::vector<std::uint32_t>& lengths, std::uint32_t port_bits) {
  BlockSchedule data;
  data.period = kRow;
  data.block_begin = {0};
  for (const auto length : lengths) {
    for (std::uint32_t i = 0; i < length; ++i) data.chunks.push_back(ChunkId::at(data.chunks.size()));
    data.block_begin.push_back(static_cast<std::uint32_t>(data.chunks.size()));
  }
  data.stride = static_cast<std::uint32_t>(lengths.size());
  data.port_bits = port_bits;
  data.block = RawArray<std::uint16_t>(npus * lengths.size());
  data.when = RawArray<std::uint32_t>(npus * lengths.size());
  data.entries.assign(npus, 1);
  data.runs_begin.assign(npus + 1, 0);
  return data;
}

void receive(BlockSchedule& data, std::size_t npu, std::uint16_t block, std::uint32_t row, std::uint32_t port) {
  const std::size_t at = npu * data.stride + data.entries[npu]++;
  data.block[at] = block;
  data.when[at] = row << data.port_bits | port;
}

/// All sends that read_link() yields, tile by tile and link by link, put into time order.
std::vector<Send> by_links(const Topology& topology, const Schedule& schedule) {
  std::vector<Send> sends;
  SendBuffer buffer;
  for (std::size_t tile = 0; tile < schedule.tiles(); ++tile)
    for (std::size_t link = 0; link < topology.links(); ++link) {
      schedule.read_link(tile, LinkId::at(link), buffer);
      SimTime last = picoseconds(-1);
      for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
        EXPECT_GT(buffer.batch.start_of(i), last);
        last = buffer.batch.start_of(i);
        sends.push_back(buffer.batch[i]);
      }
    }
  return list_sends(make_list_schedule(std::move(sends)));
}

TEST(BlockSchedule, ExpandsRunsIntoSingleSends) {
  // 0 - 1 - 2; links of line(3): 0 = 0->1, 1 = 1->0, 2 = 1->2, 3 = 2->1 in some order, so ports are looked up.
  const Topology line = support::line(3);
  auto data = blocks_of(3, {2, 1}, 1);  // block 0: chunks 0 1 (NPUs 0 and 1), block 1: chunk 2 (NPU 2)
  const auto port = [&](std::uint32_t from, std::uint32_t to) {
    const auto in = line.in_links(VertexId(to));
    for (std::uint32_t p = 0; p < in.size(); ++p)
      if (line.source(in[p]) == VertexId(from)) return p;
    return 99U;
  };
  // NPUs 0 and 1 exchange in row 0; block 0 streams 1->2 in rows 1 and 2; block 1 goes 2->1 in row 0, 1->0 in row 1.
  receive(data, 2, 0, 1, port(1, 2));
  receive(data, 1, 1, 0, port(2, 1));
  receive(data, 0, 1, 1, port(1, 0));
  data.runs = {{0, 1, static_cast<std::uint16_t>(port(1, 0)), 1}, {0, 0, static_cast<std::uint16_t>(port(0, 1)), 1}};
  data.runs_begin = {0, 1, 2, 2};
  const Schedule schedule = make_block_schedule(line, std::move(data));
  // 3 NPUs receive 2 chunks each.
  EXPECT_EQ(schedule.sends(), 6U);
  EXPECT_EQ(schedule.storage_kind(), "block");
  const auto sends = list_sends(schedule);
  ASSERT_EQ(sends.size(), 6U);
  EXPECT_EQ(sends.back().start, kRow * 2);
  EXPECT_EQ(sends.back().chunk, ChunkId(1));
  EXPECT_EQ(line.target(sends.back().link), VertexId(2));
  EXPECT_EQ(by_links(line, schedule), sends);
  EXPECT_EQ(test::sends_by_rows(schedule, line.links()), sends);
}

TEST(BlockSchedule, FindsRunsThatCrossTilesAndSegments) {
  // Two NPUs; NPU 1 receives blocks of 1,000 and 500 chunks in rows 3 .. 1,002 and 1,010 .. 1,509.
  const Topology pair = support::line(2);
  auto data = blocks_of(2, {1, 1'000, 500}, 0);
  receive(data, 1, 1, 3, 0);
  receive(data, 1, 2, 1'010, 0);
  const Schedule schedule = make_block_schedule(pair, std::move(data));
  EXPECT_EQ(schedule.sends(), 1'500U);
  EXPECT_EQ(schedule.tiles(), 6U);  // 1,510 rows in tiles of 256
  const auto sends = list_sends(schedule);
  ASSERT_EQ(sends.size(), 1'500U);
  for (std::uint32_t i = 0; i < 1'500; ++i) {
    ASSERT_EQ(sends[i].chunk, ChunkId(1 + i));
    ASSERT_EQ(sends[i].start, kRow * (i < 1'000 ? 3 + i : 10 + i));
  }
  EXPECT_EQ(by_links(pair, schedule), sends);
  EXPECT_EQ(test::sends_by_rows(schedule, pair.links()), sends);
}

TEST(BlockSchedule, PutsPartsOfBlocksBesideWholeOnes) {
  // Parts before (row 0), between (row 7) and after (row 12) whole blocks on one link come out in order of start.
  const Topology pair = support::line(2);
  auto data = blocks_of(2, {1, 4, 3, 4}, 0);  // chunks 0 | 1..4 | 5..7 | 8..11
  receive(data, 1, 1, 2, 0);                  // rows 2..5
  receive(data, 1, 2, 8, 0);                  // rows 8..10
  data.runs = {{0, 8, 0, 2}, {7, 10, 0, 1}, {12, 11, 0, 1}};
  data.runs_begin = {0, 0, 3};
  const Schedule schedule = make_block_schedule(pair, std::move(data));
  const std::vector<std::pair<int, std::uint32_t>> expected = {{0, 8},  {1, 9}, {2, 1}, {3, 2},  {4, 3},  {5, 4},
                                                               {7, 10}, {8, 5}, {9, 6}, {10, 7}, {12, 11}};
  const auto sends = list_sends(schedule);
  ASSERT_EQ(sends.size(), expected.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    EXPECT_EQ(sends[i].start, kRow * expected[i].first);
    EXPECT_EQ(sends[i].chunk, ChunkId(expected[i].second));
  }
  EXPECT_EQ(by_links(pair, schedule), sends);
  EXPECT_EQ(test::sends_by_rows(schedule, pair.links()), sends);
}

TEST(BlockSchedule, ShowsRunsThatOverlapToTheVerifier) {
  // NPU 1 gets blocks of 300 and 200 chunks on one link, both from row 0 on: 500 sends, 200 of them on a taken link.
  const Topology pair = support::line(2);
  auto data = blocks_of(2, {1, 300, 200}, 0);
  receive(data, 1, 1, 0, 0);
  receive(data, 1, 2, 0, 0);
  const Schedule schedule = make_block_schedule(pair, std::move(data));
  SendBuffer buffer;
  std::size_t sends = 0;
  for (std::size_t tile = 0; tile < schedule.tiles(); ++tile) {
    schedule.read_link(tile, pair.in_links(VertexId(1))[0], buffer);
    sends += buffer.batch.size();
  }
  EXPECT_EQ(sends, 500U);
  EXPECT_EQ(test::sends_by_rows(schedule, pair.links()).size(), 500U);
}

TEST(BlockSchedule, IsEmptyWhenNobodyReceivesAnything) {
  const Schedule schedule = make_block_schedule(support::line(2), blocks_of(2, {2}, 0));
  EXPECT_EQ(schedule.sends(), 0U);
  EXPECT_EQ(schedule.segments(), 0U);
  EXPECT_EQ(schedule.tiles(), 0U);
  EXPECT_TRUE(list_sends(schedule).empty());
}

TEST(BlockSchedule, TakesSixBytesPerWholeBlock) {
  // 2 NPUs and 1,000 blocks: rows of 1,000 entries of 2 + 4 bytes. The rest takes less than a kilobyte and twice 4
  // bytes per chunk.
  auto data = blocks_of(2, std::vector<std::uint32_t>(1'000, 1), 0);
  for (std::uint16_t block = 1; block < 1'000; ++block) receive(data, 1, block, block, 0);
  const Schedule schedule = make_block_schedule(support::line(2), std::move(data));
  EXPECT_GE(schedule.memory_bytes(), 2U * 1'000 * 6);
  EXPECT_LE(schedule.memory_bytes(), 2U * 1'000 * 6 + 4U * 4 * 1'024 + 1'024);
}

}  // namespace
}  // namespace tenex
