// TACOS against schedules and times derived by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "synthesis/synthesis_support.hpp"

namespace tenex {
namespace {

using support::kMegabyte;
using support::kStep;
using support::of_megabytes;
using support::tacos;

constexpr Occupancy kBothOccupancies[] = {Occupancy::transfer, Occupancy::serialization};

Topology four_npus(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& arcs) {
  std::vector<Link> links;
  for (const auto& [from, to] : arcs)
    links.push_back({VertexId(from), VertexId(to), support::kAlpha, support::kBandwidth});
  return support::graph(4, links);
}

SimTime gather_time_of_four(const Topology& topology) {
  return tacos({topology, of_megabytes(CollectiveKind::all_gather, 4), Occupancy::transfer}).time;
}

// After TACOS, Fig. 10: four NPUs with fewer and fewer links.
TEST(Tacos, TakesOneStepOnFourFullyConnectedNpus) {
  const auto made =
      tacos({support::fully_connected(4), of_megabytes(CollectiveKind::all_gather, 4), Occupancy::transfer});
  EXPECT_EQ(made.time, kStep);
  EXPECT_EQ(made.schedule.sends(), 12U);  // every NPU to every other
}

TEST(Tacos, TakesTwoStepsWithoutOnePairOfLinks) {
  // 0 and 2 are not joined: their chunks need two hops. NPU 0 receives those of 1 and 3 in step 1, 2's in step 2.
  const Topology nearly_full =
      four_npus({{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {3, 0}, {0, 3}, {1, 3}, {3, 1}});
  EXPECT_EQ(gather_time_of_four(nearly_full), kStep * 2);
}

TEST(Tacos, TakesTwoStepsOnABidirectionalRingOfFour) {
  // 3 chunks over 2 in-links: 2 steps, and both neighbours have the opposite NPU's chunk after one.
  EXPECT_EQ(gather_time_of_four(support::ring(4)), kStep * 2);
}

TEST(Tacos, TakesThreeStepsOnALineAStarAndAOneWayRingOfFour) {
  // An end of the line, a leaf of the star and every NPU of the one-way ring have one in-link for 3 chunks.
  EXPECT_EQ(gather_time_of_four(support::line(4)), kStep * 3);
  EXPECT_EQ(gather_time_of_four(four_npus({{0, 1}, {1, 0}, {0, 2}, {2, 0}, {0, 3}, {3, 0}})), kStep * 3);
  EXPECT_EQ(gather_time_of_four(four_npus({{0, 1}, {1, 2}, {2, 3}, {3, 0}})), kStep * 3);
}

TEST(Tacos, GathersOnA3x3MeshInFourSteps) {
  // A corner needs 8 chunks over 2 links: at least 4 steps; the farthest chunk makes 4 hops. 72 deliveries in all.
  const auto made = tacos({support::mesh(3, 3), of_megabytes(CollectiveKind::all_gather, 9), Occupancy::transfer}, 8);
  EXPECT_EQ(made.time, kStep * 4);
  EXPECT_EQ(made.schedule.sends(), 72U);
  EXPECT_EQ(made.engine, "event_driven");
}

// After TACOS, Fig. 12: a one-way triangle 0 -> 1 -> 2 -> 0 and a slow link 0 -> 2. Chunks of 1 MB:
//   link 0: 0 -> 1  alpha 1 us, beta*m 1 us: 2 us      link 2: 2 -> 0  alpha 2 us, beta*m 2 us: 4 us
//   link 1: 1 -> 2  alpha 1 us, beta*m 2 us: 3 us      link 3: 0 -> 2  alpha 2 us, beta*m 5 us: 7 us
Topology triangle() {
  return support::graph(3, {{VertexId(0), VertexId(1), microseconds(1), gigabytes_per_second(1'000)},
                            {VertexId(1), VertexId(2), microseconds(1), gigabytes_per_second(500)},
                            {VertexId(2), VertexId(0), microseconds(2), gigabytes_per_second(500)},
                            {VertexId(0), VertexId(2), microseconds(2), gigabytes_per_second(200)}});
}

Send sent(std::int64_t microsecond, std::uint32_t link, std::uint32_t chunk) {
  return {.start = microseconds(microsecond), .link = LinkId(link), .chunk = ChunkId(chunk)};
}

TEST(Tacos, LeavesAChunkToTheFasterWayRoundATriangle) {
  // t=0  0->1 sends c0 (arrives at 2), 1->2 c1 (at 3), 2->0 c2 (at 4). The slow link could deliver c0 to 2 at 7,
  //      but 1 has it at 2, and 1->2 is free at 3 and delivers it at 6: the slow link stays idle.
  // t=3  1->2 sends c0 (arrives at 6).
  // t=4  0 has c2: 0->1 sends it (arrives at 6). 2->0 is free and sends c1 (arrives at 8): all NPUs have all chunks.
  // NPU 0 needs 2 chunks over its one in-link of 4 us, so 8 us is also the least possible.
  const auto made = tacos({triangle(), of_megabytes(CollectiveKind::all_gather, 3), Occupancy::transfer});
  EXPECT_EQ(made.time, microseconds(8));
  EXPECT_THAT(list_sends(made.schedule), testing::ElementsAre(sent(0, 0, 0), sent(0, 1, 1), sent(0, 2, 2),
                                                              sent(3, 1, 0), sent(4, 0, 2), sent(4, 2, 1)));
}

TEST(Tacos, StartsTheNextChunkWhileTheLastIsOnItsWay) {
  // Under serialization links are free after beta*m.
  // t=0  as above: c0 is at 1 by 2, c1 at 2 by 3, c2 at 0 by 4; 0->1 is free at 1, 1->2 at 2, 2->0 at 2.
  // t=2  1 has c0 and 1->2 is free: at 2 by 5.      t=3  2 has c1: at 0 by 7.      t=4  0 has c2: at 1 by 6.
  // c1 has to make two hops, 3 + 4 us, to reach 0: 7 us is the least possible.
  const auto made = tacos({triangle(), of_megabytes(CollectiveKind::all_gather, 3), Occupancy::serialization});
  EXPECT_EQ(made.time, microseconds(7));
  EXPECT_THAT(list_sends(made.schedule), testing::ElementsAre(sent(0, 0, 0), sent(0, 1, 1), sent(0, 2, 2),
                                                              sent(2, 1, 0), sent(3, 2, 1), sent(4, 0, 2)));
}

TEST(Tacos, MeetsTheBoundOnEveryRing) {
  // Every NPU needs n-1 chunks over 2 in-links (n = 2: one chunk over one), and the opposite chunk makes floor(n/2)
  // hops: floor(n/2) steps under transfer. Under serialization each hop of the opposite chunk still takes alpha +
  // beta*m: the same time.
  for (std::uint32_t npus = 2; npus <= 9; ++npus)
    for (const Occupancy occupancy : kBothOccupancies) {
      SCOPED_TRACE(std::to_string(npus) + " NPUs, " + std::string(to_string(occupancy)));
      const Topology ring = support::ring(npus);
      EXPECT_EQ(tacos({ring, of_megabytes(CollectiveKind::all_gather, npus), occupancy}).time, kStep * (npus / 2));
      EXPECT_EQ(tacos({ring, of_megabytes(CollectiveKind::reduce_scatter, npus), occupancy}).time, kStep * (npus / 2));
    }
}

TEST(Tacos, PipelinesABroadcastDownALine) {
  // Root 0 sends 4 chunks one after another; the last leaves at step 3 and makes 3 hops to NPU 3: 3 + 3 = 6 steps.
  const auto made = tacos({support::line(4), of_megabytes(CollectiveKind::broadcast, 4, 4), Occupancy::transfer});
  EXPECT_EQ(made.time, kStep * 6);
  EXPECT_EQ(made.schedule.sends(), 12U);
}

TEST(Tacos, ReducesInTheTimeOfTheBroadcastBackwards) {
  const auto made = tacos({support::line(4), of_megabytes(CollectiveKind::reduce, 4, 4), Occupancy::transfer});
  EXPECT_EQ(made.time, kStep * 6);
  for (const Send& send : list_sends(made.schedule)) EXPECT_EQ(send.stage, Stage::reduce);
}

TEST(Tacos, AddsTheTwoPartsOfAnAllReduce) {
  // A fully connected 4: one step to reduce-scatter, one to gather; nothing to overlap.
  const auto made =
      tacos({support::fully_connected(4), of_megabytes(CollectiveKind::all_reduce, 4), Occupancy::transfer});
  EXPECT_EQ(made.time, kStep * 2);
  EXPECT_EQ(made.time_without_overlap, kStep * 2);
  EXPECT_EQ(made.schedule.sends(), 24U);
}

TEST(Tacos, RelaysThroughNpusThatAreInOtherGroups) {
  // "0,2; 1,3" on a line: 0 and 2 meet only through 1, 1 and 3 only through 2. Every chunk makes 2 hops: 8 sends, at
  // least 2 steps. Step 1: the own chunks go 0->1, 1->2, 2->1, 3->2. Step 2: 1 passes 0's to 2 and 2's to 0, 2 passes
  // 1's to 3 and 3's to 1, all over different links: 2 steps.
  const Topology line = support::line(4);
  const Collective gather = support::collective(CollectiveKind::all_gather, 4, kMegabyte * 2, 1, "0,2; 1,3");
  const auto made = tacos({line, gather, Occupancy::transfer});
  EXPECT_EQ(made.schedule.sends(), 8U);
  EXPECT_EQ(made.time, kStep * 2);
}

TEST(Tacos, KeepsGroupsThatNeedNoHelpToThemselves) {
  // Two rows of a 4x2 mesh: neither uses the links between them. An end of a row needs 3 chunks over one link.
  const Topology mesh = support::mesh(4, 2);
  const Collective gather = support::collective(CollectiveKind::all_gather, 8, kMegabyte * 4, 1, "0-3; 4-7");
  const auto made = tacos({mesh, gather, Occupancy::transfer});
  EXPECT_EQ(made.time, kStep * 3);
  EXPECT_EQ(made.schedule.sends(), 24U);
  for (const Send& send : list_sends(made.schedule))
    EXPECT_EQ(mesh.source(send.link).value() / 4, mesh.target(send.link).value() / 4);
}

TEST(Tacos, RunsGroupsOfDifferentChunkSizesTogether) {
  const Collective gather =
      support::collective(CollectiveKind::all_gather, 7, kMegabyte * 12, 2, "0-1; 2-4");  // 5, 6: bystanders
  for (const Occupancy occupancy : kBothOccupancies) tacos({support::ring(7), gather, occupancy}, 4);
}

TEST(Tacos, RefusesSwitchesAndSaysWhatToDo) {
  const Topology star = support::switched(4);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 4);
  for (const Synthesizer& synthesizer : synthesizers()) {
    const auto made = synthesizer.synthesize({star, gather});
    ASSERT_EQ(made.ok(), synthesizer.reads.switches) << synthesizer.name;
    if (made.ok()) continue;
    EXPECT_EQ(made.errors()[0].fault, Fault::input);
    EXPECT_THAT(made.errors()[0].suggestion, testing::HasSubstr("unwind"));
  }
}

TEST(Tacos, NamesAnNpuThatCannotBeReached) {
  // Only 0 -> 1: nothing reaches 0.
  const Topology one_way = support::graph(2, {{VertexId(0), VertexId(1), support::kAlpha, support::kBandwidth}});
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 2);
  for (const Synthesizer& synthesizer : synthesizers()) {
    const auto made = synthesizer.synthesize({one_way, gather});
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.errors()[0].problem, "NPU 0 cannot be reached from NPU 1");
  }
  // A broadcast from 0 needs no way back.
  EXPECT_EQ(tacos({one_way, of_megabytes(CollectiveKind::broadcast, 2), Occupancy::transfer}).time, kStep);
}

TEST(Tacos, CountsHopsWithTheReference) {
  for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    const Topology full = support::fully_connected(4);
    const Collective collective = of_megabytes(kind, 4);
    const auto made = support::synthesize_checked("tacos_reference", {full, collective, Occupancy::transfer});
    EXPECT_EQ(made.time, kStep);
    EXPECT_EQ(made.engine, "reference");
  }
}

}  // namespace
}  // namespace tenex
