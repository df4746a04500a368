// The strength bound against all partitions of small graphs, and against numbers derived by hand. Chunks of 1 MB, links
// of 50 GB/s without alpha unless said otherwise: a chunk takes 20 us on a link.
#include "tenex/bound/strength.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "bound/graphs.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::link;
using support::random_graph;

constexpr SimTime kStrengthStep = microseconds(20);
constexpr std::uint64_t kWork = 100'000'000;

Collective all_reduce_of(std::size_t npus, std::int64_t chunks = 1) {
  return support::collective(CollectiveKind::all_reduce, npus,
                             bytes(1'000'000) * (chunks * static_cast<std::int64_t>(npus)), chunks);
}

CertifiedBound strength_bound_of(const Topology& topology, const Collective& collective) {
  const BoundProblem problem{topology, collective, Occupancy::serialization};
  auto found = strength_bound(problem, kWork).value();
  EXPECT_EQ(check_strength(problem, found.weights), found.time);
  return found;
}

/// The largest 2(p-1) / bandwidth between parts (chunks of a group per GB/s) over all partitions: growing strings of
/// part numbers, each at most one above the largest before it.
double strongest(const Topology& topology) {
  const auto vertices = topology.vertices();
  std::vector<std::size_t> part(vertices, 0);
  double most = 0;
  const auto visit = [&](auto&& self, std::size_t vertex, std::size_t used) -> void {
    if (vertex == vertices) {
      std::set<std::size_t> with_member(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(topology.npus()));
      double bandwidth = 0;
      for (std::size_t l = 0; l < topology.links(); ++l)
        if (part[topology.source(LinkId::at(l)).index()] != part[topology.target(LinkId::at(l)).index()])
          bandwidth += static_cast<double>(topology.bandwidth(LinkId::at(l)).count()) / 1e9;
      const auto crossings = 2 * (static_cast<double>(with_member.size()) - 1);
      if (crossings > 0) most = std::max(most, crossings / bandwidth);
      return;
    }
    for (std::size_t p = 0; p <= used; ++p) {
      part[vertex] = p;
      self(self, vertex + 1, std::max(used, p + 1));
    }
  };
  visit(visit, 0, 0);
  return most;
}

/// The bound's time against that of the best partition: never above it (a weighted sum of partitions is their mean),
/// and within `precision` of it.
void expect_strongest(const Topology& topology, double precision) {
  const std::int64_t chunks = 1000;
  const auto collective = all_reduce_of(topology.npus(), chunks);
  const double best = strongest(topology) * static_cast<double>(collective.chunks()) * 1e9;  // 1 MB at 1 GB/s: 1e9 ps
  const double time = static_cast<double>(strength_bound_of(topology, collective).time.count());
  EXPECT_LE(time, best + static_cast<double>(microseconds(40).count()));  // a whole chunk of the slowest link
  EXPECT_GE(time, best * (1 - precision));
}

TEST(Strength, IsTheBestPartitionOfEveryConnectedGraphOfFourVertices) {
  const std::uint32_t pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  int connected = 0;
  for (std::uint32_t graph = 1; graph < 1U << 6; ++graph) {
    std::vector<Link> links;
    for (std::uint32_t pair = 0; pair < 6; ++pair) {
      if ((graph >> pair & 1U) == 0) continue;
      links.push_back(link(pairs[pair][0], pairs[pair][1]));
      links.push_back(link(pairs[pair][1], pairs[pair][0]));
    }
    const auto topology = support::graph(4, links);
    if (strongest(topology) == std::numeric_limits<double>::infinity()) continue;
    ++connected;
    expect_strongest(topology, 1e-12);
    if (HasFailure()) FAIL() << "graph " << graph;
  }
  EXPECT_EQ(connected, 38);  // the connected labelled graphs of four vertices
}

RC_GTEST_PROP(StrengthProperties, IsTheBestPartitionOfRandomGraphs, ()) {
  expect_strongest(random_graph(*rc::gen::inRange<std::uint32_t>(2, 7), 0), 1e-12);
  RC_ASSERT(!testing::Test::HasFailure());
}

// Which part a switch without a member of its own belongs to is searched by single moves, which may miss the best.
RC_GTEST_PROP(StrengthProperties, IsNeverAboveTheBestPartitionWithSwitchesThatAdd, ()) {
  const auto switches = *rc::gen::inRange<std::uint32_t>(1, 3);
  expect_strongest(random_graph(*rc::gen::inRange<std::uint32_t>(2, 6), switches, {true, true}), 1);
  RC_ASSERT(!testing::Test::HasFailure());
}

