// Compares symmetric storage with the same sends in a list, its views with the general ones, and the orbit check with
// the full replay, on valid and on broken schedules.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <thread>
#include <vector>

#include "schedule/symmetric_factories.hpp"
#include "support/verdicts.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {
namespace {

using test::exchange_orbits;
using test::expand;
using test::gather_orbits;
using test::symmetric;

const std::vector<std::string_view> kShapes = {"RI(2)",        "RI(5)",       "FC(5)",       "torus(3,4)",
                                               "torus(4,2,3)", "RI(4)_FC(3)", "FC(4)_RI(3)", "hypercube(3)",
                                               "FC(3)_FC(4)",  "LI(2)_RI(5)"};

Collective gather_of(const Topology& topology, std::int64_t chunks = 1) {
  return support::collective(CollectiveKind::all_gather, topology.npus(),
                             kibibytes(64) * static_cast<std::int64_t>(topology.npus()) * chunks, chunks);
}

Collective orbit_exchange(const Topology& topology, std::int64_t chunks = 1) {
  return support::collective(CollectiveKind::all_to_all, topology.npus(),
                             kibibytes(64) * static_cast<std::int64_t>(topology.npus()) * chunks, chunks);
}

/// A shape and groups that its translations map to each other.
struct GroupedCase {
  std::string_view shape;
  std::string_view groups;
};
const std::vector<GroupedCase> kGrouped = {
    {"torus(4,3)", "0-3; 4-7; 8-11"},                            // rows
    {"torus(4,3)", "8,0,4; 1,5,9; 2,6,10; 3,7,11"},              // columns, one in another order
    {"torus(4,4)", "0,2,8,10; 1,3,9,11; 4,6,12,14; 13,15,5,7"},  // every second NPU of every second row
    {"RI(6)", "0,3; 1,4; 2,5"},
    {"RI(4)_FC(3)", "0,4,8,2,6,10; 1,3,5,7,9,11"},
    {"FC(4)_RI(2)", "7,6,5,4,3,2,1,0"}};  // one group, backward

Collective grouped_exchange(const Topology& topology, std::string_view groups, std::int64_t chunks) {
  return support::collective(CollectiveKind::all_to_all, topology.npus(), kibibytes(64 * 12) * chunks, chunks, groups);
}

/// A shape whose dimensions differ in alpha and bandwidth.
Topology uneven_torus() {
  return support::shape("RI(4)_FC(3)_RI(2)", {microseconds(1), nanoseconds(500), microseconds(2)},
                        {gigabytes_per_second(50), gigabytes_per_second(100), gigabytes_per_second(25)});
}

TEST(SymmetricSchedule, ReadsTheSameSendsAsAList) {
  for (const auto shape : kShapes)
    for (const std::int64_t chunks : {1, 3}) {
      SCOPED_TRACE(shape);
      const Topology topology = support::shape(shape);
      const Collective gather = gather_of(topology, chunks);
      const auto orbits = gather_orbits({topology, gather, Occupancy::transfer});
      const Schedule schedule = symmetric(topology, gather, orbits);
      const auto n = static_cast<std::uint64_t>(topology.npus());
      EXPECT_EQ(schedule.sends(), n * (n - 1) * static_cast<std::uint64_t>(chunks));
      EXPECT_EQ(list_sends(schedule), list_sends(expand(topology, gather, orbits)));
    }
}

TEST(SymmetricSchedule, ReadsTheSameSendsOfAnAllToAllAsAList) {
  for (const auto shape : kShapes)
    for (const std::int64_t chunks : {1, 3}) {
      SCOPED_TRACE(shape);
      const Topology topology = support::shape(shape);
      const Collective exchange = orbit_exchange(topology, chunks);
      const auto orbits = exchange_orbits({topology, exchange, Occupancy::transfer});
      const Schedule schedule = symmetric(topology, exchange, orbits);
      EXPECT_EQ(schedule.sends(), orbits.size() * topology.npus());
      EXPECT_EQ(list_sends(schedule), list_sends(expand(topology, exchange, orbits)));
    }
}

TEST(SymmetricSchedule, ReadsTheSameSendsOfAllToAllsInGroupsAsAList) {
  for (const auto& [shape, groups] : kGrouped)
    for (const std::int64_t chunks : {1, 2}) {
      SCOPED_TRACE(groups);
      const Topology topology = support::shape(shape);
      const Collective exchange = grouped_exchange(topology, groups, chunks);
      ASSERT_TRUE(moves_with_translations(exchange, TranslationGroup::of(topology).value()));
      const auto orbits = exchange_orbits({topology, exchange, Occupancy::transfer});
      const Schedule schedule = symmetric(topology, exchange, orbits);
      EXPECT_EQ(list_sends(schedule), list_sends(expand(topology, exchange, orbits)));
      for (std::size_t link = 0; link < topology.links(); ++link) {
        SendBuffer buffer;
        schedule.read_link(0, LinkId::at(link), buffer);
        for (std::size_t i = 0; i < buffer.batch.size(); ++i)
          EXPECT_LT(buffer.batch.chunk[i].index(), exchange.chunks());
      }
    }
}

TEST(SymmetricSchedule, KnowsWhichGroupsTranslationsMapToEachOther) {
  const auto moves = [](std::string_view shape, std::string_view groups) {
    const Topology topology = support::shape(shape);
    return moves_with_translations(grouped_exchange(topology, groups, 1), TranslationGroup::of(topology).value());
  };
  EXPECT_TRUE(moves("RI(6)", "0,2,4; 1,3,5"));
  EXPECT_FALSE(moves("RI(6)", "0,1,2; 3,4,5"));  // 1 - 0 is inside, 3 - 2 is not
  EXPECT_FALSE(moves("RI(6)", "0,2,4; 1,3"));    // not all NPUs, not equal
  EXPECT_FALSE(moves("RI(6)", "0,3; 1,4"));      // not all NPUs
  EXPECT_FALSE(moves("RI(6)", "1,4; 2,5"));      // not NPU 0
  EXPECT_FALSE(moves("torus(4,4)", "0-3; 4-7; 8-11; 12,13; 14,15"));
  EXPECT_FALSE(moves("torus(4,4)", "0,5,10,15; 1,6,11,12; 2,7,8,13; 3,4,9,14"));  // diagonals are no product
  EXPECT_TRUE(moves("torus(4,4)", "0-15"));
}

TEST(SymmetricSchedule, NamesChunksOfAnAllToAllByTheirOffset) {
  // ring(5), 2 chunks per pair. Number 2*2+1 is the second chunk for the NPU two places on. From NPU 4 that is NPU 1:
  // chunk (4*5 + 1)*2 + 1 = 43.
  const Topology ring = support::ring(5);
  const Schedule schedule = symmetric(ring, orbit_exchange(ring, 2), {{SimTime::zero(), 0, NpuId(1), 5}});
  EXPECT_EQ(symmetric_storage(schedule)->chunk(NpuId(4), 5), ChunkId(43));
  const auto sends = list_sends(schedule);
  ASSERT_EQ(sends.size(), 5U);
  for (const Send& send : sends) {  // receivers are one place on from their chunk's owner
    const std::uint32_t owner = vertex_of(NpuId(send.chunk.value() / 10)).value();
    EXPECT_EQ(ring.source(send.link).value(), owner);
    EXPECT_EQ(ring.target(send.link).value(), (owner + 1) % 5);
    EXPECT_EQ(send.chunk.value() % 10, (owner + 2) % 5 * 2 + 1);
  }
}

TEST(SymmetricSchedule, ReadsMixedStagesAndStartsAsAList) {
  const Topology topology = uneven_torus();
  const Collective gather = gather_of(topology, 2);
  auto orbits = gather_orbits({topology, gather, Occupancy::serialization});
  for (std::size_t i = 0; i < orbits.size(); ++i) {
    if (i % 3 == 0) orbits[i].stage = Stage::reduce;
    if (i % 5 == 0) orbits[i].start += nanoseconds(1);
  }
  EXPECT_EQ(list_sends(symmetric(topology, gather, orbits)), list_sends(expand(topology, gather, orbits)));
}

TEST(SymmetricSchedule, CutsManySegmentsAndNeverInsideOneInstant) {
  // torus(16,16) with 6 chunks: 255 * 6 orbits of 256 sends; a segment is full with 64 orbits.
  const Topology topology = support::torus(16, 16);
  const Collective gather = gather_of(topology, 6);
  const auto orbits = gather_orbits({topology, gather, Occupancy::transfer});
  const Schedule schedule = symmetric(topology, gather, orbits);
  ASSERT_GT(schedule.segments(), 20U);
  std::vector<SimTime> first(schedule.segments());
  std::vector<SimTime> last(schedule.segments());
  std::vector<std::thread> threads;  // in any order, at the same time
  for (std::size_t segment = schedule.segments(); segment-- > 0;)
    threads.emplace_back([&, segment] {
      SendBuffer buffer;
      schedule.read(segment, buffer);
      first[segment] = buffer.batch.start_of(0);
      last[segment] = buffer.batch.start_of(buffer.batch.size() - 1);
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t segment = 1; segment < schedule.segments(); ++segment) EXPECT_LT(last[segment - 1], first[segment]);
  EXPECT_EQ(schedule_hash(schedule), schedule_hash(expand(topology, gather, orbits)));
}

TEST(SymmetricSchedule, ReadsLinkByLinkWhatItReadsInTime) {
  for (const auto shape : {"torus(4,6)", "FC(5)_RI(4)", "hypercube(4)"})
    for (const std::int64_t chunks : {0, 1, 200}) {  // 200: several tiles; 0: an All-to-All
      SCOPED_TRACE(shape);
      const Topology topology = support::shape(shape);
      const Collective gather = chunks > 0 ? gather_of(topology, chunks) : orbit_exchange(topology);
      const Instance instance{topology, gather, Occupancy::transfer};
      const Schedule schedule =
          symmetric(topology, gather, chunks > 0 ? gather_orbits(instance) : exchange_orbits(instance));
      std::vector<Send> sends;
      SimTime tile_end = SimTime::of(-1);
      SendBuffer buffer;
      for (std::size_t tile = 0; tile < schedule.tiles(); ++tile) {
        SimTime last = tile_end;
        for (std::size_t link = 0; link < topology.links(); ++link) {
          schedule.read_link(tile, LinkId::at(link), buffer);
          for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
            EXPECT_GT(buffer.batch.start_of(i), tile_end);
            last = std::max(last, buffer.batch.start_of(i));
            sends.push_back(buffer.batch[i]);
          }
        }
        tile_end = last;
      }
      if (chunks > 1) {
        EXPECT_GT(schedule.tiles(), 1U);
      }
      EXPECT_EQ(list_sends(make_list_schedule(sends)), list_sends(schedule));
    }
}

TEST(SymmetricSchedule, TakesMemoryForOneNpuOnly) {
  // torus(32,32): 1023 orbits for 1,047,552 sends, at most 64 bytes each.
  const Topology topology = support::torus(32, 32);
  const Collective gather = gather_of(topology);
  const Schedule schedule = symmetric(topology, gather, gather_orbits({topology, gather, Occupancy::transfer}));
  EXPECT_EQ(schedule.sends(), 1'047'552U);
  EXPECT_LT(schedule.memory_bytes(), 64U * 1'023U);
  EXPECT_EQ(schedule.storage_kind(), "symmetric");
}

TEST(SymmetricSchedule, RefusesOrbitsOutsideItsGroup) {
  const Topology ring = support::ring(5);
  const Collective gather = gather_of(ring);
  EXPECT_THROW(symmetric(ring, gather, {{SimTime::zero(), 2, NpuId(1), 0}}), InvariantError);  // directions 0, 1
  EXPECT_THROW(symmetric(ring, gather, {{SimTime::zero(), 0, NpuId(5), 0}}), InvariantError);
  EXPECT_THROW(symmetric(ring, gather, {{SimTime::zero(), 0, NpuId(1), 1}}), InvariantError);  // one chunk: number 0
  const Collective exchange = orbit_exchange(ring);  // 5 chunks: numbers 0 .. 4
  EXPECT_NO_THROW(symmetric(ring, exchange, {{SimTime::zero(), 0, NpuId(1), 4}}));
  EXPECT_THROW(symmetric(ring, exchange, {{SimTime::zero(), 0, NpuId(1), 5}}), InvariantError);
}

TEST(SymmetricViews, ReverseIntoAReduceScatterOnTheSameTopology) {
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
    for (const auto& topology : {uneven_torus(), support::torus(3, 4), support::shape("FC(4)_RI(5)")}) {
      const Collective gather = gather_of(topology, 2);
      const Collective scatter = gather.as(CollectiveKind::reduce_scatter);
      const Schedule gathered = symmetric(topology, gather, gather_orbits({topology, gather, occupancy}));
      const Schedule scattered = reversed_symmetric({topology, scatter, occupancy}, gathered);
      const Verdict verdict = verify({topology, scatter, occupancy}, scattered);
      EXPECT_TRUE(verdict.valid()) << support::first_finding(verdict);
      EXPECT_EQ(verdict.collective_time, last_arrival({topology, gather, occupancy}, gathered));
      EXPECT_EQ(scattered.sends(), gathered.sends());
    }
}

TEST(SymmetricViews, AllReduceAndRetimeAsTheGeneralOnesDo) {
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
    for (const auto& topology : {uneven_torus(), support::torus(3, 4), support::shape("FC(4)_RI(5)")}) {
      const Collective gather = gather_of(topology, 2);
      const Collective all = gather.as(CollectiveKind::all_reduce);
      const Schedule gathered = symmetric(topology, gather, gather_orbits({topology, gather, occupancy}));
      const Schedule scattered = reversed_symmetric({topology, all, occupancy}, gathered);
      const SimTime half = last_arrival_symmetric({topology, all, occupancy}, scattered);
      EXPECT_EQ(half, last_arrival({topology, all, occupancy}, scattered));
      const Schedule both = then_gather_symmetric(scattered, gathered, half);
      EXPECT_EQ(list_sends(both), list_sends(then_gather({topology, all, occupancy}, scattered, gathered)));
      const Schedule overlapped = retime_symmetric({topology, all, occupancy}, both);
      EXPECT_EQ(list_sends(overlapped), list_sends(retime({topology, all, occupancy}, both)));
      EXPECT_TRUE(verify({topology, all, occupancy}, overlapped).valid());
    }
}

/// The verdicts of the orbit check and of the full replay agree where the orbit check decides.
void expect_same_verdict(const Instance& instance, const Schedule& schedule) {
  ASSERT_TRUE(has_orbit_check(instance.topology, instance.collective, schedule));
  const Verdict by_orbit = verify_symmetric(instance, schedule);
  const Verdict in_full = verify(instance, schedule);
  if (by_orbit.outcome == Verification::skipped) return;
  EXPECT_EQ(by_orbit.outcome, in_full.outcome);
  EXPECT_EQ(by_orbit.sends, in_full.sends);
  EXPECT_EQ(by_orbit.findings.empty(), by_orbit.valid());
  if (!by_orbit.valid()) return;
  EXPECT_EQ(by_orbit.collective_time, in_full.collective_time);
  EXPECT_EQ(by_orbit.waste, in_full.waste);
  EXPECT_EQ(by_orbit.reduction_check, in_full.reduction_check);
}

/// A valid schedule of each kind.
Schedule schedule_of(const Instance& instance) {
  if (instance.collective.kind() == CollectiveKind::all_to_all)
    return symmetric(instance.topology, instance.collective, exchange_orbits(instance));
  const Collective gather = instance.collective.as(CollectiveKind::all_gather);
  const Schedule gathered =
      symmetric(instance.topology, gather, gather_orbits({instance.topology, gather, instance.occupancy}));
  if (instance.collective.kind() == CollectiveKind::all_gather) return gathered;
  const Schedule scattered = reversed_symmetric(instance, gathered);
  if (instance.collective.kind() == CollectiveKind::reduce_scatter) return scattered;
  const SimTime half = last_arrival_symmetric(instance, scattered);
  return retime_symmetric(instance, then_gather_symmetric(scattered, gathered, half));
}

constexpr CollectiveKind kKinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                     CollectiveKind::all_reduce, CollectiveKind::all_to_all};

Collective collective_of(CollectiveKind kind, const Topology& topology, std::int64_t chunks) {
  return kind == CollectiveKind::all_to_all ? orbit_exchange(topology, chunks) : gather_of(topology, chunks).as(kind);
}

TEST(OrbitCheck, FindsValidSchedulesValidAsTheFullReplayDoes) {
  for (const auto shape : kShapes)
    for (const auto kind : kKinds)
      for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization}) {
        SCOPED_TRACE(shape);
        const Topology topology = support::shape(shape);
        const Collective collective = collective_of(kind, topology, 2);
        const Schedule schedule = schedule_of({topology, collective, occupancy});
        EXPECT_TRUE(verify_symmetric({topology, collective, occupancy}, schedule).valid());
        expect_same_verdict({topology, collective, occupancy}, schedule);
      }
}

