// Compact schedule files: every storage is read as it was written, views share their bases, damage is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "files/compact_files.hpp"
#include "schedule/schedule_factories.hpp"
#include "schedule/symmetric_factories.hpp"
#include "support/process.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/storage/block_schedule.hpp"
#include "tenex/schedule/storage/step_table.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using compact::file_of;
using compact::kOccupancy;
using compact::message_after;
using compact::message_of;
using compact::round_trip;
using support::TemporaryFolder;
using ::testing::HasSubstr;

Collective gather_of(std::size_t npus, std::int64_t chunks = 1, CollectiveKind kind = CollectiveKind::all_gather) {
  CollectiveRequest request;
  request.kind = kind;
  request.npus = npus;
  request.chunks = chunks;
  request.size = kibibytes(static_cast<std::int64_t>(npus) * chunks);
  return Collective::make(request).value();
}

/// A gather's sends, all of one length and in step, as a step table with `rows` rows per tile.
template <class Slot>
Schedule table_of(const Topology& topology, const Collective& gather, const std::vector<Send>& sends,
                  std::int64_t rows) {
  const SimTime step = hop_time(topology.classes()[0], gather.chunk_sizes()[0], kOccupancy).latency;
  std::int64_t last = 0;
  std::vector<std::map<std::int64_t, std::uint32_t>> brought(topology.links());  // per link: row -> chunk
  for (const Send& send : sends) {
    const auto row = send.start.count() / step.count();
    brought[send.link.index()][row] = send.chunk.value();
    last = std::max(last, row);
  }
  StepTable<Slot> table;
  table.lanes = {{step, step, 0, SimTime::zero()}};
  table.lane_rows.emplace_back();
  for (std::int64_t row = 0; row <= last; row += rows) table.lane_rows[0].push_back(row);
  table.lane_rows[0].push_back(last + 1);
  const auto tiles = table.lane_rows[0].size() - 1;
  const auto npus = topology.npus();
  table.list_begin = {0};
  table.port_begin = {0};
  for (std::size_t npu = 0; npu < npus; ++npu) {
    for (const LinkId link : topology.in_links(VertexId::at(npu))) table.port_link.push_back(link);
    table.port_begin.push_back(static_cast<std::uint32_t>(table.port_link.size()));
    table.list_begin.push_back(table.list_begin.back() + gather.chunks());
    table.own.push_back(static_cast<std::uint32_t>(gather.chunks_per_npu()));
    table.first_chunk.push_back(0);
  }
  table.port_lane.assign(table.port_link.size(), 0);
  table.lists = RawArray<Slot>(npus * gather.chunks());
  for (std::size_t tile = 0; tile < tiles; ++tile) table.counts.emplace_back(table.port_link.size());
  for (std::size_t tile = 0; tile <= tiles; ++tile) table.lengths.emplace_back(npus);
  for (std::size_t npu = 0; npu < npus; ++npu) {
    std::size_t length = 0;
    const auto put = [&](std::size_t chunk) {
      table.lists[table.list_begin[npu] + length++] = static_cast<Slot>(chunk);
    };
    for (std::size_t i = 0; i < table.own[npu]; ++i) put(npu * table.own[npu] + i);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      table.lengths[tile][npu] = static_cast<Slot>(length);
      for (std::size_t port = table.port_begin[npu]; port < table.port_begin[npu + 1]; ++port) {
        // A port that sends in a tile sends from the tile's first row on: this holds for tiles of one row, and for full
        // ones.
        std::uint8_t count = 0;
        const auto& link = brought[table.port_link[port].index()];
        for (auto row = table.lane_rows[0][tile]; row < table.lane_rows[0][tile + 1] && link.contains(row);
             ++row, ++count)
          put(link.at(row));
        table.counts[tile][port] = count;
      }
    }
    table.lengths[tiles][npu] = static_cast<Slot>(length);
  }
  return make_step_schedule(std::move(table), topology.links());
}

std::vector<Send> greedy(const Topology& topology, const Collective& gather, std::uint64_t seed = 1) {
  return test::greedy_gather({topology, gather, kOccupancy}, seed);
}

