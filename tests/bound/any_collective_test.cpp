// Bounds of gathers, scatters, stored conditions and mixed groups, against numbers derived by hand. Unless said
// otherwise a chunk is 1 MB on links of 500 ns and 50 GB/s: beta*m = 20 us, a hop takes 20.5 us; a "step" is a hop
// under `transfer`.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "bound/any_schedule.hpp"
#include "bound/graphs.hpp"
#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/certificates.hpp"
#include "tenex/bound/cut.hpp"
#include "tenex/bound/flow.hpp"
#include "tenex/bound/strength.hpp"
#include "tenex/topology/distance.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;

constexpr SimTime kAnyStep = nanoseconds(20'500);
constexpr Bytes kMegabyte = bytes(1'000'000);
constexpr std::uint64_t kAnyWork = 100'000'000;

std::optional<SimTime> find_bound(std::string_view name, const BoundProblem& problem) {
  for (const Bound& bound : cheap_bounds(problem))
    if (bound.name == name) return bound.time;
  return std::nullopt;
}

SimTime bound_found(std::string_view name, const BoundProblem& problem) {
  const auto found = find_bound(name, problem);
  EXPECT_TRUE(found) << "no bound " << name;
  return found.value_or(SimTime::zero());
}

/// n chunks of 1 MB (times `chunks`) from or to a root.
Collective rooted(CollectiveKind kind, std::uint32_t npus, std::uint32_t root, std::int64_t chunks = 1) {
  return Collective::make({kind, npus, {}, chunks, kMegabyte * (chunks * npus), root}).value();
}

Condition pair(std::uint32_t from, std::uint32_t to, std::int64_t kilobytes = 1000) {
  return {from, {to}, bytes(kilobytes * 1000)};
}

TEST(BoundOfScatter, FromTheEndOfALineIsItsLink) {
  // Three chunks leave over one link; the farthest goes three hops; 1 + 2 + 3 hops over 6 links.
  const auto line = support::line(4);
  const auto scattered = rooted(scatter, 4, 0);
  const BoundProblem problem{{line, scattered, Occupancy::transfer}};
  EXPECT_EQ(bound_found("injection", problem), kAnyStep * 3);
  EXPECT_EQ(bound_found("ejection", problem), kAnyStep);
  EXPECT_EQ(bound_found("eccentricity", problem), kAnyStep * 3);
  EXPECT_EQ(bound_found("link_total", problem), kAnyStep);
  EXPECT_EQ(bound_found("volume_distance", problem), kAnyStep);
  EXPECT_EQ(bound_found("approach", problem), kAnyStep * 3);
  EXPECT_FALSE(find_bound("pipeline", problem));  // the last chunk to leave may be the nearest NPU's
  EXPECT_FALSE(find_bound("relay", problem));
  EXPECT_FALSE(find_bound("middle_cut", problem));
  // Serialization: the third chunk arrives after 0.5 + 3 * 20 us; the farthest needs 3 * 20.5 us.
  const BoundProblem overlapping{{line, scattered, Occupancy::serialization}};
  EXPECT_EQ(bound_found("injection", overlapping), nanoseconds(60'500));
  EXPECT_EQ(bound_found("approach", overlapping), nanoseconds(61'500));
  EXPECT_EQ(paper_ideal(line, scattered), std::nullopt);
}

TEST(BoundOfScatter, FromInsideALineIsTheLongerSide) {
  // Root 1 of 5: NPUs 2, 3 and 4 are on one side, 3 chunks over one link; 4 chunks over two links say 2 steps.
  const auto line = support::line(5, SimTime::zero());
  const auto scattered = rooted(scatter, 5, 1);
  const BoundProblem problem{{line, scattered, Occupancy::transfer}};
  EXPECT_EQ(bound_found("injection", problem), microseconds(40));
  const auto cut = cut_bound(problem, kAnyWork).value();
  EXPECT_EQ(cut.time, microseconds(60));
  EXPECT_EQ(cut.inside, (std::vector<VertexId>{VertexId(0), VertexId(1)}));
  EXPECT_TRUE(cut.densest);
  EXPECT_EQ(check_cut(problem, cut.inside), cut.time);
}

TEST(BoundOfGather, IsTheRootsLinks) {
  // A switch: 3 chunks over the root's one link. A ring of 6: 5 chunks over two links, and 3 hops.
  const auto star = support::switched(4);
  EXPECT_EQ(bound_found("ejection", {{star, rooted(gather, 4, 2), Occupancy::transfer}}), kAnyStep * 3);
  EXPECT_EQ(bound_found("injection", {{star, rooted(gather, 4, 2), Occupancy::transfer}}), kAnyStep);
  const auto ring = support::ring(6);
  const auto gathered = rooted(gather, 6, 5);
  EXPECT_EQ(bound_found("ejection", {{ring, gathered, Occupancy::transfer}}), kAnyStep * 3);
  EXPECT_EQ(bound_found("eccentricity", {{ring, gathered, Occupancy::transfer}}), kAnyStep * 3);
  // 20 chunks each: 100 over two links.
  const auto many = rooted(gather, 6, 5, 20);
  EXPECT_EQ(bound_found("ejection", {{ring, many, Occupancy::transfer}}), kAnyStep * 50);
  const auto cut = cut_bound({{ring, many, Occupancy::transfer}}, kAnyWork).value();
  EXPECT_EQ(cut.time, kAnyStep * 50);
  EXPECT_TRUE(cut.densest);
}

TEST(BoundOfGather, MeasuresDistancesTheWayTheChunksGo) {
  // One-way ring of 4 toward larger numbers: from NPU 1 to the root 0 it is 3 hops, from 0 to 3 too, from 0 to 1 one.
  std::vector<Link> links;
  for (std::uint32_t npu = 0; npu < 4; ++npu) links.push_back(support::link(npu, (npu + 1) % 4));
  const auto ring = support::graph(4, links);
  std::vector<NpuId> ends{NpuId(0), NpuId(1)};
  const auto between = [&](CollectiveKind kind) {
    return Collective::make({kind, 4, {{ends}}, 1, kMegabyte * 2, 0}).value();
  };
  const auto gathered = between(gather);
  const auto scattered = between(scatter);
  EXPECT_EQ(bound_found("eccentricity", {{ring, gathered, Occupancy::transfer}}), microseconds(60));
  EXPECT_EQ(bound_found("eccentricity", {{ring, scattered, Occupancy::transfer}}), microseconds(20));
}

TEST(BoundOfAllToAllv, CountsEachSizeAndAllTogether) {
  // RI(3); NPU 0 sends 2 MB to each other NPU, the others 1 MB. As one chunk each: 40.5 us for the large ones. In ten:
  // NPU 1 gets ten of 4 us and ten of 2 us over two links: 30 us each. Counted as the smaller: 20; the larger: 20.
  const auto ring = support::ring(3);
  const std::vector<Condition> matrix{pair(0, 1, 2000), pair(0, 2, 2000), pair(1, 0),
                                      pair(1, 2),       pair(2, 0),       pair(2, 1)};
  const auto whole = support::of_conditions(3, matrix, 1, all_to_allv);
  const auto in_ten = support::of_conditions(3, matrix, 10, all_to_allv);
  const auto bound = [&](std::string_view name, const Collective& collective, bool single_chunks = true) {
    return bound_found(name, {{ring, collective, Occupancy::serialization}, true, single_chunks});
  };
  EXPECT_EQ(bound("injection", whole), nanoseconds(40'500));
  EXPECT_EQ(bound("ejection", whole), nanoseconds(40'500));
  EXPECT_EQ(bound("eccentricity", whole), nanoseconds(40'500));
  EXPECT_EQ(bound("injection", in_ten), nanoseconds(40'500));  // 20 of 4 us over two links
  EXPECT_EQ(bound("ejection", in_ten), nanoseconds(30'500));
  EXPECT_EQ(bound("ejection", in_ten, false), nanoseconds(30'500));
  EXPECT_EQ(bound("eccentricity", in_ten), nanoseconds(4'500));
  // All together: 8 MB over 6 links, so 1,333,334 B on one of them, 20 ps each.
  EXPECT_EQ(bound("link_total", in_ten), picoseconds(500'000 + 20 * 1'333'334));
  // Under `transfer` alpha counts for each: NPU 1 gets ten of 4.5 us and ten of 2.5 us.
  EXPECT_EQ(bound_found("ejection", {{ring, in_ten, Occupancy::transfer}}), microseconds(35));
}

// Searches that cannot gain are left out: against one search for every condition.
TEST(BoundOfConditions, MeasuresTheFarthestOfAllSizes) {
  Random random(71);
  for (int round = 0; round < 200; ++round) {
    const support::DrawnLinks links{{SimTime::zero(), nanoseconds(500)},
                                    {gigabytes_per_second(25), gigabytes_per_second(100)}};
    const Topology graph = support::drawn_switches(random, {}, links);
    const auto npus = static_cast<std::uint32_t>(graph.npus());
    std::vector<Condition> conditions;
    SimTime farthest;
    for (std::uint32_t i = 0; i < 4 * npus; ++i) {
      const std::uint32_t from = random.below(npus);
      const std::uint32_t to = (from + 1 + random.below(npus - 1)) % npus;
      conditions.push_back(pair(from, to, 1 + random.below(5)));
      farthest = std::max(farthest, arrival_times(graph, VertexId(from), conditions.back().size)[to]);
    }
    const auto collective = support::of_conditions(npus, conditions);
    EXPECT_EQ(bound_found("eccentricity", {{graph, collective, Occupancy::serialization}}), farthest);
  }
}

// Four boxes of 2 NPUs on switches of 450 GB/s, with a link of 50 GB/s from each NPU to its rail. Box 2 sends 10 MB to
// each other one, all by one NPU: 30 MB over two links of 50 GB/s are 300 us; each other box sends 1 MB. With work for
// hardly one look the box that is loaded most is looked at.
TEST(CutsOfConditions, FindTheBoxThatIsLoadedMost) {
  const auto boxes =
      support::shape("SW(2)_SW(4)", {nanoseconds(500)}, {gigabytes_per_second(450), gigabytes_per_second(50)}, true);
  const auto exchange = support::of_conditions(
      8, {pair(4, 0, 10'000), pair(4, 2, 10'000), pair(4, 6, 10'000), pair(0, 3), pair(2, 7), pair(6, 1)});
  const auto cut = cut_bound({{boxes, exchange, Occupancy::serialization}}, 200);
  ASSERT_TRUE(cut);
  EXPECT_GE(cut->time, microseconds(300));
}

TEST(BoundOfHaloExchange, IsOneChunkPerLinkOfATorus) {
  // torus(4,4): 4 MB of each NPU, a quarter to each neighbour: every link carries one chunk of 1 MB.
  const auto torus = support::torus(4, 4);
  std::vector<Condition> halo;
  for (std::uint32_t npu = 0; npu < 16; ++npu)
    for (const auto link : torus.out_links(VertexId(npu))) halo.push_back(pair(npu, torus.target(link).value()));
  ASSERT_EQ(halo.size(), 64U);
  const auto once = support::of_conditions(16, halo, 1, halo_exchange);
  for (const auto name : {"injection", "ejection", "link_total", "volume_distance", "eccentricity"})
    EXPECT_EQ(bound_found(name, {{torus, once, Occupancy::transfer}}), kAnyStep) << name;
  EXPECT_EQ(flow_bound({{torus, once, Occupancy::transfer}}, kAnyWork)->time, kAnyStep);
}

TEST(BoundOfHaloExchange, OfARingOnALineCrossesAllOfIt) {
  // Eight NPUs on a line exchange with the neighbours of a ring, ten chunks each: 14 neighbours, and two ways of seven
  // hops: 280 sends over 14 links. Each link carries its own neighbours' chunks and those between the ends.
  const auto line = support::line(8, SimTime::zero());
  std::vector<Condition> halo;
  for (std::uint32_t npu = 0; npu < 8; ++npu) {
    halo.push_back(pair(npu, (npu + 1) % 8, 10'000));
    halo.push_back(pair(npu, (npu + 7) % 8, 10'000));
  }
  const auto ring = support::of_conditions(8, halo, 10, halo_exchange);
  const BoundProblem problem{{line, ring, Occupancy::serialization}};
  EXPECT_EQ(bound_found("eccentricity", problem), microseconds(140));
  EXPECT_EQ(bound_found("volume_distance", problem), microseconds(400));
  EXPECT_EQ(cut_bound(problem, kAnyWork)->time, microseconds(400));
  EXPECT_EQ(flow_bound(problem, kAnyWork)->time, microseconds(400));
}

TEST(BoundOfConditions, CountsAChunkForManyOnce) {
  // A link of 100 us per chunk joins the boxes of NPUs 0-3 and 4-7: one chunk for all of them crosses once, four chunks
  // for one each cross four times. The chunk for all reaches each over a link of its own, one of them the slow one.
  const auto boxes = support::two_boxes();
  const auto to_all = support::of_conditions(8, {{1, {4, 5, 6, 7}, kMegabyte * 5}}, 5);
  const auto to_each =
      support::of_conditions(8, {pair(1, 4, 5000), pair(1, 5, 5000), pair(1, 6, 5000), pair(1, 7, 5000)}, 5);
  const auto problem = [&](const Collective& what) { return BoundProblem{{boxes, what, Occupancy::serialization}}; };
  EXPECT_EQ(cut_bound(problem(to_all), kAnyWork)->time, microseconds(500));
  EXPECT_EQ(cut_bound(problem(to_each), kAnyWork)->time, microseconds(2000));
  EXPECT_EQ(flow_bound(problem(to_all), kAnyWork)->time, microseconds(500));
  EXPECT_EQ(flow_bound(problem(to_each), kAnyWork)->time, microseconds(2000));
  // Three links out of NPU 1: 5 chunks take two steps, 20 take seven.
  EXPECT_EQ(bound_found("injection", problem(to_all)), microseconds(40));
  EXPECT_EQ(bound_found("injection", problem(to_each)), microseconds(140));
}

TEST(BoundOfConditions, WithManyDestinationsNeedsALinkIntoEach) {
  // A line of 5, from one end to all: 4 links, as the farthest is 4 away. From the middle: 4 links too, the farthest is
  // 2 away. 8 links in all: ten chunks take 5 steps at least.
  const auto line = support::line(5, SimTime::zero());
  for (const std::uint32_t from : {0U, 2U}) {
    std::vector<std::uint32_t> others{0, 1, 2, 3, 4};
    std::erase(others, from);
    const auto to_all = support::of_conditions(5, {{from, others, kMegabyte * 10}}, 10);
    EXPECT_EQ(bound_found("volume_distance", {{line, to_all, Occupancy::transfer}}), microseconds(100)) << from;
  }
}

TEST(BoundOfMixedGroups, AddsUpWhereTheyShareAnNpu) {
  // A ring of 6; 0-2 and 2-4 run All-to-Alls of three chunks: NPU 2 has 2 * 3 for each group, over two links. Each
  // group alone needs 3 steps.
  const auto ring = support::ring(6);
  const auto both = support::collective(all_to_all, 6, kMegabyte * 9, 3, "0-2; 2-4");
  ASSERT_EQ(both.kind(), mixed);
  const BoundProblem problem{{ring, both, Occupancy::transfer}};
  EXPECT_EQ(bound_found("injection", problem), kAnyStep * 6);
  EXPECT_EQ(bound_found("ejection", problem), kAnyStep * 6);
  EXPECT_EQ(cut_bound(problem, kAnyWork)->time, kAnyStep * 6);
  const auto alone = both.only(GroupId(1));
  EXPECT_EQ(bound_found("injection", {{ring, alone, Occupancy::transfer}}), kAnyStep * 3);
}

TEST(BoundOfMixedGroups, IsThatOfEachGroupAlone) {
  // torus(5,5), where an All-Gather has a relay bound of 121 us, and a pair. On a line of 4 NPU 2 broadcasts 8 chunks
  // to one end: the last leaves over one of two links after three steps, and goes two hops.
  const auto torus = support::torus(5, 5);
  const auto gathered = support::collective(all_gather, 25, kMegabyte * 25, 1, "all; 3,7 broadcast 1MB");
  ASSERT_EQ(gathered.kind(), mixed);
  EXPECT_EQ(bound_found("relay", {{torus, gathered, Occupancy::serialization}}), nanoseconds(121'000));
  EXPECT_EQ(paper_ideal(torus, gathered), std::nullopt);
  const auto line = support::line(4);
  const auto lines = support::collective(broadcast, 4, kMegabyte * 8, 8, "2,1,0; 0-1 all_to_all 2MB 1 chunks");
  EXPECT_EQ(bound_found("pipeline", {{line, lines, Occupancy::transfer}}), kAnyStep * 5);
}

TEST(BoundOfMixedGroups, AddsUpOverAllLinks) {
  // A ring of 5: an All-to-All's distances are 30; an All-Gather's chunks arrive 20 times: 50 over 10 links.
  const auto ring = support::ring(5, SimTime::zero());
  const auto both = support::collective(all_to_all, 5, kMegabyte * 5, 1, "all; all all_gather");
  const BoundProblem problem{{ring, both, Occupancy::serialization}};
  EXPECT_EQ(bound_found("volume_distance", problem), microseconds(100));
  EXPECT_EQ(bound_found("link_total", problem), microseconds(80));
  const auto flow = flow_bound(problem, kAnyWork).value();
  EXPECT_EQ(flow.time, microseconds(100));
  EXPECT_EQ(check_flow(problem, flow.weights), flow.time);
  // Two All-Reduces: each chunk is sent 2 * 4 times, 10 chunks, over 10 links; an All-Gather and a Reduce beside it
  // cross single vertices 4 times for each of 5 + 1 chunks. (The Reduce's chunk is 5 MB: 20 + 20 * 1 + 4 * 5 MB.)
  const auto reduced = support::collective(all_reduce, 5, kMegabyte * 5, 1, "all; all");
  EXPECT_EQ(strength_bound({{ring, reduced, Occupancy::serialization}}, kAnyWork)->time, microseconds(160));
  const auto three = support::collective(all_reduce, 5, kMegabyte * 5, 1, "all; all all_gather; all reduce");
  const BoundProblem of_three{{ring, three, Occupancy::serialization}};
  const auto strength = strength_bound(of_three, kAnyWork).value();
  EXPECT_EQ(strength.time, microseconds(160));  // 40 + 20 + 4 * 5 MB over 10 links
  EXPECT_EQ(check_strength(of_three, strength.weights), strength.time);
}

TEST(BoundOfMixedGroups, CountsSendsAndArrivalsAtSwitches) {
  // Four NPUs on a switch that copies but does not add: an All-Gather arrives 12 times (4 sends are enough), a
  // Reduce-Scatter leaves 12 times and arrives 12 times, each contribution by itself: 24 arrivals over 4 links. On one
  // that also adds, 4 sums arrive: 16 arrivals, and 16 sends.
  const auto star = [](SwitchProperties properties) {
    TopologyBuilder builder(4);
    const VertexId hub = builder.add_switch(properties);
    for (std::uint32_t i = 0; i < 4; ++i)
      builder.add_link_pair({VertexId(i), hub, support::kAlpha, support::kBandwidth});
    return std::move(builder).build().value();
  };
  const auto both = support::collective(all_gather, 4, kMegabyte * 4, 1, "all; all reduce_scatter");
  const auto total = [&](SwitchProperties properties) {
    const auto topology = star(properties);
    return bound_found("link_total", {{topology, both, Occupancy::transfer}});
  };
  EXPECT_EQ(total({}), kAnyStep * 6);
  EXPECT_EQ(total({.copy = true}), kAnyStep * 6);
  EXPECT_EQ(total({.copy = true, .reduce = true}), kAnyStep * 4);
}

TEST(BoundOfMixedGroups, StartsLateWithEachGroupOfTheLateNpu) {
  // A ring of 6 without alpha; NPU 2 is late by 100 us. In 0-2 and 2-4 its chunks go two hops at most; five of each
  // group leave it over two links.
  const auto ring = support::ring(6, SimTime::zero());
  const auto late = [&](const Collective& collective) {
    const std::vector<StartDelay> delays{{NpuId(2), microseconds(100)}};
    return bound_found("late_start", {{ring, collective, Occupancy::serialization}, true, true, delays});
  };
  EXPECT_EQ(late(support::collective(all_gather, 6, kMegabyte * 3, 1, "0-2; 2-4")), microseconds(140));
  EXPECT_EQ(late(support::collective(all_gather, 6, kMegabyte * 15, 5, "0-2; 2-4")), microseconds(200));
  EXPECT_EQ(late(rooted(gather, 6, 2)), SimTime::zero());  // it only receives
  EXPECT_EQ(late(rooted(gather, 6, 0)), microseconds(140));
  EXPECT_EQ(late(rooted(scatter, 6, 0)), SimTime::zero());
  EXPECT_EQ(late(rooted(scatter, 6, 2)), microseconds(160));  // 5 chunks over two links, or 3 hops
  // Three hops of 10 us for the small chunk, one of 20 us for the large one.
  EXPECT_EQ(late(support::of_conditions(6, {pair(2, 5, 500), pair(2, 3), pair(4, 0, 9000)})), microseconds(130));
}

TEST(CertificatesOfConditions, AreThoseOfTheRatioOfBytes) {
  const auto ring = support::ring(4);
  const auto key = [&](const Collective& collective) {
    return certificate_key({{ring, collective, Occupancy::serialization}});
  };
  const auto given = key(support::of_conditions(4, {pair(0, 2), pair(1, 2, 3000)}));
  EXPECT_EQ(given, key(support::of_conditions(4, {pair(0, 2, 20), pair(1, 2, 60)}, 10)));
  EXPECT_NE(given, key(support::of_conditions(4, {pair(0, 2), pair(1, 2, 2999)})));
  EXPECT_NE(given, key(support::of_conditions(4, {pair(0, 3), pair(1, 2, 3000)})));
  EXPECT_NE(given, key(support::of_conditions(4, {{0, {2, 3}, kMegabyte}, pair(1, 2, 3000)})));
  const auto groups = [&](std::string_view text, std::int64_t size, std::int64_t chunks) {
    return key(support::collective(all_gather, 4, bytes(size), chunks, text));
  };
  const auto mixed = groups("all; 0-1 scatter", 4'000'000, 1);
  EXPECT_EQ(mixed, groups("all; 0-1 scatter", 16'000'000, 4));
  EXPECT_NE(mixed, groups("all; 0-1 scatter 2MB", 4'000'000, 1));
  EXPECT_NE(mixed, groups("all; 0-1 scatter root 1", 4'000'000, 1));
  EXPECT_NE(mixed, groups("all; 0-1 gather", 4'000'000, 1));
}

}  // namespace
}  // namespace tenex