/// One random change of one orbit.
void mutate_orbits(std::vector<OrbitSend>& orbits, const TranslationGroup& group, std::uint32_t chunks,
                   Random& random) {
  const std::size_t i = random.below(static_cast<std::uint32_t>(orbits.size()));
  switch (random.below(7)) {
    case 0:
      orbits.erase(orbits.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    case 1:
      orbits.push_back(orbits[i]);
      break;
    case 2:
      orbits[i].start -= nanoseconds(1 + random.below(3000));
      break;
    case 3:
      orbits[i].start += nanoseconds(1 + random.below(3000));
      break;
    case 4:
      orbits[i].direction = random.below(static_cast<std::uint32_t>(group.directions().size()));
      break;
    case 5:
      orbits[i].offset = NpuId(random.below(static_cast<std::uint32_t>(group.npus())));
      break;
    default:
      orbits[i].number = random.below(chunks);
      break;
  }
}

/// Changes one orbit of a valid schedule; the verdicts agree. Returns the orbit check's.
Verification verdict_after_change(const Instance& instance, Random& random) {
  const Schedule right = schedule_of(instance);
  const auto span = symmetric_storage(right)->orbits();
  std::vector<OrbitSend> orbits(span.begin(), span.end());
  const OrbitChunks chunks = orbit_chunks(instance.collective);
  mutate_orbits(orbits, symmetric_storage(right)->group(),
                static_cast<std::uint32_t>(chunks.numbers(instance.topology.npus())), random);
  if (!std::ranges::all_of(orbits, [&](const OrbitSend& orbit) { return chunks.has(orbit.number); }))
    return Verification::invalid;  // the storage refuses chunks that do not exist
  const Schedule wrong = symmetric(instance.topology, instance.collective, orbits);
  expect_same_verdict(instance, wrong);
  return verify_symmetric(instance, wrong).outcome;
}

void expect_same_verdicts_after_changes(CollectiveKind kind, std::uint64_t seeds, std::size_t enough_decided,
                                        std::size_t enough_invalid) {
  std::size_t decided = 0;
  std::size_t invalid = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, 0x6F726269);
    const Topology topology = seed % 3 == 0 ? uneven_torus() : support::shape(kShapes[seed % kShapes.size()]);
    const Collective collective = collective_of(kind, topology, 2);
    const Occupancy occupancy = seed % 2 == 0 ? Occupancy::transfer : Occupancy::serialization;
    const auto outcome = verdict_after_change({topology, collective, occupancy}, random);
    if (outcome != Verification::skipped) ++decided;
    if (outcome == Verification::invalid) ++invalid;
  }
  EXPECT_GE(decided, enough_decided);
  EXPECT_GE(invalid, enough_invalid);
}

