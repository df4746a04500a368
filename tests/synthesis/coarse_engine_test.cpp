// The coarse engine: valid schedules of single sends for every gather that it accepts, near the bound, equal for any
// number of threads.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "synthesis/synthesis_support.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::of_megabytes;

Synthesis coarse(const Instance& instance, int threads = 1) {
  return support::synthesize_checked("tacos", {instance, {1, 1, "coarse"}, threads});
}

/// Efficiency of the gather; synthesize_checked() verifies it against the definition. Checks the engine's name too.
double gather_efficiency(const Topology& topology, Occupancy occupancy = Occupancy::transfer, std::int64_t chunks = 1) {
  const Collective gather = of_megabytes(CollectiveKind::all_gather, topology.npus(), chunks);
  const Synthesis made = coarse({topology, gather, occupancy});
  EXPECT_EQ(made.engine, "coarse");
  EXPECT_EQ(made.schedule.sends(), gather.required_deliveries());
  return support::efficiency({topology, gather, occupancy}, made.time);
}

/// `topology` without one link pair in `one_in`, drawn by counting; connected by assertion.
Topology thinned(const Topology& topology, std::size_t one_in) {
  std::vector<bool> drop(topology.links(), false);
  for (std::size_t link = 0; link < topology.links(); ++link) {
    const auto a = topology.source(LinkId::at(link)).index();
    const auto b = topology.target(LinkId::at(link)).index();
    drop[link] = (std::min(a, b) * 7 + std::max(a, b)) % one_in == 0;
  }
  Topology thin = topology.without(drop);
  EXPECT_FALSE(find_disconnected_pair(thin).has_value());
  EXPECT_LT(thin.links(), topology.links());
  return thin;
}

std::string refusal(const Topology& topology, const Collective& collective) {
  const auto made =
      find_synthesizer("tacos")->synthesize({topology, collective, Occupancy::transfer, {1, 1, "coarse"}});
  EXPECT_FALSE(made.ok());
  return to_string(made.errors());
}

TEST(CoarseEngine, ComesNearTheBoundOnMeshes) {
  // A corner of n NPUs needs n/2 rows, and blocks hold a sixtieth of that: 1 NPU on 8x8, 2 on 16x16, 8 on 32x32, 19 on
  // 48x48.
  EXPECT_EQ(gather_efficiency(support::mesh(8, 8)), 1.0);
  EXPECT_GE(gather_efficiency(support::mesh(16, 16)), 0.98);
  EXPECT_GE(gather_efficiency(support::mesh(32, 32)), 0.99);
  EXPECT_GE(gather_efficiency(support::mesh(48, 48)), 0.995);
}

TEST(CoarseEngine, TakesSidesThatBlocksDoNotDivide) {
  EXPECT_GE(gather_efficiency(support::mesh(29, 31)), 0.985);
  EXPECT_GE(gather_efficiency(support::mesh(1, 40)), 0.97);
}

TEST(CoarseEngine, ComesNearTheBoundOnGridsAndTori) {
  EXPECT_GE(gather_efficiency(support::shape("grid(10,10,10)")), 0.985);
  EXPECT_GE(gather_efficiency(support::shape("grid(5,7,9)")), 0.98);
  EXPECT_GE(gather_efficiency(support::torus(32, 32)), 0.97);
  EXPECT_GE(gather_efficiency(support::shape("torus(8,8,8)")), 0.95);
}

TEST(CoarseEngine, HonoursSerializationAndChunksPerNpu) {
  // alpha is 500 ns, beta*m 20 us: a hop takes 2 rows, and the bound counts alpha once.
  EXPECT_GE(gather_efficiency(support::mesh(24, 24), Occupancy::serialization), 0.98);
  EXPECT_GE(gather_efficiency(support::mesh(24, 24), Occupancy::transfer, 2), 0.98);
  EXPECT_GE(gather_efficiency(support::mesh(20, 17), Occupancy::serialization, 3), 0.98);
  EXPECT_GE(gather_efficiency(support::shape("grid(9,8,7)"), Occupancy::serialization, 2), 0.97);
}