// Closed forms against the search by flows, which does not know the shape: products of lines, rings and fully connected
// blocks whose dimensions differ in speed by up to a factor of 60.
RC_GTEST_PROP(StrengthProperties, ClosedFormsAreTheBestPartition, ()) {
  const auto product = support::random_product();
  const auto collective = all_reduce_of(product.npus(), 16);
  const auto closed = strength_bound_of(product, collective);
  const auto searched = strength_bound_of(product.without_shape(), collective);
  RC_ASSERT(closed.densest);
  RC_ASSERT(searched.densest);
  const auto difference = closed.time - searched.time;  // of equally good partitions, in whole chunks
  RC_ASSERT(difference <= microseconds(200) && difference >= SimTime::zero() - microseconds(200));
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(Strength, OfAMeshIsThatOfSingleNpus) {
  // 8x8: 224 links for 2 * 63 sends of each of 64 * 8 chunks: 288 steps, which is 16/9 of a byte per byte of link.
  EXPECT_EQ(strength_bound_of(support::mesh(8, 8, SimTime::zero()), all_reduce_of(64, 8)).time, kStrengthStep * 288);
}

TEST(Strength, FindsAWeakPlaceOfALargeMeshWithinLittleWork) {
  // 40x40 without the pair of links between (0,1) and (1,1): three pairs of links are left at (0,0) and (0,1), over
  // which each of 4,800 chunks makes 2 * 2 crossings: 4 / 6 of 4,800 steps. All NPUs: 2 * 1599 crossings over 6,238
  // links, 2,461 steps. Half the work of the search for any partition would not suffice.
  const auto mesh = support::mesh(40, 40, SimTime::zero());
  const auto is_lost = [](std::uint32_t a, std::uint32_t b) { return std::min(a, b) == 1 && std::max(a, b) == 41; };
  TopologyBuilder builder(1600);
  for (std::size_t l = 0; l < mesh.links(); ++l) {
    const auto from = mesh.source(LinkId::at(l)).value();
    const auto to = mesh.target(LinkId::at(l)).value();
    if (!is_lost(from, to)) builder.add_link(link(from, to));
  }
  const auto topology = std::move(builder).build().value();
  ASSERT_EQ(topology.links(), 6238);
  const auto collective = all_reduce_of(1600, 3);
  const BoundProblem problem{topology, collective, Occupancy::serialization};
  const auto found = strength_bound(problem, std::uint64_t{1} << 21).value();
  EXPECT_EQ(found.time, kStrengthStep * 3200);
  EXPECT_FALSE(found.densest);
  EXPECT_TRUE(found.cut_short);
}

TEST(Strength, OfTwoBoxesIsTheLinksBetweenThem) {
  // Each chunk crosses once each way: 8 chunks on each of two links of 10 GB/s, 100 us per chunk.
  EXPECT_EQ(strength_bound_of(support::two_boxes(), all_reduce_of(8)).time, microseconds(800));
}

TEST(Strength, OfAPlainSwitchCountsBothOfItsLinks) {
  // Four NPUs on a switch: per chunk 2 * 3 ways of two links each, on 8 links: 1.5 steps; 4 * 100 chunks: 600. A switch
  // that adds and copies belongs to the part of an NPU: 2 * 3 sends on the 6 links of the others, 400.
  EXPECT_EQ(strength_bound_of(support::switched(4, SimTime::zero()), all_reduce_of(4, 100)).time, kStrengthStep * 600);
  TopologyBuilder builder(4);
  builder.add_switch({true, true});
  for (std::uint32_t npu = 0; npu < 4; ++npu) builder.add_link_pair(link(npu, 4));
  EXPECT_EQ(strength_bound_of(std::move(builder).build().value(), all_reduce_of(4, 100)).time, kStrengthStep * 400);
}

TEST(Strength, LeavesOutWhatPairsHaveAmongThemselves) {
  // 16 pairs of NPUs on links of 100 GB/s. For each pair a switch with 10 GB/s to each NPU, and 10 GB/s to one main
  // switch; and a ring of 10 GB/s through the pairs (100 us per chunk). A chunk crosses 2 * 15 times between pairs,
  // over 16 links up and 32 of the ring: 32 chunks take 30 * 32 / 48 * 100 us. All links but those of pairs are of one
  // class, and little work is left for weights that trees find.
  TopologyBuilder builder(32);
  for (std::uint32_t s = 0; s < 17; ++s) builder.add_switch();
  for (std::uint32_t pair = 0; pair < 16; ++pair) {
    builder.add_link_pair(link(2 * pair, 2 * pair + 1, 100));
    for (std::uint32_t npu : {2 * pair, 2 * pair + 1}) builder.add_link_pair(link(npu, 32 + pair, 10));
    builder.add_link_pair(link(32 + pair, 48, 10));
    builder.add_link_pair(link(2 * pair + 1, (2 * pair + 2) % 32, 10));
  }
  const auto topology = std::move(builder).build().value();
  const auto collective = all_reduce_of(32);
  const auto found = strength_bound({topology, collective, Occupancy::serialization}, 400'000).value();
  EXPECT_EQ(found.time, microseconds(2000));
}

/// `leaves` switches with NPUs each, every one joined to all spines.
Topology leaves_and_spines(std::uint32_t leaves, std::uint32_t npus_each, std::uint32_t spines, std::int64_t up) {
  const std::uint32_t npus = leaves * npus_each;
  TopologyBuilder builder(npus);
  for (std::uint32_t s = 0; s < leaves + spines; ++s) builder.add_switch();
  for (std::uint32_t npu = 0; npu < npus; ++npu) builder.add_link_pair(link(npu, npus + npu / npus_each));
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf)
    for (std::uint32_t spine = 0; spine < spines; ++spine)
      builder.add_link_pair(link(npus + leaf, npus + leaves + spine, up));
  return std::move(builder).build().value();
}

TEST(Strength, OfTwoLevelsOfSwitchesIsWhatCrossesBetweenLeaves) {
  // 16 leaves of 8 NPUs, 8 spines, 5 GB/s between them (200 us per chunk): far too many ways to list. Per chunk 2 * 15
  // ways between leaves, each over a link up and a link down, on 16 * 8 * 2 links: 3.75 for 32, 128 chunks: 30 * 200
  // us. The links into NPUs have 2 * 127 chunks of 20 us each, 5,080 us.
  const auto topology = leaves_and_spines(16, 8, 8, 5);
  EXPECT_EQ(strength_bound_of(topology, all_reduce_of(128)).time, microseconds(6000));
}

RC_GTEST_PROP(StrengthProperties, TimesOfAnyWeightsAreThoseOfTheChecker, ()) {
  const auto npus = *rc::gen::inRange<std::uint32_t>(2, 6);
  const auto topology = support::random_graph(npus, *rc::gen::inRange<std::uint32_t>(0, 6));
  std::vector<std::uint32_t> weights;
  for (std::size_t l = 0; l < topology.links(); ++l) weights.push_back(*rc::gen::inRange<std::uint32_t>(0, 6));
  const auto collective = all_reduce_of(npus);
  const BoundProblem problem{topology, collective};
  RC_ASSERT(strength_time(problem, weights) == check_strength(problem, weights));
}

TEST(Strength, AddsTheCountsOfGroups) {
  // A line of four, groups {0, 3} and {1, 2}, 2 chunks of 1 MB each: the middle link pair carries both groups' chunks,
  // 4 each way.
  const auto line = support::line(4, SimTime::zero());
  const auto groups =
      Collective::make(
          {CollectiveKind::all_reduce, 4, {{{NpuId(0), NpuId(3)}}, {{NpuId(1), NpuId(2)}}}, 1, bytes(2'000'000), 0})
          .value();
  EXPECT_EQ(strength_bound_of(line, groups).time, kStrengthStep * 4);
}

TEST(Strength, CountsWholeChunksAndAlpha) {
  // Two NPUs, 2 chunks, one crossing each way: 2 hops of 21 us under `transfer`; 41 us where sends may share alpha.
  const auto pair = support::line(2, microseconds(1));
  const auto collective = all_reduce_of(2);
  const BoundProblem single{pair, collective, Occupancy::transfer};
  EXPECT_EQ(strength_bound(single, kWork)->time, microseconds(42));
  const BoundProblem shared{{pair, collective, Occupancy::transfer}, true, false};
  const auto bound = strength_bound(shared, kWork);
  EXPECT_EQ(bound->time, microseconds(41));
  EXPECT_EQ(check_strength(shared, bound->weights), microseconds(41));
}

TEST(Strength, IsOfAllReducesOnlyAndAsksForOneWeightPerLink) {
  const auto ring = support::ring(4, SimTime::zero());
  const auto gather = support::collective(CollectiveKind::all_gather, 4, bytes(4'000'000), 1);
  EXPECT_FALSE(strength_bound({ring, gather, Occupancy::transfer}, kWork));
  const auto collective = all_reduce_of(4);
  EXPECT_THROW((void)check_strength({ring, collective, Occupancy::transfer}, {}), InvariantError);
  EXPECT_EQ(check_strength({ring, collective, Occupancy::transfer}, std::vector<std::uint32_t>(8, 0)), SimTime::zero());
}

}  // namespace
}  // namespace tenex