TEST(OrbitCheck, AgreesWithTheFullReplayOnMutatedSchedules) {
  // Only doubled or moved sums may be left undecided; most changes break something.
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce})
    expect_same_verdicts_after_changes(kind, 133, 90, 40);
}

TEST(OrbitCheck, AgreesWithTheFullReplayOnMutatedAllToAlls) {
  expect_same_verdicts_after_changes(CollectiveKind::all_to_all, 400, 400, 250);
}

TEST(OrbitCheck, AgreesWithTheFullReplayOnMutatedAllToAllsInGroups) {
  std::size_t invalid = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, 0x67726F75);
    const auto& [shape, groups] = kGrouped[seed % kGrouped.size()];
    const Topology topology = support::shape(shape);
    const Collective exchange = grouped_exchange(topology, groups, 1 + static_cast<std::int64_t>(seed % 2));
    const Occupancy occupancy = seed % 4 < 2 ? Occupancy::transfer : Occupancy::serialization;
    const Instance instance{topology, exchange, occupancy};
    EXPECT_TRUE(verify_symmetric(instance, schedule_of(instance)).valid());
    expect_same_verdict(instance, schedule_of(instance));
    if (verdict_after_change(instance, random) == Verification::invalid) ++invalid;
  }
  EXPECT_GE(invalid, 180U);
}

/// The verdict on a ring of five whose All-to-All takes these orbits.
Verdict verdict_on_ring(const std::vector<OrbitSend>& more) {
  const Topology ring = support::ring(5);
  const Collective exchange = orbit_exchange(ring);
  auto orbits = exchange_orbits({ring, exchange, Occupancy::transfer});
  orbits.insert(orbits.end(), more.begin(), more.end());
  const Schedule schedule = symmetric(ring, exchange, orbits);
  expect_same_verdict({ring, exchange, Occupancy::transfer}, schedule);
  return verify_symmetric({ring, exchange, Occupancy::transfer}, schedule);
}

TEST(OrbitCheck, CountsRelaysOfAnAllToAllThatForwardNothingAsWaste) {
  // Offsets 1 and 2 take 1 + 2 hops upward, 4 and 3 the same downward: 3 steps, no waste.
  const SimTime hop = support::kAlpha + serialization_time(kibibytes(64), support::kBandwidth);
  EXPECT_EQ(verdict_on_ring({}).collective_time, hop * 3);
  EXPECT_EQ(verdict_on_ring({}).waste, 0U);
  // The chunk for offset 1 goes on to offset 2 and stops there: nobody needs it.
  const OrbitSend on{hop * 4, 0, NpuId(2), 1, Stage::copy};
  EXPECT_TRUE(verdict_on_ring({on}).valid());
  EXPECT_EQ(verdict_on_ring({on}).waste, 5U);
  EXPECT_EQ(verdict_on_ring({on}).collective_time, hop * 3);
  // It comes back to its destination: the relay was of use, the second copy is not.
  const OrbitSend back{hop * 5, 1, NpuId(1), 1, Stage::copy};
  EXPECT_EQ(verdict_on_ring({on, back}).waste, 5U);
  EXPECT_EQ(verdict_on_ring({on, back}).collective_time, hop * 5);
  // A chunk for its owner goes round; a sum is sent.
  const OrbitSend own{hop * 4, 0, NpuId(1), 0, Stage::copy};
  EXPECT_EQ(verdict_on_ring({own}).waste, 5U);
  const OrbitSend sum{hop * 4, 0, NpuId(1), 1, Stage::reduce};
  EXPECT_FALSE(verdict_on_ring({sum}).valid());
}

TEST(OrbitCheck, SaysWhatIsMissingOfAnAllToAll) {
  const Topology ring = support::ring(5);
  const Collective exchange = orbit_exchange(ring, 2);
  auto orbits = exchange_orbits({ring, exchange, Occupancy::transfer});
  std::erase_if(orbits, [](const OrbitSend& orbit) { return orbit.number == 7; });  // 3*2 + 1
  const Verdict verdict = verify_symmetric({ring, exchange, Occupancy::transfer}, symmetric(ring, exchange, orbits));
  ASSERT_EQ(verdict.violations, 1U);
  EXPECT_EQ(verdict.findings[0].violation, Violation::missing_postcondition);
  EXPECT_EQ(verdict.findings[0].message,
            "NPU 3 ends without chunk 1 of those that NPU 0 has for it, which it must hold, and so for every NPU");
}

TEST(OrbitCheck, SaysWhatIsWrong) {
  const Topology ring = support::ring(5);
  const Collective gather = gather_of(ring);
  auto orbits = gather_orbits({ring, gather, Occupancy::transfer});
  orbits.pop_back();  // the farthest offset in the second direction: -2 = 3
  const Verdict verdict = verify_symmetric({ring, gather, Occupancy::transfer}, symmetric(ring, gather, orbits));
  ASSERT_EQ(verdict.violations, 1U);
  EXPECT_EQ(verdict.findings[0].violation, Violation::missing_postcondition);
  EXPECT_EQ(verdict.findings[0].message,
            "NPU 3 ends without chunk 0 of NPU 0, which it must hold, and so for every NPU");
}

TEST(OrbitCheck, RefusesATopologyThatIsNotTheSchedules) {
  const Topology ring = support::ring(6);
  const Collective gather = gather_of(ring);
  const Schedule schedule = symmetric(ring, gather, gather_orbits({ring, gather, Occupancy::transfer}));
  EXPECT_FALSE(has_orbit_check(support::line(6), gather, schedule));
  // 6 NPUs with a translation group, but other links.
  const Topology other = support::shape("torus(3,2)");
  ASSERT_TRUE(has_orbit_check(other, gather, schedule));
  EXPECT_FALSE(verify_symmetric({other, gather, Occupancy::transfer}, schedule).valid());
}

TEST(OrbitCheck, ChecksEveryLinkOfTheTopologyAndNotOnlyItsDeclaredShape) {
  // A ring of five, built link by link. One middle link goes elsewhere, which the declared shape hides.
  const auto ring_with = [](std::uint32_t wrong) {
    TopologyBuilder builder(5);
    for (std::uint32_t npu = 0; npu < 5; ++npu)
      for (const std::uint32_t step : {1U, 4U})
        builder.add_link({VertexId(npu), VertexId((npu + (npu == wrong && step == 1 ? 2 : step)) % 5), support::kAlpha,
                          support::kBandwidth});
    builder.declare_shape(parse_shape("RI(5)").value());
    return std::move(builder).build().value();
  };
  const Topology ring = ring_with(9);
  const Collective gather = gather_of(ring);
  const Schedule schedule = symmetric(ring, gather, gather_orbits({ring, gather, Occupancy::transfer}));
  EXPECT_TRUE(verify_symmetric({ring, gather, Occupancy::transfer}, schedule).valid());
  const Topology broken = ring_with(2);
  ASSERT_TRUE(has_orbit_check(broken, gather, schedule));
  EXPECT_FALSE(verify_symmetric({broken, gather, Occupancy::transfer}, schedule).valid());
  EXPECT_FALSE(verify({broken, gather, Occupancy::transfer}, schedule).valid());
}

}  // namespace
}  // namespace tenex