TEST(CoarseEngine, HonoursALatencyOfManyRows) {
  // alpha is 2 ms, beta*m 20 us: a hop takes 101 rows, so eccentricity binds on a mesh of 24 x 24: 46 hops.
  const Topology slow = support::mesh(24, 24, microseconds(2'000));
  EXPECT_GE(gather_efficiency(slow, Occupancy::serialization), 0.7);
}

TEST(CoarseEngine, GrowsBlocksOnIrregularTopologies) {
  EXPECT_GE(gather_efficiency(thinned(support::mesh(32, 32), 37)), 0.95);
  EXPECT_GE(gather_efficiency(thinned(support::mesh(32, 32), 37), Occupancy::serialization, 2), 0.95);
  EXPECT_GE(gather_efficiency(thinned(support::shape("grid(10,10,10)"), 41)), 0.95);
}

// A mesh of 40 x 40 with a damaged corner: NPUs 0, 1 and 2 have two in-links each, one of them from each other, so that
// all 1,597 other chunks enter over two links. If both links deliver the same block, the NPUs have nothing to pass on.
TEST(CoarseEngine, FeedsClustersOfPoorNpusWithDifferentBlocks) {
  const Topology mesh = support::mesh(40, 40);
  const auto worn = remove_links(mesh, {{VertexId(1), VertexId(41)}, {VertexId(2), VertexId(42)}});
  ASSERT_TRUE(worn.ok());
  EXPECT_EQ(worn->in_links(VertexId(0)).size(), 2U);
  EXPECT_EQ(worn->in_links(VertexId(1)).size(), 2U);
  EXPECT_EQ(worn->in_links(VertexId(2)).size(), 2U);
  EXPECT_GE(gather_efficiency(*worn), 0.98);
  EXPECT_GE(gather_efficiency(*worn, Occupancy::serialization, 2), 0.98);
}

TEST(CoarseEngine, IsValidOnRandomDigraphs) {
  // Links that exist one way only belong to no block; parallel links occur. Quality is not tested here.
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const Topology topology = support::random_connected_topology(seed, 24, false);
    for (const Occupancy occupancy : {Occupancy::transfer, Occupancy::serialization})
      EXPECT_GT(gather_efficiency(topology, occupancy, 1 + static_cast<std::int64_t>(seed % 3)), 0.2);
  }
}

TEST(CoarseEngine, GathersInsideProcessGroups) {
  // Bands of 24 x 24 on a mesh of 24 x 96: each is a mesh of its own, so its time is near the bound of one.
  const Topology mesh = support::mesh(24, 96);
  const Collective bands = support::collective(CollectiveKind::all_gather, mesh.npus(), bytes(1'152'000'000), 2,
                                               "0-575; 576-1151; 1152-1727; 1728-2303");
  const Synthesis made = coarse({mesh, bands, Occupancy::transfer});
  // 4 groups, 576 receivers, 575 others of 2 chunks.
  EXPECT_EQ(made.schedule.sends(), 4U * 576 * 575 * 2);
  EXPECT_GE(support::efficiency({mesh, bands, Occupancy::transfer}, made.time), 0.97);
  // Rows of 32: an end receives 31 chunks over its one link, and the last of them needs 31 hops.
  std::string rows;
  for (std::size_t row = 0; row < 32; ++row)
    rows += (row > 0 ? "; " : "") + std::to_string(32 * row) + "-" + std::to_string(32 * row + 31);
  const Topology square = support::mesh(32, 32);
  const Collective lines = support::collective(CollectiveKind::all_gather, 1024, bytes(32'000'000), 1, rows);
  EXPECT_EQ(coarse({square, lines, Occupancy::transfer}, 2).time, support::kStep * 31);
  // Ranks are positions in the group; the ids of these decrease.
  const Collective turned =
      support::collective(CollectiveKind::reduce_scatter, 8, bytes(4'000'000), 1, "3,2,1,0; 7,5,6,4");
  EXPECT_EQ(coarse({support::mesh(4, 2), turned, Occupancy::serialization}).engine, "coarse");
}

TEST(CoarseEngine, MakesReductionsByReversal) {
  const Topology mesh = support::mesh(20, 20);
  const Collective scatter = of_megabytes(CollectiveKind::reduce_scatter, mesh.npus());
  const Synthesis scattered = coarse({mesh, scatter, Occupancy::transfer});
  EXPECT_GE(support::efficiency({mesh, scatter, Occupancy::transfer}, scattered.time), 0.98);
  const Collective reduce = of_megabytes(CollectiveKind::all_reduce, mesh.npus());
  const Synthesis reduced = coarse({mesh, reduce, Occupancy::transfer});
  EXPECT_EQ(reduced.engine, "coarse");
  // Without overlap an All-Reduce takes a Reduce-Scatter and an All-Gather.
  EXPECT_EQ(reduced.time_without_overlap, scattered.time * 2);
}

TEST(CoarseEngine, MakesTheSameScheduleForAnyNumberOfThreads) {
  // 48 x 44 has 2,112 NPUs: two regions, so that streams cross from one to the other.
  const Topology mesh = support::mesh(48, 44);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, mesh.npus());
  const Collective halves =
      support::collective(CollectiveKind::all_gather, mesh.npus(), bytes(1'056'000'000), 1, "0-1055; 1056-2111");
  const Topology thin = thinned(mesh, 37);
  const auto hash = [&](const Topology& topology, const Collective& collective, int threads) {
    const SynthesisProblem problem{topology, collective, Occupancy::transfer, {1, 1, "coarse"}, threads};
    return schedule_hash(find_synthesizer("tacos")->synthesize(problem).value().schedule);
  };
  const auto one = hash(mesh, gather, 1);
  for (const int threads : {2, 4, 8}) EXPECT_EQ(hash(mesh, gather, threads), one) << threads;
  EXPECT_EQ(hash(thin, gather, 3), hash(thin, gather, 1));
  EXPECT_EQ(hash(mesh, halves, 3), hash(mesh, halves, 1));
}

TEST(CoarseEngine, KeepsTheBestOfSeveralAttempts) {
  const Topology thin = thinned(support::mesh(32, 32), 37);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, thin.npus());
  const auto time = [&](std::uint32_t attempts) {
    return support::synthesize_checked("tacos", {thin, gather, Occupancy::transfer, {1, attempts, "coarse"}}).time;
  };
  EXPECT_LE(time(4), time(1));
}

TEST(CoarseEngine, ReadsTheSameSendsByLinkAsByTime) {
  const Topology grid = support::shape("grid(10,9,8)");
  const Collective gather = of_megabytes(CollectiveKind::all_gather, grid.npus(), 2);
  const Synthesis made = coarse({grid, gather, Occupancy::transfer});
  std::vector<Send> sends;
  SendBuffer buffer;
  ASSERT_GT(made.schedule.tiles(), 0U);
  for (std::size_t tile = 0; tile < made.schedule.tiles(); ++tile)
    for (std::size_t link = 0; link < grid.links(); ++link) {
      made.schedule.read_link(tile, LinkId::at(link), buffer);
      for (std::size_t i = 0; i < buffer.batch.size(); ++i) sends.push_back(buffer.batch[i]);
    }
  EXPECT_EQ(schedule_hash(make_list_schedule(std::move(sends))), schedule_hash(made.schedule));
}

TEST(CoarseEngine, RefusesWhatItCannotMakeAndSaysWhy) {
  const auto gather = [](std::size_t npus) { return of_megabytes(CollectiveKind::all_gather, npus); };
  const Topology mixed =
      support::shape("LI(4)_LI(4)", {support::kAlpha}, {gigabytes_per_second(50), gigabytes_per_second(25)});
  EXPECT_NE(refusal(mixed, gather(16)).find("one latency and bandwidth"), std::string::npos);
  EXPECT_NE(refusal(support::switched(4), gather(4)).find("switches"), std::string::npos);
  const Topology mesh = support::mesh(4, 4);
  EXPECT_NE(refusal(mesh, of_megabytes(CollectiveKind::broadcast, 16)).find("All-Gathers"), std::string::npos);
  const Collective half = support::collective(CollectiveKind::all_gather, 16, bytes(8'000'000), 1, "0-7");
  EXPECT_NE(refusal(mesh, half).find("every NPU in some process group"), std::string::npos);
  // NPU = x + 4y: the even ones are two columns with an odd one between them.
  const Collective columns = support::collective(CollectiveKind::all_gather, 16, bytes(8'000'000), 1,
                                                 "0,2,4,6,8,10,12,14; 1,3,5,7,9,11,13,15");
  EXPECT_NE(refusal(mesh, columns).find("not connected by itself"), std::string::npos);
  const Collective uneven = support::collective(CollectiveKind::all_gather, 16, bytes(8'000'000), 1, "0-3; 4-15");
  EXPECT_NE(refusal(mesh, uneven).find("chunks of one size"), std::string::npos);
  const Topology apart = support::graph(2, {{VertexId(0), VertexId(1), support::kAlpha, support::kBandwidth}});
  EXPECT_NE(refusal(apart, gather(2)).find("cannot be reached"), std::string::npos);
}

}  // namespace
}  // namespace tenex
