// Breaks valid schedules that are checked by rows or by periods, and compares the verdicts with a naive reading of the
// definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "schedule/mutations.hpp"
#include "schedule/naive_oracle.hpp"
#include "schedule/row_storage.hpp"
#include "tenex/schedule/storage/block_schedule.hpp"
#include "tenex/schedule/storage/comb_schedule.hpp"
#include "tenex/schedule/storage/periodic_schedule.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using test::Case;
using test::describe;

/// A pipeline along a line: chunk c leaves NPU v in row c + v (reductions towards the root before, if any). Its links'
/// runs are as long as there are chunks.
Case pipeline(CollectiveKind kind, std::uint32_t npus, std::uint32_t chunks) {
  Case made{"pipeline of " + std::string(to_string(kind)),
            support::line(npus),
            support::collective(kind, npus, bytes(1000) * std::int64_t{chunks}, chunks),
            Occupancy::transfer,
            {}};
  const SimTime row = hop_time(made.topology.classes()[0], made.collective.chunk_sizes()[0], made.occupancy).busy;
  const std::uint32_t last = npus - 1;
  for (std::uint32_t c = 0; c < chunks; ++c)
    for (std::uint32_t v = 0; v < last; ++v) {
      const bool reduction = kind == CollectiveKind::reduce;
      const std::uint32_t from = reduction ? last - v : v;
      const LinkId link = test::link_between(made.topology, from, reduction ? from - 1 : from + 1);
      made.sends.push_back({row * std::int64_t{c + v}, link, ChunkId(c), reduction ? Stage::reduce : Stage::copy});
    }
  return made;
}

/// Cases that rows can describe: one group, chunks of one size, no switches.
std::vector<Case> row_cases() {
  auto all = test::cases();
  std::erase_if(
      all, [](const Case& given) { return given.topology.switches() > 0 || given.collective.groups().size() > 1; });
  all.push_back(pipeline(CollectiveKind::broadcast, 3, 20));
  all.push_back(pipeline(CollectiveKind::reduce, 3, 20));
  using enum CollectiveKind;
  all.push_back(test::greedy_case("ring gather of many", support::ring(3),
                                  support::collective(all_gather, 3, bytes(24'000), 8), Occupancy::transfer, 12));
  all.push_back(test::greedy_case("line all-reduce of many", support::line(3),
                                  support::collective(all_reduce, 3, bytes(24'000), 8), Occupancy::serialization, 13));
  return all;
}

/// The chunks in an order of their own: rotated, or turned round; or none.
std::vector<ChunkId> some_places(std::size_t chunks, Random& random) {
  std::vector<ChunkId> places(chunks);
  for (std::size_t c = 0; c < chunks; ++c) places[c] = ChunkId::at(c);
  const std::uint32_t kind = random.below(4);
  if (kind == 0) return {};
  if (kind == 1) std::reverse(places.begin(), places.end());
  if (kind == 2)
    std::rotate(places.begin(), places.begin() + random.below(static_cast<std::uint32_t>(chunks)), places.end());
  return places;
}

TEST(FastCheckMutations, AreJudgedByRowsAsTheDefinitionJudgesThem) {
  const auto originals = row_cases();
  Random random(4711);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::size_t round = 0; round < 500; ++round) {
    const Case& original = originals[round % originals.size()];
    const auto sends = round < originals.size() ? original.sends : test::mutate(original, random);
    const Instance instance{original.topology, original.collective, original.occupancy};
    const auto storage =
        std::make_shared<const test::RowStorage>(sends, some_places(original.collective.chunks(), random));
    const std::string where = original.name + ", mutation " + std::to_string(round);
    VerifyOptions options;
    options.threads = round % 10 == 0 ? 2 : 1;
    const Verdict verdict = verify(instance, Schedule(storage), options);
    const bool by_rows = storage->other_reads() == 0;
    const Schedule list = make_list_schedule(sends);
    test::expect_equal(verdict, verify(instance, list), where);
    const auto oracle = test::NaiveOracle(instance, list).answer();
    EXPECT_EQ(verdict.valid(), oracle.valid) << where << ": " << describe(verdict);
    if (round < originals.size() && original.name != "recursive doubling" && original.topology.classes().size() == 1) {
      EXPECT_TRUE(by_rows) << where;
    }
    if (oracle.valid && verdict.valid()) {
      EXPECT_EQ(verdict.collective_time, oracle.collective_time) << where;
      EXPECT_EQ(verdict.waste, oracle.waste) << where;
    }
    ++(by_rows ? accepted : refused);
  }
  EXPECT_GT(accepted, 50U);
  EXPECT_GT(refused, 200U);
}

TEST(FastCheckMutations, OfPlacesThatAreNotAllChunksAreNotReadByRows) {
  const Case given = pipeline(CollectiveKind::broadcast, 3, 10);
  const Instance instance{given.topology, given.collective, given.occupancy};
  std::vector<ChunkId> places(10);
  for (std::size_t c = 0; c < 10; ++c) places[c] = ChunkId::at(9 - c);
  for (const std::uint32_t wrong : {3U, 10U}) {  // twice chunk 3, and a chunk that does not exist
    auto broken = places;
    broken[0] = ChunkId(wrong);
    const auto storage = std::make_shared<const test::RowStorage>(given.sends, broken);
    EXPECT_TRUE(verify(instance, Schedule(storage)).valid());
    EXPECT_GT(storage->other_reads(), 0U);
  }
}

/// A periodic schedule, the collective of its chunks, and what it is valid on.
struct PeriodicCase {
  std::string name;
  Topology topology;
  Collective collective;
  Occupancy occupancy;
  PeriodicSchedule data;
};

/// Plays a valid schedule of a few chunks again and again, once in a period that is as short as it can be or longer.
PeriodicCase repeated(std::string name, const Topology& topology, CollectiveKind kind, std::uint32_t trees,
                      std::uint32_t chunks, std::uint64_t seed, std::int64_t slack = 0) {
  const auto npus = static_cast<std::uint32_t>(topology.npus());
  const bool rooted = kind != CollectiveKind::all_reduce;
  const auto make = [&](std::uint32_t count) {
    return support::collective(kind, npus, bytes(1000) * std::int64_t{count}, rooted ? count : count / npus);
  };
  const Collective first = make(trees);
  PeriodicCase made{std::move(name), topology, make(chunks), Occupancy::transfer, {}};
  const Instance instance{topology, first, made.occupancy};
  made.data.sends = list_sends(test::greedy_schedule(instance, seed));
  made.data.trees = trees;
  made.data.chunks = chunks;
  const SimTime hop = hop_time(topology.classes()[0], first.chunk_sizes()[0], made.occupancy).busy;
  const SimTime whole = last_arrival(instance, make_list_schedule(made.data.sends));
  for (made.data.period = hop; made.data.period <= whole; made.data.period += hop) {
    if (!periodic_problem(made.data, topology.links()).empty()) continue;
    const Schedule schedule = make_periodic_schedule(made.data, topology.links());
    if (test::NaiveOracle({topology, made.collective, made.occupancy}, schedule).answer().valid) break;
  }
  made.data.period += hop * slack;
  return made;
}

std::vector<PeriodicCase> periodic_cases() {
  using enum CollectiveKind;
  std::vector<PeriodicCase> all;
  all.push_back(repeated("ring all-reduce", support::ring(3), all_reduce, 3, 9, 1));
  all.push_back(repeated("line all-reduce with an odd end", support::line(3), all_reduce, 6, 15, 2));
  all.push_back(repeated("mesh broadcast", support::mesh(3, 2), broadcast, 2, 7, 3));
  all.push_back(repeated("ring reduce", support::ring(4), reduce, 3, 8, 4));
  all.push_back(repeated("line reduce with pauses", support::line(3), reduce, 2, 6, 5, 9));
  return all;
}

/// One random change to the sends of a period, or to its length.
PeriodicSchedule mutate(const PeriodicCase& original, Random& random) {
  PeriodicSchedule data = original.data;
  auto& send = test::any_of(data.sends, random);
  auto& other = test::any_of(data.sends, random);
  const SimTime hop =
      hop_time(original.topology.classes()[0], original.collective.chunk_sizes()[0], original.occupancy).busy;
  const SimTime shift = random.below(2) == 0 ? hop : SimTime::of(1);
  switch (random.below(10)) {
    case 0:
      send.start -= shift;
      break;
    case 1:
      send.start += shift;
      break;
    case 2:
      send.chunk = ChunkId(random.below(data.trees));
      break;
    case 3:
      send.link = LinkId(random.below(static_cast<std::uint32_t>(original.topology.links())));
      break;
    case 4:
      data.sends.erase(data.sends.begin() + (&send - data.sends.data()));
      break;
    case 5: {
      Send again = send;
      again.start += hop * std::int64_t{1 + random.below(20)};
      data.sends.push_back(again);
      break;
    }
    case 6:
      std::swap(send.start, other.start);
      break;
    case 7:
      std::swap(send.chunk, other.chunk);
      break;
    case 8:
      send.stage = send.stage == Stage::copy ? Stage::reduce : Stage::copy;
      break;
    default:
      data.period += random.below(2) == 0 ? shift : -1 * shift;
      break;
  }
  return data;
}

TEST(FastCheckMutations, AreJudgedByPeriodsAsTheDefinitionJudgesThem) {
  const auto originals = periodic_cases();
  Random random(815);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::size_t round = 0; round < 800; ++round) {
    const PeriodicCase& original = originals[round % originals.size()];
    const PeriodicSchedule data = round < originals.size() ? original.data : mutate(original, random);
    if (!periodic_problem(data, original.topology.links()).empty()) continue;
    const Instance instance{original.topology, original.collective, original.occupancy};
    const Schedule schedule = make_periodic_schedule(data, original.topology.links());
    const std::string where = original.name + ", mutation " + std::to_string(round);
    const Verdict verdict = verify(instance, schedule);
    const Schedule list = make_list_schedule(list_sends(schedule));
    test::expect_equal(verdict, verify(instance, list), where);
    const auto oracle = test::NaiveOracle(instance, list).answer();
    EXPECT_EQ(verdict.valid(), oracle.valid) << where << ": " << describe(verdict);
    if (oracle.valid && verdict.valid()) {
      EXPECT_EQ(verdict.collective_time, oracle.collective_time) << where;
      EXPECT_EQ(verdict.waste, oracle.waste) << where;
    }
    ++(oracle.valid ? accepted : refused);
  }
  EXPECT_GT(accepted, 30U);
  EXPECT_GT(refused, 300U);
}

TEST(FastCheckMutations, EveryDeliveryThatComesTwiceIsFound) {
  // A second delivery of a sum counts contributions twice, even where it goes to the root and disturbs nobody.
  std::size_t valid = 0;
  std::size_t twice = 0;
  for (const auto& original : periodic_cases()) {
    const Instance instance{original.topology, original.collective, original.occupancy};
    const SimTime hop =
        hop_time(original.topology.classes()[0], original.collective.chunk_sizes()[0], original.occupancy).busy;
    for (std::size_t i = 0; i < original.data.sends.size(); ++i)
      for (std::int64_t later = 1; later < 8; ++later) {
        PeriodicSchedule data = original.data;
        data.sends.push_back(data.sends[i]);
        data.sends.back().start += hop * later;
        if (!periodic_problem(data, original.topology.links()).empty()) continue;
        const Schedule schedule = make_periodic_schedule(data, original.topology.links());
        const auto oracle = test::NaiveOracle(instance, make_list_schedule(list_sends(schedule))).answer();
        EXPECT_EQ(verify(instance, schedule).valid(), oracle.valid) << original.name << ", " << i << ", " << later;
        ++(oracle.valid ? valid : twice);
      }
  }
  EXPECT_GT(valid, 5U);  // copies that come twice are waste
  EXPECT_GT(twice, 20U);
}

TEST(FastCheckMutations, EveryCopyThatLeavesTooEarlyIsFoundBesideOneInTime) {
  std::size_t refused = 0;
  for (const auto& original : row_cases()) {
    if (original.collective.kind() != CollectiveKind::all_reduce) continue;
    const Instance instance{original.topology, original.collective, original.occupancy};
    const SimTime hop =
        hop_time(original.topology.classes()[0], original.collective.chunk_sizes()[0], original.occupancy).busy;
    for (const Send& send : original.sends)
      for (std::int64_t earlier = 1; earlier < 6; ++earlier) {
        auto sends = original.sends;
        sends.push_back(send);
        sends.back().start -= hop * earlier;
        if (send.stage != Stage::copy || sends.back().start < SimTime::zero()) continue;
        const auto storage = std::make_shared<const test::RowStorage>(sends, std::vector<ChunkId>());
        const bool valid = test::NaiveOracle(instance, make_list_schedule(sends)).answer().valid;
        EXPECT_EQ(verify(instance, Schedule(storage)).valid(), valid) << original.name;
        refused += valid ? 0 : 1;
      }
  }
  EXPECT_GT(refused, 50U);
}

TEST(FastCheckMutations, APlaceCannotStandForTheChunkOfAnother) {
  // Chunk 1 is sent at the places of chunks 1 and 2: every place arrives, and chunk 2 never does.
  const Topology pair = support::line(2);
  const Collective broadcast = support::collective(CollectiveKind::broadcast, 2, bytes(4000), 4);
  for (const std::uint32_t second : {2U, 1U}) {
    BlockSchedule data;
    data.period = hop_time(pair.classes()[0], broadcast.chunk_sizes()[0], Occupancy::transfer).busy;
    data.chunks = {ChunkId(0), ChunkId(1), ChunkId(second), ChunkId(3)};
    data.block_begin = {0, 0, 4};
    data.stride = 2;
    data.block = RawArray<std::uint16_t>(4);
    data.when = RawArray<std::uint32_t>(4);
    data.entries = {1, 2};
    data.block[3] = 1;
    data.when[3] = 0;
    data.runs_begin = {0, 0, 0};
    const Verdict verdict = verify({pair, broadcast, Occupancy::transfer}, make_block_schedule(pair, std::move(data)));
    EXPECT_EQ(verdict.valid(), second == 2);
    EXPECT_EQ(verdict.sends, 4U);
  }
}

/// Timetables of combs whose times do not fit the topology: slots that are too short let sends overlap, and waves that
/// move too fast leave before their chunk arrives.
TEST(FastCheckMutations, OfCombsAreJudgedAsTheDefinitionJudgesThem) {
  const Topology mesh = support::mesh(3, 3);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (const std::int64_t chunks_per_npu : {1, 2}) {
    const auto all_reduce = support::collective(CollectiveKind::all_reduce, 9, bytes(9000) * chunks_per_npu,
                                                static_cast<std::uint32_t>(chunks_per_npu));
    const SimTime hop = hop_time(mesh.classes()[0], all_reduce.chunk_sizes()[0], Occupancy::transfer).busy;
    const CombSchedule right{{3, 3}, hop, hop, {1, 1}, static_cast<std::uint64_t>(9 * chunks_per_npu)};
    std::vector<CombSchedule> all(6, right);
    all[1].slot -= SimTime::of(1);
    all[2].lag -= SimTime::of(1);
    all[3].slot = all[3].lag = hop - SimTime::of(1);
    all[4].lag += hop;
    all[5].chunks -= 1;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!comb_problem(all[i]).empty()) continue;
      const Instance instance{mesh, all_reduce, Occupancy::transfer};
      const Schedule schedule = make_comb_schedule(all[i]);
      const Schedule list = make_list_schedule(list_sends(schedule));
      const Verdict verdict = verify(instance, schedule);
      test::expect_equal(verdict, verify(instance, list), "comb " + std::to_string(i));
      EXPECT_EQ(verdict.valid(), test::NaiveOracle(instance, list).answer().valid) << i << ": " << describe(verdict);
      ++(verdict.valid() ? accepted : refused);
    }
  }
  EXPECT_GE(accepted, 4U);
  EXPECT_GE(refused, 4U);
}

}  // namespace
}  // namespace tenex
