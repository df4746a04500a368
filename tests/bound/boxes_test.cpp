// The closed form of boxes against numbers derived by hand and against the strength bound's checker.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bound/graphs.hpp"
#include "tenex/bound/strength.hpp"

namespace tenex {
namespace {

std::optional<SimTime> boxes(const BoundProblem& problem) {
  for (const Bound& bound : cheap_bounds(problem))
    if (bound.name == "boxes") return bound.time;
  return std::nullopt;
}

Collective of_megabytes_each(CollectiveKind kind, std::size_t npus, std::int64_t chunks = 1) {
  return support::collective(kind, npus, bytes(1'000'000) * (chunks * static_cast<std::int64_t>(npus)), chunks);
}

// 128 chunks of 1 MB, which take 80 us at 12.5 GB/s. A chunk crosses 2 * 15 times, each time up a slow link and down
// one: 128 * 60 sends over 256 links are 30 for each. Every NPU by itself asks for less: 2 * 127 MB over 312.5 GB/s.
TEST(Boxes, OfEightNpusOnRailsByHand) {
  const auto topology =
      support::shape("SW(8)_SW(16)", {microseconds(1)}, {gigabytes_per_second(300), Bandwidth::of(12'500'000'000)});
  const auto collective = of_megabytes_each(CollectiveKind::all_reduce, 128);
  const BoundProblem problem{topology, collective, Occupancy::serialization};
  EXPECT_EQ(boxes(problem), microseconds(1 + 30 * 80));
  EXPECT_EQ(best_cheap_bound(problem).name, "boxes");
  const auto exchange = of_megabytes_each(CollectiveKind::all_to_all, 128);
  EXPECT_FALSE(boxes({topology, exchange, Occupancy::serialization}));
}

// Boxes of four on direct links: RI(4) at 25 GB/s joins FC(4)s of 300 GB/s. A chunk crosses 2 * 3 times over 32 slow
// links of two ways each: 16 * 6 sends, three a link, of 40 us.
TEST(Boxes, OnDirectLinksByHand) {
  const auto topology =
      support::shape("FC(4)_RI(4)", {SimTime::zero()}, {gigabytes_per_second(300), gigabytes_per_second(25)});
  const auto collective = of_megabytes_each(CollectiveKind::all_reduce, 16);
  EXPECT_EQ(boxes({topology, collective, Occupancy::serialization}), microseconds(3 * 40));
}

// Four NPUs, fully connected at 100 GB/s, and six in a ring at 50, all with 25 GB/s to one switch and from it. 160
// chunks of 6.25 MB take 125 us on a link of the ring and 250 us up or down. The four are a box, the six are boxes of
// their own: 24 for each chunk, 3,840 in all, over 12 links of the ring, which weigh two each, and 20 of the switch. By
// 14,125 us these have carried 24 * 113 + 20 * 56 = 3,832, by 14,250 us 24 * 114 + 20 * 57 = 3,876.
TEST(Boxes, OfUnequalSizesByHand) {
  std::vector<Link> links;
  const auto both_ways = [&](std::uint32_t from, std::uint32_t to, std::int64_t gigabytes) {
    for (const auto& [a, b] : {std::pair(from, to), std::pair(to, from)})
      links.push_back({VertexId(a), VertexId(b), microseconds(1), gigabytes_per_second(gigabytes)});
  };
  for (std::uint32_t a = 0; a < 4; ++a)
    for (std::uint32_t b = a + 1; b < 4; ++b) both_ways(a, b, 100);
  for (std::uint32_t k = 0; k < 6; ++k) both_ways(4 + k, 4 + (k + 1) % 6, 50);
  for (std::uint32_t npu = 0; npu < 10; ++npu) both_ways(npu, 10, 25);
  TopologyBuilder builder(10);
  builder.add_switch();
  for (const Link& each : links) builder.add_link(each);
  const auto topology = std::move(builder).build().value();
  const auto collective = support::collective(CollectiveKind::all_reduce, 10, bytes(1'000'000'000), 16);
  EXPECT_EQ(boxes({topology, collective, Occupancy::serialization}), microseconds(1 + 14'250));
}

// Two groups with an NPU on each of four leaves, which have one link up, all links alike: a chunk of 1 MB takes 20 us.
// A group's chunk crosses 2 * 3 times, each time up from a leaf and down to one: 2 * 4 chunks weigh 12 each, and the 8
// links up and down carry 12 chunks each, 240 us. All 8 chunks must leave a leaf: 160 us by the cut. An NPU gets and
// sends 2 * 3 chunks on average: 120 us.
TEST(Boxes, BelowLeavesByHand) {
  const auto topology = support::shape("leaf_spine(2,4,1)", {microseconds(1)});
  const auto groups = support::collective(CollectiveKind::all_reduce, 8, bytes(4'000'000), 1, "0,2,4,6; 1,3,5,7");
  const BoundProblem problem{topology, groups, Occupancy::serialization};
  EXPECT_EQ(boxes(problem), microseconds(1 + 240));
  EXPECT_EQ(best_cheap_bound(problem).name, "boxes");
}

// Four pods of two leaves with four NPUs each. A leaf has four links up to its pod's switch, which has as many up to
// the top, half of what comes from below. Eight groups with an NPU in each pod have 32 chunks, which weigh 12 each, and
// the 32 links between pods and the top carry 12 each. (The 64 links of leaves would carry 6.)
TEST(Boxes, BelowSwitchesOnSwitchesByHand) {
  const auto topology = support::shape("SW(32,4,8:2)", {microseconds(1)});
  const auto groups = support::collective(CollectiveKind::all_reduce, 32, bytes(4'000'000), 1,
                                          "0,8,16,24; 1,9,17,25; 2,10,18,26; 3,11,19,27; 4,12,20,28; 5,13,21,29; "
                                          "6,14,22,30; 7,15,23,31");
  EXPECT_EQ(boxes({topology, groups, Occupancy::serialization}), microseconds(1 + 12 * 20));
}

// Without a box below it, each NPU is one: 128 chunks weigh 4 * 127, and 512 links carry 127 each, which are 20 us
// long.
TEST(Boxes, OfSingleNpusByHand) {
  const auto topology = support::shape("SW(8)_SW(16)", {microseconds(1)});
  const auto collective = of_megabytes_each(CollectiveKind::all_reduce, 128);
  EXPECT_EQ(boxes({topology, collective, Occupancy::serialization}), microseconds(1 + 127 * 20));
}

TEST(Boxes, NeedLinksOfTwoRatesOrSwitches) {
  const auto topology = support::shape("RI(8)_FC(16)");
  const auto collective = of_megabytes_each(CollectiveKind::all_reduce, 128);
  EXPECT_FALSE(boxes({topology, collective, Occupancy::serialization}));
}

/// The largest time that the strength bound's checker gives any partition of the vertices: growing strings of part
/// numbers, each at most one above the largest before it.
SimTime strongest_of_boxes(const BoundProblem& problem) {
  const auto& topology = problem.topology;
  std::vector<std::size_t> part(topology.vertices(), 0);
  SimTime most;
  const auto visit = [&](auto&& self, std::size_t vertex, std::size_t used) -> void {
    if (vertex < part.size()) {
      for (part[vertex] = 0; part[vertex] <= used; ++part[vertex])
        self(self, vertex + 1, std::max(used, part[vertex] + 1));
      return;
    }
    std::vector<std::uint32_t> weights;
    for (std::size_t l = 0; l < topology.links(); ++l) {
      const auto from = topology.source(LinkId::at(l));
      weights.push_back(part[from.index()] != part[topology.target(LinkId::at(l)).index()] ? 1 : 0);
    }
    most = std::max(most, check_strength(problem, weights));
  };
  visit(visit, 0, 0);
  return most;
}

RC_GTEST_PROP(Boxes, ProveNoMoreThanTheStrongestPartitionOfSmallGraphs, ()) {
  const auto topology = support::random_graph(*rc::gen::inRange<std::uint32_t>(2, 7), 0);
  const auto collective =
      of_megabytes_each(CollectiveKind::all_reduce, topology.npus(), *rc::gen::inRange<std::int64_t>(1, 4));
  const BoundProblem problem{topology, collective, Occupancy::serialization};
  if (const auto closed = boxes(problem)) RC_ASSERT(*closed <= strongest_of_boxes(problem));
}

/// What the strength bound's checker gives boxes: links weigh one for each box that they leave or enter. Boxes are the
/// parts that the links join for which `joins` holds, if they have an NPU, or a switch that adds or copies.
template <class Joins>
SimTime checked(const BoundProblem& problem, const Joins& joins) {
  const auto& topology = problem.topology;
  const auto from = [&](std::size_t link) { return topology.source(LinkId::at(link)).index(); };
  const auto to = [&](std::size_t link) { return topology.target(LinkId::at(link)).index(); };
  std::vector<std::size_t> part(topology.vertices());
  std::iota(part.begin(), part.end(), 0);
  for (std::size_t round = 0; round < part.size(); ++round)
    for (std::size_t l = 0; l < topology.links(); ++l)
      if (joins(LinkId::at(l))) part[from(l)] = part[to(l)] = std::min(part[from(l)], part[to(l)]);
  std::vector<bool> is_box(part.size());
  for (std::size_t v = 0; v < part.size(); ++v) {
    const auto vertex = VertexId::at(v);
    if (topology.is_npu(vertex) || topology.switch_properties(vertex).copy || topology.switch_properties(vertex).reduce)
      is_box[part[v]] = true;
  }
  std::vector<std::uint32_t> weights;
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto ends = (is_box[part[from(l)]] ? 1U : 0U) + (is_box[part[to(l)]] ? 1U : 0U);
    weights.push_back(part[from(l)] == part[to(l)] ? 0 : ends);
  }
  return check_strength(problem, weights);
}

RC_GTEST_PROP(Boxes, AreThoseOfTheStrengthBoundsCheckerThroughSwitches, ()) {
  const bool able = *rc::gen::arbitrary<bool>();
  const auto topology =
      support::random_graph(*rc::gen::inRange<std::uint32_t>(2, 7), *rc::gen::inRange<std::uint32_t>(1, 7),
                            {.copy = able, .reduce = able && *rc::gen::arbitrary<bool>()});
  const auto collective =
      of_megabytes_each(CollectiveKind::all_reduce, topology.npus(), *rc::gen::inRange<std::int64_t>(1, 4));
  const BoundProblem problem{topology, collective, Occupancy::serialization};
  std::vector<std::size_t> level(topology.vertices(), topology.vertices());  // links to the nearest NPU
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) level[npu] = 0;
  for (std::size_t round = 0; round < level.size(); ++round)
    for (std::size_t l = 0; l < topology.links(); ++l) {
      const auto there = level[topology.target(LinkId::at(l)).index()];
      auto& here = level[topology.source(LinkId::at(l)).index()];
      here = std::min(here, there + 1);
    }
  SimTime most;
  for (std::size_t up_to = 0; up_to < *std::ranges::max_element(level); ++up_to)
    most =
        std::max(most, checked(problem, [&](LinkId link) {
                   return std::max(level[topology.source(link).index()], level[topology.target(link).index()]) <= up_to;
                 }));
  for (const LinkClass& slowest : topology.classes()) {
    const auto joins = [&](LinkId link) { return topology.bandwidth(link) > slowest.effective_bandwidth(); };
    bool any = false;
    for (std::size_t l = 0; l < topology.links(); ++l) any = any || joins(LinkId::at(l));
    if (any) most = std::max(most, checked(problem, joins));
  }
  RC_ASSERT(boxes(problem).value_or(SimTime::zero()) == most);
}

}  // namespace
}  // namespace tenex
