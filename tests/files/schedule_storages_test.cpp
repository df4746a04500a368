// Lists of every storage: a file gives back the sends that it was written of, whatever stored them; its bytes and the
// hash do not tell the storage; and a choice of sends is the filter of the whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <utility>

#include "schedule/schedule_factories.hpp"
#include "schedule/symmetric_factories.hpp"
#include "support/draws.hpp"
#include "support/process.hpp"
#include "support/verdicts.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/storage/block_schedule.hpp"
#include "tenex/schedule/storage/comb_schedule.hpp"
#include "tenex/schedule/storage/grid_schedule.hpp"
#include "tenex/schedule/storage/periodic_schedule.hpp"
#include "tenex/schedule/storage/step_table.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;
using ::testing::HasSubstr;

constexpr Occupancy kOccupancy = Occupancy::transfer;

template <class T>
std::string storage_message(const Result<T>& result) {
  return result.ok() ? "(no error)" : to_string(result.errors());
}

ScheduleFile file_of(Topology topology, Collective collective, Schedule schedule) {
  return {std::move(topology), std::move(collective), kOccupancy, std::move(schedule), "tacos", "physics=1\n"};
}

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

/// Lists that begin at chunk 4 in the second group.
ScheduleFile table_of_groups() {
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
  return file_of(ring, gather, make_step_schedule(std::move(table), ring.links()));
}

ScheduleFile blocks() {
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
  return file_of(line, gather, make_block_schedule(line, std::move(data)));
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

ScheduleFile combs() {
  const auto grid = support::shape("grid(4,3,2)");
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 24, bytes(24 * 2 * 1000), 2);
  const HopTime hop = hop_time(grid.classes()[0], all_reduce.chunk_sizes()[0], kOccupancy);
  return file_of(grid, all_reduce, make_comb_schedule({{4, 3, 2}, hop.busy, hop.latency, {1, 2, 1}, 48}));
}

/// Two NPUs, five trees a period: the sum of a chunk goes from 1 to 0 in one period, its copy back in the next.
ScheduleFile periods() {
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
  return file_of(pair, all_reduce, make_periodic_schedule(std::move(data), pair.links()));
}

ScheduleFile symmetric_gather() {
  const auto torus = support::shape("torus(4,3)");
  const auto gather = gather_of(12, 2);
  return file_of(torus, gather, test::symmetric(torus, gather, test::gather_orbits({torus, gather, kOccupancy})));
}

ScheduleFile symmetric_over_unwound_switches() {
  const auto unwound = unwind_switches(support::shape("RI(4)_SW(5)"), 2).value();
  const auto gather = gather_of(20, 2);
  return file_of(unwound, gather, test::symmetric(unwound, gather, test::gather_orbits({unwound, gather, kOccupancy})));
}

ScheduleFile symmetric_exchange_in_groups() {
  const auto torus = support::shape("torus(4,3)");
  const auto exchange =
      support::collective(CollectiveKind::all_to_all, 12, kibibytes(8), 2, "8,0,4; 1,5,9; 2,6,10; 3,7,11");
  const auto orbits = test::exchange_orbits({torus, exchange, kOccupancy});
  return file_of(torus, exchange, test::symmetric(torus, exchange, orbits));
}

template <class Slot>
ScheduleFile steps(std::int64_t rows) {
  const auto mesh = support::mesh(5, 4);
  const auto gather = gather_of(20, 2);
  return file_of(mesh, gather, table_of<Slot>(mesh, gather, greedy(mesh, gather), rows));
}

struct Case {
  const char* name;
  const char* storage;
  std::function<ScheduleFile()> make;
};

std::vector<Case> cases() {
  return {
      {"narrow_steps", "step_table", [] { return steps<std::uint16_t>(1); }},
      {"wide_steps", "step_table", [] { return steps<std::uint32_t>(1); }},
      {"steps_of_groups", "step_table", table_of_groups},
      {"symmetric", "symmetric", symmetric_gather},
      {"symmetric_unwound", "symmetric", symmetric_over_unwound_switches},
      {"symmetric_groups", "symmetric", symmetric_exchange_in_groups},
      {"blocks", "block", blocks},
      {"views", "sequence", [] { return all_reduce(true); }},
      {"views_of_two", "sequence", [] { return all_reduce(false); }},
      {"grid", "grid", exchange},
      {"combs", "comb", combs},
      {"periods", "periodic", periods},
  };
}

