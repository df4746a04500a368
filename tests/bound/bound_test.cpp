// Bounds against numbers derived by hand. Unless said otherwise a chunk is 1 MB on links of 500 ns and 50 GB/s: beta*m
// = 20 us, a hop takes 20.5 us; a "step" is a hop under `transfer`.
#include "tenex/bound/bound.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/bound/cut.hpp"

namespace tenex {
namespace {

constexpr SimTime kStep = nanoseconds(20'500);
constexpr Bytes kBoundMegabyte = bytes(1'000'000);

SimTime bound_named(std::string_view name, const BoundProblem& problem) {
  for (const Bound& bound : cheap_bounds(problem))
    if (bound.name == name) return bound.time;
  ADD_FAILURE() << "no bound " << name;
  return SimTime::zero();
}

Collective of_megabytes(CollectiveKind kind, std::size_t npus, std::int64_t chunks = 1) {
  const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  const std::int64_t pieces = rooted ? chunks : chunks * static_cast<std::int64_t>(npus);
  return support::collective(kind, npus, kBoundMegabyte * pieces, chunks);
}

TEST(Bound, CountsWholeChunksIntoTheCornerOfAMesh) {
  const Topology mesh = support::mesh(3, 3);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 9);
  // A corner has 2 in-links and needs 8 chunks: 4 each, 4 hops of 20.5 us one after another.
  EXPECT_EQ(bound_named("ejection", {mesh, gather, Occupancy::transfer}), kStep * 4);
  // Under serialization a link delivers every 20 us once alpha has passed: 0.5 + 4 * 20 us.
  EXPECT_EQ(bound_named("ejection", {mesh, gather, Occupancy::serialization}), nanoseconds(80'500));
  // One chunk has to leave each NPU: one hop.
  EXPECT_EQ(bound_named("injection", {mesh, gather, Occupancy::transfer}), kStep);
  // Corner to opposite corner: 2 + 2 hops.
  EXPECT_EQ(bound_named("eccentricity", {mesh, gather, Occupancy::transfer}), kStep * 4);
  // 8 arrivals at each of 9 NPUs over 24 links: 72 / 24 = 3 steps.
  EXPECT_EQ(bound_named("link_total", {mesh, gather, Occupancy::transfer}), kStep * 3);
  EXPECT_EQ(best_cheap_bound({mesh, gather, Occupancy::transfer}).time, kStep * 4);
  EXPECT_EQ(best_cheap_bound({mesh, gather, Occupancy::transfer}).name, "ejection");
}

TEST(Bound, RoundsAnOddNumberOfChunksUp) {
  // A ring of 6: 5 chunks over 2 in-links: one of them delivers 3.
  const Topology ring = support::ring(6);
  EXPECT_EQ(bound_named("ejection", {ring, of_megabytes(CollectiveKind::all_gather, 6), Occupancy::transfer}),
            kStep * 3);
}

TEST(Bound, ExchangesInjectionAndEjectionForReduceScatter) {
  const Topology mesh = support::mesh(3, 3);
  const Collective scatter = of_megabytes(CollectiveKind::reduce_scatter, 9);
  // The contributions to 8 chunks leave a corner over 2 links; one sum has to come in.
  EXPECT_EQ(bound_named("injection", {mesh, scatter, Occupancy::transfer}), kStep * 4);
  EXPECT_EQ(bound_named("ejection", {mesh, scatter, Occupancy::transfer}), kStep);
}

TEST(Bound, AddsLinksOfUnequalSpeed) {
  // Four chunks of 1 MB go from 0 to 1 over a link of 3 us and one of 5 us per hop. By 9 us the links have delivered 3
  // + 1, by 8 us only 2 + 1.
  const Topology pair = support::graph(2, {{VertexId(0), VertexId(1), microseconds(1), gigabytes_per_second(500)},
                                           {VertexId(0), VertexId(1), microseconds(1), gigabytes_per_second(250)},
                                           {VertexId(1), VertexId(0), microseconds(1), gigabytes_per_second(500)}});
  const Collective broadcast = of_megabytes(CollectiveKind::broadcast, 2, 4);
  EXPECT_EQ(bound_named("ejection", {pair, broadcast, Occupancy::transfer}), microseconds(9));
  // Serialization: 2 us and 4 us per chunk after 1 us: by 7 us 3 + 1, just before 7 us only 2 + 1.
  EXPECT_EQ(bound_named("ejection", {pair, broadcast, Occupancy::serialization}), microseconds(7));
  EXPECT_EQ(bound_named("injection", {pair, broadcast, Occupancy::transfer}), microseconds(9));
}

TEST(Bound, TakesTheSlowestNpuOfAHeterogeneousLine) {
  // Chunks of 4,000 B: 0-1 takes 1 + 1 = 2 us per hop, 1-2 takes 2 + 4 = 6 us. NPU 2 needs 2 chunks over one slow link:
  // 12 us, or 2 + 2 * 4 = 10 us under serialization. NPU 1 would need 4 us, NPU 0 4 us.
  const Topology line = support::line3_heterogeneous();
  const Collective gather = support::collective(CollectiveKind::all_gather, 3, bytes(12'000));
  EXPECT_EQ(bound_named("ejection", {line, gather, Occupancy::transfer}), microseconds(12));
  EXPECT_EQ(bound_named("ejection", {line, gather, Occupancy::serialization}), microseconds(10));
  // 0 to 2: 2 + 6 us.
  EXPECT_EQ(bound_named("eccentricity", {line, gather, Occupancy::transfer}), microseconds(8));
}

TEST(Bound, MeasuresDistancesTheWayTheChunksGo) {
  // One-way triangle, chunks of 1,000 B at 1 GB/s (1 us): hops of 0->1 2 us, 1->2 3 us, 2->0 5 us.
  const Topology triangle = support::graph(3, {{VertexId(0), VertexId(1), microseconds(1), gigabytes_per_second(1)},
                                               {VertexId(1), VertexId(2), microseconds(2), gigabytes_per_second(1)},
                                               {VertexId(2), VertexId(0), microseconds(4), gigabytes_per_second(1)}});
  const auto distance = [&](CollectiveKind kind) {
    const Collective one = support::collective(kind, 3, bytes(kind == CollectiveKind::all_gather ? 3'000 : 1'000));
    return bound_named("eccentricity", {triangle, one, Occupancy::transfer});
  };
  EXPECT_EQ(distance(CollectiveKind::broadcast), microseconds(5));   // 0 -> 1 -> 2
  EXPECT_EQ(distance(CollectiveKind::reduce), microseconds(8));      // 1 -> 2 -> 0
  EXPECT_EQ(distance(CollectiveKind::all_gather), microseconds(8));  // the farthest of all pairs: 1 to 0
}

TEST(Bound, AsksTheRootAloneToSendABroadcast) {
  // A line of 3, root 0, 4 chunks: one link out of the root, one into NPU 2: 4 steps. The far end is 2 hops away. 8
  // arrivals over 4 links: 2 steps.
  const Topology line = support::line(3);
  const Collective broadcast = of_megabytes(CollectiveKind::broadcast, 3, 4);
  EXPECT_EQ(bound_named("injection", {line, broadcast, Occupancy::transfer}), kStep * 4);
  EXPECT_EQ(bound_named("ejection", {line, broadcast, Occupancy::transfer}), kStep * 4);
  EXPECT_EQ(bound_named("eccentricity", {line, broadcast, Occupancy::transfer}), kStep * 2);
  EXPECT_EQ(bound_named("link_total", {line, broadcast, Occupancy::transfer}), kStep * 2);
}

TEST(Bound, SendsTheLastChunkOfABroadcastAfterTheOthers) {
  // The line of 3 again: the root's one link starts the fourth chunk at step 3, and it makes 2 hops: 5 steps.
  const Topology line = support::line(3);
  const Collective broadcast = of_megabytes(CollectiveKind::broadcast, 3, 4);
  EXPECT_EQ(bound_named("pipeline", {line, broadcast, Occupancy::transfer}), kStep * 5);
  // Under serialization the fourth starts after 3 * 20 us: 60 + 41 us.
  EXPECT_EQ(bound_named("pipeline", {line, broadcast, Occupancy::serialization}), nanoseconds(101'000));
  const Collective reduce = of_megabytes(CollectiveKind::reduce, 3, 4);
  EXPECT_EQ(bound_named("pipeline", {line, reduce, Occupancy::transfer}), kStep * 5);
}

TEST(Bound, WaitsForWhatIsFarAwayToComeNear) {
  // mesh(5,5): 2 chunks are one hop from a corner, 3 are two hops away, so 19 are three or more. These cannot start on
  // the last hop before 2 * 20.5 us, and one of the corner's 2 links carries 10 of them: 41 + 0.5 + 10 * 20 us. The
  // relay bound is 241 us.
  const Topology mesh = support::mesh(5, 5);
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    const Collective collective = of_megabytes(kind, 25);
    EXPECT_EQ(bound_named("approach", {mesh, collective, Occupancy::serialization}), nanoseconds(241'500));
    EXPECT_EQ(best_cheap_bound({mesh, collective, Occupancy::serialization}).name, "approach");
    EXPECT_EQ(bound_named("approach", {mesh, collective, Occupancy::transfer}), kStep * 12);
  }
  // A line of 3, one link into an end: the distant chunk starts on it after one hop.
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 3);
  EXPECT_EQ(bound_named("approach", {support::line(3), gather, Occupancy::serialization}), kStep * 2);
  // A message of several chunks takes no less time than these, and waits as long for the distant one.
  EXPECT_EQ(bound_named("approach", {support::line(3), gather, Occupancy::transfer, true, false}), kStep * 2);
}

TEST(Bound, WaitsForWhatIsFarAwayToSpreadInASlice) {
  // RI(3)_FC(11)_FC(2) at 25, 400 and 100 GB/s: hops of 40.5, 3 and 10.5 us. A row of 11 NPUs needs the 44 chunks of
  // the two other planes. Its 22 ring links bring 22 by 40.5 us, and the next ones by 81 us. Its 11 links from the
  // other row of its plane can start with any of them at 40.5 us, so they bring 11 by 51 us and 11 by 61.5 us. The last
  // ones are at one NPU of the row each, and a hop takes them on: 64.5 us. Then they have been everywhere, if all goes
  // well.
  const Topology mixed =
      support::shape("RI(3)_FC(11)_FC(2)", {support::kAlpha},
                     {gigabytes_per_second(25), gigabytes_per_second(400), gigabytes_per_second(100)});
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter})
    EXPECT_EQ(bound_named("approach", {mixed, of_megabytes(kind, 66), Occupancy::transfer}), nanoseconds(64'500));
}

TEST(Bound, WaitsForLinksInsideASlice) {
  // FC(2)_RI(7) at 400 and 25 GB/s: hops of 3 and 40.5 us. A pair needs the 12 chunks of the six others. Its 4 ring
  // links bring 8 by 81 us and 12 by 121.5 us. So of the 24 that the pair's NPUs need together, 12 come over the ring,
  // at most 8 pass between the two of chunks that are there before 121.5 us, and 4 are left. The two links between them
  // then take two hops: 127.5 us.
  const Topology pairs =
      support::shape("FC(2)_RI(7)", {support::kAlpha}, {gigabytes_per_second(400), gigabytes_per_second(25)});
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter})
    EXPECT_EQ(bound_named("approach", {pairs, of_megabytes(kind, 14), Occupancy::transfer}), nanoseconds(127'500));
}

TEST(Bound, WaitsForWhatANeighbourHasToRelay) {
  // torus(5,5): 24 chunks over 4 in-links, 6 each. Under serialization a link brings its source's own chunk by 20.5 us,
  // when the source gets something to relay, and 5 more by 20.5 + 0.5 + 5 * 20 us. Counting alone: 0.5 + 6 * 20.
  const Topology torus = support::torus(5, 5);
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    const Collective collective = of_megabytes(kind, 25);
    EXPECT_EQ(bound_named("relay", {torus, collective, Occupancy::serialization}), nanoseconds(121'000));
    EXPECT_EQ(bound_named("relay", {torus, collective, Occupancy::transfer}), kStep * 6);
    EXPECT_EQ(best_cheap_bound({torus, collective, Occupancy::serialization}).name, "relay");
  }
  EXPECT_EQ(bound_named("ejection", {torus, of_megabytes(CollectiveKind::all_gather, 25), Occupancy::serialization}),
            nanoseconds(120'500));
  // A switch has nothing of its own: 3 chunks over the link down from it, none before one step.
  const Topology star = support::switched(4);
  EXPECT_EQ(bound_named("relay", {star, of_megabytes(CollectiveKind::all_gather, 4), Occupancy::transfer}), kStep * 4);
}

TEST(Bound, CountsWhatEntersASliceOverItsSlowDimensions) {
  // RI(8)_FC(4), 2 chunks: the 4 NPUs of a fast FC need 56 chunks over 8 slow ring links, 7 each of 40 us + 0.5 us.
  const Topology topology =
      support::shape("RI(8)_FC(4)", {support::kAlpha}, {gigabytes_per_second(25), gigabytes_per_second(200)});
  const auto cut = [](const Topology& given, const Collective& collective, Occupancy occupancy) {
    return cut_bound({given, collective, occupancy}, std::uint64_t{1} << 20)->time;
  };
  const auto of_slice = [&](CollectiveKind kind, Occupancy occupancy) {
    return cut(topology, of_megabytes(kind, 32, 2), occupancy);
  };
  EXPECT_EQ(of_slice(CollectiveKind::all_gather, Occupancy::transfer), nanoseconds(7 * 40'500));
  EXPECT_EQ(of_slice(CollectiveKind::all_gather, Occupancy::serialization), nanoseconds(500 + 7 * 40'000));
  EXPECT_EQ(of_slice(CollectiveKind::reduce_scatter, Occupancy::transfer), nanoseconds(7 * 40'500));
  // All-Reduce: all 64 chunks enter, 8 over each link.
  EXPECT_EQ(of_slice(CollectiveKind::all_reduce, Occupancy::transfer), nanoseconds(8 * 40'500));
  // mesh(3,4), slow along its 4 rows: a row of 3 at the edge needs 9 chunks over 3 links, 3 each of 40.5 us.
  const Topology mesh =
      support::shape("mesh(3,4)", {support::kAlpha}, {gigabytes_per_second(200), gigabytes_per_second(25)});
  EXPECT_EQ(cut(mesh, of_megabytes(CollectiveKind::all_gather, 12), Occupancy::transfer), nanoseconds(3 * 40'500));
}

TEST(Bound, KnowsTheFarthestNpuOfATorusWithoutSearching) {
  // RI(6)_FC(4)_RI(5): by hand 3 + 1 + 2 hops of 20.5, 10.5 and 40.5 us. The same links without a declared shape are
  // searched.
  const Topology topology =
      support::shape("RI(6)_FC(4)_RI(5)", {support::kAlpha},
                     {gigabytes_per_second(50), gigabytes_per_second(100), gigabytes_per_second(25)});
  TopologyBuilder builder(topology.npus());
  for (std::size_t i = 0; i < topology.links(); ++i) builder.add_link(topology.link(LinkId::at(i)));
  const Topology undeclared = std::move(builder).build().value();
  const Collective gather = of_megabytes(CollectiveKind::all_gather, topology.npus());
  for (const Topology* each : {&topology, &undeclared})
    EXPECT_EQ(bound_named("eccentricity", {*each, gather, Occupancy::transfer}),
              nanoseconds(3 * 20'500 + 10'500 + 2 * 40'500));
}

TEST(Bound, LetsAnOverlappedAllReduceBeShorterThanItsParts) {
  // 3 NPUs in a line, 4 chunks each, 12 in all: 12 arrivals over the one link into an end; 2 * 2 * 12 = 48 sends over 4
  // links: 12 steps each. The other end's contribution to each of the 12 comes 2 hops: 2 + 11 = 13 steps, and 13 are
  // possible.
  const Topology line = support::line(3);
  const Collective all_reduce = of_megabytes(CollectiveKind::all_reduce, 3, 4);
  EXPECT_EQ(bound_named("ejection", {line, all_reduce, Occupancy::transfer, true}), kStep * 12);
  EXPECT_EQ(bound_named("link_total", {line, all_reduce, Occupancy::transfer, true}), kStep * 12);
  EXPECT_EQ(best_cheap_bound({line, all_reduce, Occupancy::transfer, true}).time, kStep * 13);
  EXPECT_EQ(best_cheap_bound({line, all_reduce, Occupancy::transfer, true}).name, "pipeline");
  for (const Bound& bound : cheap_bounds({line, all_reduce, Occupancy::transfer, true}))
    EXPECT_NE(bound.name, "sum_of_parts");
  // Without overlap: the contributions to 8 chunks leave an end, then 8 chunks come in: 8 + 8 steps.
  const Bound parts = best_cheap_bound({line, all_reduce, Occupancy::transfer, false});
  EXPECT_EQ(parts.time, kStep * 16);
  EXPECT_EQ(parts.name, "sum_of_parts");
}

TEST(Bound, CountsAllSendsOfAnAllReduce) {
  // A ring of 4: 4 chunks into each NPU over 2 links take 2 steps; but 2 * 3 sends for each of 4 chunks over 8 links
  // take 3. (So does the opposite NPU's contribution, 2 hops away, to 4 chunks over 2 links: 2 + 1.)
  const Topology ring = support::ring(4);
  const Bound bound = best_cheap_bound({ring, of_megabytes(CollectiveKind::all_reduce, 4), Occupancy::transfer, true});
  EXPECT_EQ(bound.time, kStep * 3);
  EXPECT_EQ(bound.name, "link_total");
}

TEST(Bound, ClaimsFewerArrivalsWhereASwitchAdds) {
  // 4 NPUs on a reducing and copying switch, All-Reduce of 4 chunks: only one arrival of each chunk at each NPU is
  // certain: 16 over 4 links into NPUs, 4 steps. Without the reducing switch: 2 * 3 * 4 = 24 arrivals, 6 steps.
  const auto star = [](SwitchProperties properties) {
    TopologyBuilder builder(4);
    const VertexId hub = builder.add_switch(properties);
    for (std::uint32_t i = 0; i < 4; ++i)
      builder.add_link_pair({VertexId(i), hub, support::kAlpha, support::kBandwidth});
    return std::move(builder).build().value();
  };
  const Collective all_reduce = of_megabytes(CollectiveKind::all_reduce, 4);
  const Topology adding = star({.copy = true, .reduce = true});
  EXPECT_EQ(bound_named("link_total", {adding, all_reduce, Occupancy::transfer}), kStep * 4);
  const Topology plain = star({});
  EXPECT_EQ(bound_named("link_total", {plain, all_reduce, Occupancy::transfer}), kStep * 6);
}

TEST(Bound, LooksThroughASwitch) {
  // 4 NPUs on a switch, All-Gather: 3 chunks over the one in-link of each NPU: 3 steps; two hops between any two.
  const Topology star = support::switched(4);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 4);
  EXPECT_EQ(bound_named("ejection", {star, gather, Occupancy::transfer}), kStep * 3);
  EXPECT_EQ(bound_named("eccentricity", {star, gather, Occupancy::transfer}), kStep * 2);
}

TEST(Bound, TakesTheSlowestGroup) {
  // 6 MB in groups of 2 and 3: chunks of 3 MB (60.5 us per hop) and 2 MB (40.5 us); every hop is direct, each NPU has 4
  // in-links, so each group needs one hop.
  const Topology full = support::fully_connected(5);
  const Collective gather = support::collective(CollectiveKind::all_gather, 5, kBoundMegabyte * 6, 1, "0-1; 2-4");
  EXPECT_EQ(best_cheap_bound({full, gather, Occupancy::transfer}).time, nanoseconds(60'500));
}

TEST(Bound, SaysThatNothingArrivesWhereNoLinkLeads) {
  const Topology one_way = support::graph(2, {{VertexId(0), VertexId(1), support::kAlpha, support::kBandwidth}});
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 2);
  EXPECT_EQ(best_cheap_bound({one_way, gather, Occupancy::transfer}).time, SimTime::max());
}

TEST(Bound, CarriesAnAllToAllAsFarAsItHasToGo) {
  // A ring of 8: from each NPU the distances are 1 1 2 2 3 3 4 = 16, from 8 NPUs 128 sends over 16 links: 8 steps.
  // Ejection needs only 7 chunks over 2 links: 4 steps.
  const Collective exchange = of_megabytes(CollectiveKind::all_to_all, 8);
  const Topology ring = support::ring(8);
  EXPECT_EQ(bound_named("volume_distance", {ring, exchange, Occupancy::transfer}), kStep * 8);
  EXPECT_EQ(bound_named("ejection", {ring, exchange, Occupancy::transfer}), kStep * 4);
  EXPECT_EQ(bound_named("injection", {ring, exchange, Occupancy::transfer}), kStep * 4);
  EXPECT_EQ(best_cheap_bound({ring, exchange, Occupancy::transfer}).time, kStep * 8);
  // Two groups of four neighbours are no case for the formula, so distances are searched. In a group on a line of 4 the
  // distances sum to 2 (3*1 + 2*2 + 1*3) = 20; 40 sends over 16 links: 2.5, so 3 steps.
  CollectiveRequest halves;
  halves.kind = CollectiveKind::all_to_all;
  halves.npus = 8;
  halves.groups = parse_groups("0-3; 4-7", 8).value();
  halves.size = kBoundMegabyte * 4;
  const Collective in_halves = Collective::make(halves).value();
  EXPECT_EQ(bound_named("volume_distance", {ring, in_halves, Occupancy::transfer}), kStep * 3);
}

TEST(Bound, CountsWhatCrossesTheMiddleOfALine) {
  // A mesh of 4x6, a line of 6 along dimension 2: 3 * 3 of its pairs cross the middle each way, times 4^2 pairs of
  // lines: 144 chunks over 4 links, 36 steps. On average: distances along it 2 (5*1+4*2+3*3+2*4+1*5) = 70, times 16,
  // over 4 * 10 links: 28 steps.
  const Topology mesh = support::mesh(4, 6);
  const Collective exchange = of_megabytes(CollectiveKind::all_to_all, 24);
  EXPECT_EQ(bound_named("middle_cut", {mesh, exchange, Occupancy::transfer}), kStep * 36);
  EXPECT_EQ(bound_named("volume_distance", {mesh, exchange, Occupancy::transfer}), kStep * 28);
  EXPECT_EQ(best_cheap_bound({mesh, exchange, Occupancy::transfer}).name, "middle_cut");
}

TEST(Bound, CountsWholeChunksWhereSendsCarrySeveral) {
  // An NPU of a ring of 8 receives 7 chunks over 2 links. One to a send: 4 hops over one of them, 82 us under transfer.
  // Several to a send: 4 MB over one of them after one alpha, 0.5 + 80 us under either occupancy.
  const Topology ring = support::ring(8);
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 8);
  const BoundProblem shared{ring, gather, Occupancy::transfer, true, false};
  EXPECT_EQ(bound_named("ejection", {ring, gather, Occupancy::transfer, true, true}), kStep * 4);
  EXPECT_EQ(bound_named("ejection", shared), nanoseconds(80'500));
  EXPECT_EQ(bound_named("ejection", {ring, gather, Occupancy::serialization, true, false}), nanoseconds(80'500));
  // All links together: 56 chunks over 16 links, so four over some of them.
  EXPECT_EQ(bound_named("link_total", shared), nanoseconds(80'500));
  // The chunk of the opposite NPU takes four hops, in whatever company.
  EXPECT_EQ(bound_named("pipeline", shared), kStep * 4);
  // Three chunks that leave an NPU of a ring of 3 over 2 links: two share one, in one send of 40.5 us or more, and a
  // second one starts when 20 us of it are over.
  const Topology three = support::ring(3);
  const Collective broadcast = support::collective(CollectiveKind::broadcast, 3, bytes(3'000'000), 3);
  EXPECT_EQ(bound_named("pipeline", {three, broadcast, Occupancy::transfer, true, false}), nanoseconds(40'500));
  EXPECT_EQ(bound_named("pipeline", {three, broadcast, Occupancy::transfer}), kStep * 2);
}

TEST(Bound, HandlesFortyThousandNpus) {
  // A corner of the 200x200 mesh needs 39,999 chunks over 2 links: 20,000 steps.
  const Topology mesh = support::mesh(200, 200);
  const Bound bound = best_cheap_bound({mesh, of_megabytes(CollectiveKind::all_gather, 40'000), Occupancy::transfer});
  EXPECT_EQ(bound.time, kStep * 20'000);
}

TEST(Bound, GivesThePapersIdealForAMesh) {
  const Topology mesh = support::mesh(3, 3);
  // 8/9 of 9 MB over the 100 GB/s of a corner is 80 us; the diameter is 4 * 0.5 us.
  EXPECT_EQ(paper_ideal(mesh, of_megabytes(CollectiveKind::all_gather, 9)), microseconds(82));
  EXPECT_EQ(paper_ideal(mesh, of_megabytes(CollectiveKind::reduce_scatter, 9)), microseconds(82));
  // Twice the bytes, the diameter once.
  EXPECT_EQ(paper_ideal(mesh, of_megabytes(CollectiveKind::all_reduce, 9)), microseconds(162));
  EXPECT_EQ(paper_ideal(mesh, of_megabytes(CollectiveKind::broadcast, 9)), std::nullopt);
}

// The in-links of a receiver, drawn at random with picosecond hops, against a count that advances time by one
// picosecond.
RC_GTEST_PROP(BoundProperty, EjectionIsTheFirstPicosecondThatIsEnough, ()) {
  const auto chunks = *rc::gen::inRange<std::int64_t>(1, 20);
  const auto occupancy = *rc::gen::arbitrary<bool>() ? Occupancy::transfer : Occupancy::serialization;
  struct Drawn {
    std::int64_t alpha;
    std::int64_t serialization;
  };
  std::vector<Drawn> drawn;
  std::vector<Link> links{{VertexId(1), VertexId(0), picoseconds(1), Bandwidth::of(1'000'000'000'000)}};
  for (auto left = *rc::gen::inRange(1, 5); left > 0; --left) {
    const Drawn one{*rc::gen::inRange<std::int64_t>(0, 12), *rc::gen::inRange<std::int64_t>(1, 12)};
    drawn.push_back(one);
    // One byte takes ceil(1e12 / bandwidth) ps; the quotient rounded down makes that exactly `serialization`.
    links.push_back(
        {VertexId(0), VertexId(1), picoseconds(one.alpha), Bandwidth::of(1'000'000'000'000 / one.serialization)});
    if (serialization_time(bytes(1), links.back().bandwidth).count() != one.serialization) drawn.back().serialization++;
  }
  const Topology pair = support::graph(2, links);
  const Collective broadcast = support::collective(CollectiveKind::broadcast, 2, bytes(chunks), chunks);

  std::int64_t time = 0;
  for (std::int64_t delivered = 0; delivered < chunks; ++time) {
    delivered = 0;
    for (const auto& [alpha, serialization] : drawn) {
      const std::int64_t hop = alpha + serialization;
      if (occupancy == Occupancy::transfer)
        delivered += time / hop;
      else if (time >= hop)
        delivered += (time - alpha) / serialization;
    }
    if (delivered >= chunks) break;
  }
  RC_ASSERT(bound_named("ejection", {pair, broadcast, occupancy}) == picoseconds(time));
}

}  // namespace
}  // namespace tenex