TEST(CompactSchedules, GiveBackStepTablesOfBothSlots) {
  const auto mesh = support::mesh(5, 4);
  const auto gather = gather_of(20, 2);
  const auto sends = greedy(mesh, gather);
  const auto narrow = file_of(mesh, gather, table_of<std::uint16_t>(mesh, gather, sends, 1));
  const auto wide = file_of(mesh, gather, table_of<std::uint32_t>(mesh, gather, sends, 1));
  // 20 NPUs receive the 38 chunks of others.
  ASSERT_EQ(narrow.schedule.sends(), 760U);
  EXPECT_EQ(schedule_hash(narrow.schedule), schedule_hash(make_list_schedule(sends)));
  EXPECT_LE(round_trip(narrow).schedule.memory_bytes(), narrow.schedule.memory_bytes());
  EXPECT_LE(round_trip(wide, 3).schedule.memory_bytes(), wide.schedule.memory_bytes());
}

TEST(CompactSchedules, GiveBackTablesThatForwardWithinATile) {
  // Around the ring every NPU forwards what it has just received. With 4 rows per tile, most chunks reach their source
  // in the tile in which it sends them on, so they have no place in an earlier tile.
  const auto ring = support::ring(9);
  const auto gather = gather_of(9);
  round_trip(
      file_of(ring, gather, table_of<std::uint16_t>(ring, gather, test::ring_gather({ring, gather, kOccupancy}), 4)));
}

TEST(CompactSchedules, GiveBackTablesInProcessGroups) {
  // Two groups, so that the lists of the second one count from chunk 4 on.
  const auto ring = support::fully_connected(8);
  CollectiveRequest request;
  request.kind = CollectiveKind::all_gather;
  request.npus = 8;
  request.groups = {{{NpuId(0), NpuId(1), NpuId(2), NpuId(3)}}, {{NpuId(4), NpuId(5), NpuId(6), NpuId(7)}}};
  request.size = kibibytes(4);
  const auto gather = Collective::make(request).value();
  const SimTime step = hop_time(ring.classes()[0], gather.chunk_sizes()[0], kOccupancy).latency;
  StepTable<std::uint16_t> table;
  table.lanes = {{step, step, 0, SimTime::zero()}};
  table.lane_rows = {{0, 1}};
  table.list_begin = {0};
  table.port_begin = {0};
  table.lists = RawArray<std::uint16_t>(32);
  table.counts.emplace_back(24);
  table.lengths.emplace_back(8);
  table.lengths.emplace_back(8);
  for (std::uint32_t npu = 0; npu < 8; ++npu) {
    std::size_t at = table.list_begin.back();
    table.lists[at++] = static_cast<std::uint16_t>(npu % 4);
    for (std::uint32_t peer = npu / 4 * 4; peer < npu / 4 * 4 + 4; ++peer) {
      if (peer == npu) continue;
      table.counts[0][table.port_link.size()] = 1;
      table.port_link.push_back(test::link_between(ring, peer, npu));
      table.lists[at++] = static_cast<std::uint16_t>(peer % 4);
    }
    table.list_begin.push_back(at);
    table.port_begin.push_back(static_cast<std::uint32_t>(table.port_link.size()));
    table.own.push_back(1);
    table.first_chunk.push_back(npu / 4 * 4);
    table.lengths[0][npu] = 1;
    table.lengths[1][npu] = 4;
  }
  table.port_lane.assign(24, 0);
  round_trip(file_of(ring, gather, make_step_schedule(std::move(table), ring.links())));
}

TEST(CompactSchedules, GiveBackSymmetricOnes) {
  const auto torus = support::shape("torus(4,3)");
  const auto gather = gather_of(12, 2);
  const auto schedule = test::symmetric(torus, gather, test::gather_orbits({torus, gather, kOccupancy}));
  EXPECT_LE(round_trip(file_of(torus, gather, schedule)).schedule.memory_bytes(), schedule.memory_bytes());
}

TEST(CompactSchedules, GiveBackSymmetricOnesOverUnwoundSwitches) {
  const auto unwound = unwind_switches(support::shape("RI(4)_SW(5)"), 2).value();
  const auto gather = gather_of(20, 2);
  const auto orbits = test::gather_orbits({unwound, gather, kOccupancy});
  const auto read = round_trip(file_of(unwound, gather, test::symmetric(unwound, gather, orbits)));
  EXPECT_EQ(read.topology.unwound_shape(), unwound.unwound_shape());
  EXPECT_EQ(read.schedule.storage_kind(), "symmetric");
}

TEST(CompactSchedules, GiveBackSymmetricAllToAlls) {
  const auto torus = support::shape("RI(4)_FC(3)");
  const auto exchange = gather_of(12, 2, CollectiveKind::all_to_all);
  const auto orbits = test::exchange_orbits({torus, exchange, kOccupancy});
  const auto read = round_trip(file_of(torus, exchange, test::symmetric(torus, exchange, orbits)));
  EXPECT_EQ(list_sends(read.schedule), list_sends(test::expand(torus, exchange, orbits)));
}

TEST(CompactSchedules, GiveBackSymmetricAllToAllsInGroups) {
  const auto torus = support::shape("torus(4,3)");
  const auto exchange =
      support::collective(CollectiveKind::all_to_all, 12, kibibytes(8), 2, "8,0,4; 1,5,9; 2,6,10; 3,7,11");
  const auto orbits = test::exchange_orbits({torus, exchange, kOccupancy});
  const auto read = round_trip(file_of(torus, exchange, test::symmetric(torus, exchange, orbits)));
  EXPECT_EQ(list_sends(read.schedule), list_sends(test::expand(torus, exchange, orbits)));
}

TEST(CompactSchedules, GiveBackBlocks) {
  // line(3) as in the storage's own test: block 0 has the chunks of NPUs 0 and 1, block 1 that of NPU 2.
  const auto line = support::line(3);
  const auto gather = gather_of(3);
  const auto port = [&](std::uint32_t from, std::uint32_t to) {
    const auto in = line.in_links(VertexId(to));
    return static_cast<std::uint32_t>(std::ranges::find(in, test::link_between(line, from, to)) - in.begin());
  };
  BlockSchedule data;
  data.period = hop_time(line.classes()[0], gather.chunk_sizes()[0], kOccupancy).latency;
  data.chunks = {ChunkId(0), ChunkId(1), ChunkId(2)};
  data.block_begin = {0, 2, 3};
  data.stride = 2;
  data.port_bits = 1;
  data.block = RawArray<std::uint16_t>(6);
  data.when = RawArray<std::uint32_t>(6);
  data.entries = {2, 2, 2};
  const auto receive = [&](std::size_t npu, std::uint16_t own, std::uint16_t block, std::uint32_t row,
                           std::uint32_t from) {
    data.block[2 * npu] = own;
    data.block[2 * npu + 1] = block;
    data.when[2 * npu + 1] = row << 1 | port(from, static_cast<std::uint32_t>(npu));
  };
  receive(0, 0, 1, 1, 1);
  receive(1, 0, 1, 0, 2);
  receive(2, 1, 0, 1, 1);
  // Inside block 0, NPU 0 gets chunk 1 as a ramp send and NPU 1 gets chunk 0 as a run.
  data.ramps = {{0, 1, 0}};
  data.ramp_of = {{0, 1}, {0, 0}, {0, 0}};
  data.inner_port.assign(line.links(), 0);
  data.inner_port[0] = static_cast<std::uint16_t>(port(1, 0));
  data.runs = {{0, 0, static_cast<std::uint16_t>(port(0, 1)), 1}};
  data.runs_begin = {0, 0, 1, 1};
  const auto file = file_of(line, gather, make_block_schedule(line, std::move(data)));
  ASSERT_EQ(file.schedule.sends(), 6U);  // 3 NPUs receive 2 chunks each
  round_trip(file);
}

/// The All-Reduce of a mesh: a gather on the reversed mesh, reversed in time, and a gather.
ScheduleFile all_reduce(bool same_base) {
  const auto mesh = support::mesh(4, 3);
  const auto gather = gather_of(12);
  const auto gathered = table_of<std::uint16_t>(mesh, gather, greedy(mesh, gather), 1);
  const auto backwards = mesh.reversed();
  const auto other = table_of<std::uint16_t>(backwards, gather, greedy(backwards, gather, 2), 1);
  std::vector<LinkId> opposite;  // the links of the reversed mesh in the same direction
  for (std::size_t link = 0; link < mesh.links(); ++link)
    opposite.push_back(
        test::link_between(backwards, mesh.source(LinkId::at(link)).value(), mesh.target(LinkId::at(link)).value()));
  const auto base = same_base ? relabelled(gathered, opposite) : other;
  const auto reduction = reversed({mesh, gather, kOccupancy}, base);
  const auto reduce = gather.as(CollectiveKind::all_reduce);
  return file_of(mesh, reduce, then_gather({mesh, reduce, kOccupancy}, reduction, gathered));
}

TEST(CompactSchedules, GiveBackViewsOfViews) {
  const auto file = all_reduce(true);
  ASSERT_EQ(file.schedule.storage_kind(), "sequence");
  // 12 chunks, each to and from 11 others.
  ASSERT_EQ(file.schedule.sends(), 264U);
  round_trip(file);
  round_trip(all_reduce(false), 2);
}

TEST(CompactSchedules, HoldASharedBaseOnce) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_schedule_file(folder.path() / "one.h5", all_reduce(true)).ok());
  ASSERT_TRUE(write_schedule_file(folder.path() / "two.h5", all_reduce(false)).ok());
  // Base, relabelled, reversed, sequence; against two bases, reversed, sequence.
  const auto one = ColumnFileReader::open(folder.path() / "one.h5");
  const auto two = ColumnFileReader::open(folder.path() / "two.h5");
  const auto tables_in = [](const ColumnFileReader& reader) {
    int tables = 0;
    for (const auto* storage : {"/storage/0", "/storage/1", "/storage/2", "/storage/3"})
      tables += reader.text_attribute(storage, "kind").value() == "step_table" ? 1 : 0;
    return tables;
  };
  EXPECT_EQ(tables_in(one.value()), 1);
  EXPECT_EQ(tables_in(two.value()), 2);
}

TEST(CompactSchedules, HaveTheSameBytesForAnyNumberOfThreads) {
  const TemporaryFolder folder;
  std::string first;
  for (const int threads : {1, 2, 4}) {
    ASSERT_TRUE(write_schedule_file(folder.path() / "s.h5", all_reduce(true), {SendLayout::compact, threads}).ok());
    const auto bytes = support::read_text(folder.path() / "s.h5");
    if (first.empty()) first = bytes;
    EXPECT_EQ(bytes, first) << threads;
  }
}

TEST(CompactSchedules, AreWrittenSendBySendOnRequest) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  const auto file = all_reduce(true);
  ASSERT_TRUE(write_schedule_file(path, file, {SendLayout::expanded, 1}).ok());
  const auto reader = ColumnFileReader::open(path).value();
  EXPECT_EQ(reader.integer_attribute("/", "schema").value(), 1);
  EXPECT_EQ(reader.rows("/sends/link").value(), 264U);
  const auto read = read_schedule_file(path);
  ASSERT_TRUE(read.ok()) << message_of(read);
  EXPECT_EQ(read->schedule.storage_kind(), "list");
  EXPECT_EQ(schedule_hash(read->schedule), schedule_hash(file.schedule));
}

TEST(CompactSchedules, AreRefusedWhereverAByteChanges) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  ASSERT_TRUE(write_schedule_file(path, all_reduce(true)).ok());
  const auto whole = support::read_text(path);
  // The last 32 bytes are the checksum: a mark of 16, without which nothing is checked, and two numbers.
  for (std::size_t at = 0; at < whole.size(); at += at + 100 < whole.size() ? 97 : 1) {
    if (whole.size() - 32 <= at && at < whole.size() - 16) continue;
    auto broken = whole;
    broken[at] = static_cast<char>(broken[at] ^ 0x10);
    support::write_text(path, broken);
    EXPECT_THAT(message_of(read_schedule_file(path)), HasSubstr("is damaged")) << at;
  }
}

TEST(CompactSchedules, WithUnsoundTablesAreRefused) {
  const auto mesh = support::mesh(5, 4);
  const auto gather = gather_of(20, 2);
  const auto file = file_of(mesh, gather, table_of<std::uint16_t>(mesh, gather, greedy(mesh, gather), 1));
  const auto after = [&]<class T>(const char* column, std::size_t row, T value) {
    return message_after(file, std::string("/storage/0/") + column, row, value);
  };
  using I64 = std::int64_t;
  using U32 = std::uint32_t;
  EXPECT_THAT(after("lane_period_ps", 0, I64{0}), HasSubstr("(not found once)"));  // as long as the latency
  EXPECT_THAT(after("lane_rows", 0, I64{1}), HasSubstr("first row"));
  EXPECT_THAT(after("lane_rows", 2, I64{1} << 40), HasSubstr("not in order"));
  EXPECT_THAT(after("list_length", 3, U32{39}), HasSubstr("differ in length"));
  EXPECT_THAT(after("list_length", 3, U32{1} << 31), HasSubstr("too long"));
  EXPECT_THAT(after("ports", 0, U32{3}), HasSubstr("differ in length"));
  EXPECT_THAT(after("own", 7, U32{40}), HasSubstr("unknown chunk"));
  EXPECT_THAT(after("owns", 7, U32{41}), HasSubstr("owns more than it holds"));
  EXPECT_THAT(after("port_link", 9, U32{62}), HasSubstr("not in the topology"));
}

TEST(CompactSchedules, WithUnsoundOrbitsOrNamesAreRefused) {
  const auto torus = support::shape("torus(4,3)");
  const auto gather = gather_of(12, 2);
  const auto file =
      file_of(torus, gather, test::symmetric(torus, gather, test::gather_orbits({torus, gather, kOccupancy})));
  EXPECT_THAT(message_after(file, "/storage/0/direction", 2, std::uint32_t{4}),
              HasSubstr("orbit 2 is not one of its group"));
  EXPECT_THAT(message_after(file, "/storage/0/offset", 2, std::uint32_t{12}),
              HasSubstr("orbit 2 is not one of its group"));
  EXPECT_THAT(message_after(file, "/storage/0/number", 2, std::uint32_t{2}),
              HasSubstr("orbit 2 is not one of its group"));
  EXPECT_THAT(message_after(file, "/storage/0/start_ps", 1, std::int64_t{-1} << 62),
              HasSubstr("orbit 1 is not one of its group"));
  const auto exchange = gather_of(12, 2, CollectiveKind::all_to_all);  // 24 chunks per NPU: numbers 0 .. 23
  const auto pairs =
      file_of(torus, exchange, test::symmetric(torus, exchange, test::exchange_orbits({torus, exchange, kOccupancy})));
  EXPECT_THAT(message_after(pairs, "/storage/0/number", 2, std::uint32_t{24}),
              HasSubstr("orbit 2 is not one of its group"));
  const auto rows = support::collective(CollectiveKind::all_to_all, 12, kibibytes(8), 2, "0-3; 4-7; 8-11");
  const auto in_rows =
      file_of(torus, rows, test::symmetric(torus, rows, test::exchange_orbits({torus, rows, kOccupancy})));
  EXPECT_THAT(message_after(in_rows, "/storage/0/number", 2, std::uint32_t{8}),  // for another row
              HasSubstr("orbit 2 is not one of its group"));
  EXPECT_THAT(message_after(all_reduce(true), "/storage/1/links", 0, std::uint32_t{1}), HasSubstr("permutation"));
}

TEST(CompactSchedules, AreRefusedWhenCutOff) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  ASSERT_TRUE(write_schedule_file(path, all_reduce(true)).ok());
  const auto whole = support::read_text(path);
  for (std::size_t part = 0; part < 10; ++part) {
    support::write_text(path, whole.substr(0, whole.size() * part / 10));
    EXPECT_FALSE(read_schedule_file(path).ok()) << part;
  }
}

TEST(CompactSchedules, OfUnknownStoragesAreRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  ASSERT_TRUE(write_schedule_file(path, all_reduce(true)).ok());
  auto bytes = support::read_text(path);
  bytes.resize(bytes.size() - 32);  // without its checksum
  const auto at = bytes.find("relabelled");
  ASSERT_NE(at, std::string::npos);
  support::write_text(path, bytes.replace(at, 10, "relabellex"));
  EXPECT_THAT(message_of(read_schedule_file(path)), HasSubstr("\"relabellex\" is no storage"));
}

}  // namespace
}  // namespace tenex