class EveryStorage : public ::testing::TestWithParam<Case> {
 protected:
  TemporaryFolder folder_;
};

TEST_P(EveryStorage, IsReadAsTheSameSends) {
  const auto file = GetParam().make();
  ASSERT_EQ(file.schedule.storage_kind(), GetParam().storage);
  const auto sends = list_sends(file.schedule);
  ASSERT_FALSE(sends.empty());
  for (const auto* name : {"s.h5", "s.json"}) {
    const auto path = folder_.path() / name;
    const auto written = write_schedule_file(path, file, {.threads = 2});
    ASSERT_TRUE(written.ok()) << storage_message(written);
    const auto read = read_schedule_file(path, {2});
    ASSERT_TRUE(read.ok()) << storage_message(read);
    EXPECT_EQ(list_sends(read->schedule), sends);
    EXPECT_EQ(schedule_hash(read->schedule), schedule_hash(file.schedule));
    EXPECT_EQ(read->topology.unwound_shape(), file.topology.unwound_shape());
    const auto verdict = verify({read->topology, read->collective, read->occupancy}, read->schedule);
    EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
  }
}

TEST_P(EveryStorage, DoesNotChangeTheBytes) {
  auto file = GetParam().make();
  for (const auto* name : {"s.h5", "s.json"}) {
    ASSERT_TRUE(write_schedule_file(folder_.path() / name, file, {.threads = 3}).ok());
    const auto bytes = support::read_text(folder_.path() / name);
    file.schedule = make_list_schedule(list_sends(file.schedule));
    ASSERT_TRUE(write_schedule_file(folder_.path() / name, file).ok());
    EXPECT_EQ(support::read_text(folder_.path() / name), bytes);
  }
}

TEST_P(EveryStorage, DoesNotChangeTheHashOfASample) {
  const auto file = GetParam().make();
  auto sends = list_sends(file.schedule);
  const auto list = make_list_schedule(sends);
  for (const std::uint64_t run : {1, 2, 7, 1000})
    EXPECT_EQ(recipe_hash(file.schedule, 1, run), recipe_hash(list, 1, run));
  EXPECT_EQ(recipe_hash(file.schedule), schedule_hash(list));
  sends.front().chunk = ChunkId(sends.front().chunk.value() ^ 1U);  // the first run begins there
  EXPECT_NE(recipe_hash(make_list_schedule(sends), 1, 1), recipe_hash(list, 1, 1));
  sends = list_sends(file.schedule);
  sends.pop_back();  // another number of sends
  EXPECT_NE(recipe_hash(make_list_schedule(sends), 1, 1), recipe_hash(list, 1, 1));
}

TEST_P(EveryStorage, GivesTheSendsOfAChoice) {
  const auto file = GetParam().make();
  const auto sends = list_sends(file.schedule);
  const auto& topology = file.topology;
  std::mt19937 random(static_cast<unsigned>(sends.size()));
  const auto draw = [&](std::size_t end) { return static_cast<std::uint32_t>(random() % end); };
  for (int round = 0; round < support::draws(20, 200); ++round) {
    SendChoice choice;
    if (round % 2 == 0) choice.npus = {NpuId(draw(topology.npus()))};
    if (round % 3 == 0) choice.chunks = {ChunkId(draw(file.collective.chunks()))};
    if (round % 5 != 0) choice.from = sends[draw(sends.size())].start;
    if (round % 7 != 0) choice.before = sends[draw(sends.size())].start + picoseconds(round % 2);
    std::vector<Send> wanted;
    for (const Send& send : sends) {
      const bool near = choice.npus.empty() || topology.source(send.link) == vertex_of(choice.npus[0]) ||
                        topology.target(send.link) == vertex_of(choice.npus[0]);
      if (near && (choice.chunks.empty() || send.chunk == choice.chunks[0]) &&
          (!choice.from || send.start >= *choice.from) && (!choice.before || send.start < *choice.before))
        wanted.push_back(send);
    }
    const auto path = folder_.path() / (round % 4 == 0 ? "part.json" : "part.h5");
    const auto written = write_schedule_file(path, file, {1, choice});
    ASSERT_TRUE(written.ok()) << storage_message(written);
    const auto read = read_schedule_file(path);
    ASSERT_TRUE(read.ok()) << storage_message(read);
    EXPECT_EQ(list_sends(read->schedule), wanted) << choice.text();
    EXPECT_EQ(read->part, choice.text());
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, EveryStorage, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenex
