// The engine `grid`: All-to-Alls on products of lines, against bounds by hand, the replay and the registry of bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "schedule/walk_factories.hpp"
#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/pccl/grid/grid.hpp"
#include "synthesis/pccl/grid/line_order.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/storage/grid_schedule.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

constexpr Bytes kGridChunk = bytes(1'000'000);
constexpr SimTime kGridStep = nanoseconds(20'500);  ///< 1 MB at 50 GB/s, and 500 ns

Collective exchange_on(const Topology& topology, std::int64_t chunks) {
  const auto npus = topology.npus();
  return support::collective(CollectiveKind::all_to_all, npus, kGridChunk * (static_cast<std::int64_t>(npus) * chunks),
                             chunks);
}

struct Made {
  Gathered gathered;
  Bound bound;
  double efficiency = 0;
};

/// Synthesizes; expects a valid schedule without waste that takes the time it states, not below the bound.
Made make_checked(const Topology& topology, const Collective& collective, Occupancy occupancy, int threads = 1) {
  const SynthesisProblem problem{{topology, collective, occupancy}};
  auto made = grid_all_to_all(problem).value();
  VerifyOptions options;
  options.threads = threads;
  const Verdict verdict = support::expect_valid(problem, made.schedule, made.time, options);
  EXPECT_EQ(verdict.sends, made.schedule.sends());
  EXPECT_LE(made.schedule.memory_bytes(), grid_bytes(problem));
  const Bound bound = best_cheap_bound({{topology, collective, occupancy}});
  EXPECT_GE(made.time, bound.time);
  const double efficiency = static_cast<double>(bound.time.count()) / static_cast<double>(made.time.count());
  return {std::move(made), bound, efficiency};
}

SimTime time_of(std::string_view shape, std::int64_t chunks) {
  const Topology topology = support::shape(shape);
  return make_checked(topology, exchange_on(topology, chunks), Occupancy::transfer).gathered.time;
}

// Half of the NPUs have a chunk for each of the other half, over the links that cross the middle, one chunk a step:
// LI(4): 2 * 2 over 1; mesh(4,4): 8 * 8 over 4; mesh(8,8): 32 * 32 over 8. On grid(3,3,3) 9 have chunks for 18 over 9.
TEST(GridEngine, MeetsTheMiddleCut) {
  for (const std::int64_t chunks : {1, 2}) {
    EXPECT_EQ(time_of("LI(4)", chunks), kGridStep * (4 * chunks));
    EXPECT_EQ(time_of("mesh(4,4)", chunks), kGridStep * (16 * chunks));
    EXPECT_EQ(time_of("mesh(8,8)", chunks), kGridStep * (128 * chunks));
    EXPECT_EQ(time_of("grid(3,3,3)", chunks), kGridStep * (18 * chunks));
  }
}

// Under serialization a link takes the next chunk 500 ns sooner. A chunk is at the next NPU after 1.025 slots and waits
// for the second: on line(2) two chunks follow each other at once, 20 us apart.
TEST(GridEngine, SendsBackToBackUnderSerialization) {
  const Topology pair = support::line(2);
  const auto made = make_checked(pair, exchange_on(pair, 2), Occupancy::serialization);
  EXPECT_EQ(made.gathered.time, nanoseconds(40'500));
  EXPECT_DOUBLE_EQ(made.efficiency, 1.0);
}

// line(3) with links of two slots of latency: the middle NPU sends its own chunk first, at slot 0; that from 0 to 2
// crosses link 0 at slot 0 (farthest first), is at 1 at slot 2 and crosses link 1 then.
TEST(GridEngine, OrdersALineFarthestFirst) {
  const auto line = order_line({3, 2, {1}});
  ASSERT_TRUE(line);
  // Pairs (0,1), (0,2) with two hops, (1,2); then the same mirrored.
  const std::vector<std::uint32_t> one_way{1, 0, 2, 0};
  auto both = one_way;
  both.insert(both.end(), one_way.begin(), one_way.end());
  EXPECT_EQ(line->start, both);
  EXPECT_EQ(slots_of({3, 2, {1}}, *line), 3U);
}

TEST(GridEngine, CountsTuplesByResidue) {
  // mesh(3,2), lines of dimension 2: the tuples are coordinates 0, 1, 2: two even, one odd.
  EXPECT_EQ(free_tuples({{3, {}}, {2, {}}}, 1, 1), (std::vector<std::uint32_t>{2, 1}));
  // grid(2,2,2): pairs of coordinates sum to 0, 1, 1, 2.
  EXPECT_EQ(free_tuples({{2, {}}, {2, {}}, {2, {}}}, 0, 1), (std::vector<std::uint32_t>{1, 2, 1}));
  // With two chunks each: 0 to 2, and 1 to 3: residue 0 of sums 0 and 3.
  EXPECT_EQ(free_tuples({{2, {}}, {2, {}}, {2, {}}}, 0, 2), (std::vector<std::uint32_t>{2, 3, 3}));
}

/// A random product of lines with up to `most` NPUs, its links alike within each dimension.
Topology random_small_product(Random& random, std::size_t most) {
  const std::size_t dimensions = 1 + random.below(4);
  std::string text;
  std::vector<SimTime> alpha;
  std::vector<Bandwidth> bandwidth;
  std::size_t npus = 1;
  for (std::size_t e = 0; e < dimensions; ++e) {
    const auto size = 1 + random.below(static_cast<std::uint32_t>(std::clamp<std::size_t>(most / npus, 1, 9)));
    npus *= size;
    text += (e == 0 ? "LI(" : "_LI(") + std::to_string(size) + ")";
    alpha.push_back(nanoseconds(random.below(3) * 1700));
    bandwidth.push_back(gigabytes_per_second(10 * (1 + random.below(5))));
  }
  if (npus == 1) return support::line(2 + random.below(8));
  return support::shape(text, alpha, bandwidth);
}

TEST(GridEngine, IsValidOnRandomProducts) {
  Random random(64);
  for (int round = 0; round < 60; ++round) {
    const Topology topology = random_small_product(random, 40);
    const auto chunks = 1 + static_cast<std::int64_t>(random.below(4));
    const Collective collective = exchange_on(topology, chunks);
    const auto occupancy = random.below(2) == 0 ? Occupancy::transfer : Occupancy::serialization;
    const auto made = make_checked(topology, collective, occupancy);
    // The same judged as a list, followed in time order, and by the full replay.
    const Instance instance{topology, collective, occupancy};
    const auto sends = list_sends(made.gathered.schedule);
    ASSERT_EQ(sends.size(), made.gathered.schedule.sends());
    for (const auto& schedule : {make_list_schedule(sends), test::replayed(sends)}) {
      const Verdict verdict = verify(instance, schedule);
      EXPECT_TRUE(verdict.valid()) << round;
      EXPECT_EQ(verdict.waste, 0U);
      EXPECT_EQ(verdict.collective_time, made.gathered.time);
    }
  }
}

bool earlier(const Send& a, const Send& b) { return std::pair(a.start, a.link) < std::pair(b.start, b.link); }

TEST(GridEngine, ReadsTheSameInAnyOrder) {
  Random random(65);
  for (int round = 0; round < 12; ++round) {
    const Topology topology = random_small_product(random, 150);
    const auto chunks = 1 + static_cast<std::int64_t>(random.below(3));
    const Collective collective = exchange_on(topology, chunks);
    const auto schedule = grid_all_to_all({{topology, collective, Occupancy::serialization}}).value().schedule;
    const auto whole = list_sends(schedule);
    EXPECT_TRUE(std::is_sorted(whole.begin(), whole.end(), earlier));
    // Backwards, into one buffer: a start time belongs to one segment.
    std::vector<Send> backwards;
    SendBuffer buffer;
    std::optional<SimTime> next;
    for (std::size_t segment = schedule.segments(); segment-- > 0;) {
      schedule.read(segment, buffer);
      const std::size_t size = buffer.batch.size();
      for (std::size_t i = 0; i < size; ++i) backwards.push_back(buffer.batch[i]);
      if (size == 0) continue;
      EXPECT_TRUE(!next || buffer.batch.start_of(size - 1) < *next);
      next = buffer.batch.start_of(0);
    }
    std::sort(backwards.begin(), backwards.end(), earlier);
    EXPECT_EQ(backwards, whole);
    // Chunk by chunk.
    std::vector<Send> by_chunk;
    for (std::size_t first = 0; first < collective.chunks();) {
      const std::size_t last = std::min(collective.chunks(), first + 1 + random.below(40));
      schedule.read_chunks(ChunkId::at(first), ChunkId::at(last), buffer);
      for (std::size_t i = 0; i < buffer.batch.size(); ++i) by_chunk.push_back(buffer.batch[i]);
      first = last;
    }
    EXPECT_TRUE(std::is_sorted(by_chunk.begin(), by_chunk.end(), [](const Send& a, const Send& b) {
      return std::pair(a.chunk, a.start) < std::pair(b.chunk, b.start);
    }));
    std::sort(by_chunk.begin(), by_chunk.end(), earlier);
    EXPECT_EQ(by_chunk, whole);
  }
}

// The middle cut binds. What is lost: a latency per phase, and where D does not divide the blocks' chunks, a slot for
// each of the blocks over the middle at most.
TEST(GridEngine, IsCloseToTheBoundForSidesOfEight) {
  const auto efficiency = [](const std::string& shape, Occupancy occupancy) {
    const Topology topology = support::shape(shape);
    return make_checked(topology, exchange_on(topology, 1), occupancy, 2).efficiency;
  };
  for (const std::string shape : {"mesh(8,8)", "mesh(9,9)", "mesh(8,13)", "grid(8,8,8)", "mesh(11,9,8)", "mesh(33,8)"})
    for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
      EXPECT_GE(efficiency(shape, occupancy), 0.99) << shape << " " << to_string(occupancy);
  EXPECT_GE(efficiency("grid(10,10,10)", Occupancy::serialization), 0.999);
  EXPECT_GE(efficiency("mesh(31,31)", Occupancy::transfer), 0.999);
}

TEST(GridEngine, TakesManyChunksPerPair) {
  for (const std::string shape : {"mesh(8,8)", "grid(4,4,4)"}) {
    const Topology topology = support::shape(shape);
    const auto made = make_checked(topology, exchange_on(topology, 64), Occupancy::transfer);
    EXPECT_GE(made.efficiency, 0.999) << shape;
  }
}

TEST(GridEngine, TakesDimensionsOfUnequalSpeed) {
  // Dimension 2 is slow: 50 and 10 GB/s. It alone binds: 8 * 4 chunks to as many, over 8 links of 100 us a chunk.
  const Topology topology = support::shape("mesh(8,8)", {nanoseconds(500), nanoseconds(700)},
                                           {gigabytes_per_second(50), gigabytes_per_second(10)});
  const auto made = make_checked(topology, exchange_on(topology, 1), Occupancy::serialization);
  EXPECT_GE(made.gathered.time, microseconds(100) * (32 * 32 / 8) + nanoseconds(700));
  EXPECT_GE(made.efficiency, 0.99);
}

std::string reason_for(const Topology& topology, const Collective& collective) {
  return grid_unsuitable({{topology, collective, Occupancy::transfer}}).value_or("");
}

TEST(GridEngine, SaysWhatItCannotMake) {
  const Topology mesh = support::mesh(3, 3);
  EXPECT_EQ(reason_for(mesh, exchange_on(mesh, 1)), "");
  EXPECT_NE(reason_for(mesh, support::collective(CollectiveKind::all_gather, 9, bytes(9000))), "");
  EXPECT_NE(reason_for(mesh, support::collective(CollectiveKind::all_to_all, 9, bytes(9000), 1, "0-3; 4-8")), "");
  const Topology torus = support::torus(3, 3);
  EXPECT_NE(reason_for(torus, exchange_on(torus, 1)), "");
  const Topology reversed = mesh.reversed();
  EXPECT_NE(reason_for(reversed, exchange_on(reversed, 1)), "");
  const Topology switched = support::switched(4);
  EXPECT_NE(reason_for(switched, exchange_on(switched, 1)), "");
  const Topology pairs = support::shape("RI(2)_LI(3)");  // a ring of two is a line of two
  EXPECT_EQ(reason_for(pairs, exchange_on(pairs, 1)), "");
  const auto refused = grid_all_to_all({{torus, exchange_on(torus, 1), Occupancy::transfer}});
  ASSERT_FALSE(refused);
  EXPECT_NE(to_string(refused.errors()).find("product of lines"), std::string::npos);
}

}  // namespace
}  // namespace tenex
