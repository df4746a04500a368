// Routes: dimension order on shapes, fewest hops elsewhere.
#include "tenex/topology/routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "tenex/topology/transform.hpp"
#include "topology/neighbours.hpp"

namespace tenex {
namespace {

using support::shape;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// The vertices after the source that a route visits.
std::vector<std::uint32_t> stops(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  Router router(topology);
  std::vector<std::uint32_t> visited;
  for (const LinkId link : router.route(NpuId(from), NpuId(to))) visited.push_back(topology.target(link).value());
  return visited;
}

TEST(Routes, RingsGoTheShorterWay) {
  EXPECT_THAT(stops(shape("RI(8)"), 0, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(stops(shape("RI(8)"), 0, 5), ElementsAre(7, 6, 5));
  EXPECT_THAT(stops(shape("RI(5)"), 4, 1), ElementsAre(0, 1));
}

TEST(Routes, RingTiesGoTowardIncreasingIds) {
  EXPECT_THAT(stops(shape("RI(8)"), 0, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(stops(shape("RI(8)"), 5, 1), ElementsAre(6, 7, 0, 1));
  EXPECT_THAT(stops(shape("RI(2)"), 1, 0), ElementsAre(0));
}

TEST(Routes, LinesGoTheirOneWay) {
  EXPECT_THAT(stops(shape("LI(5)"), 0, 4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(stops(shape("LI(5)"), 4, 2), ElementsAre(3, 2));
}

TEST(Routes, FullyConnectedBlocksAreOneHop) { EXPECT_THAT(stops(shape("FC(5)"), 1, 3), ElementsAre(3)); }

TEST(Routes, SwitchesAreTwoHops) { EXPECT_THAT(stops(shape("SW(4)"), 0, 3), ElementsAre(4, 3)); }

TEST(Routes, DimensionOneIsCorrectedFirst) {
  // torus(4,4) from (0,0) to (3,2) = NPU 11: x goes down once to 3, then y has a tie and goes up to 7, 11.
  EXPECT_THAT(stops(shape("torus(4,4)"), 0, 11), ElementsAre(3, 7, 11));
  // mesh(3,3) from 0 to 8: x first.
  EXPECT_THAT(stops(shape("mesh(3,3)"), 0, 8), ElementsAre(1, 2, 5, 8));
  EXPECT_THAT(stops(shape("mesh(3,3)"), 8, 0), ElementsAre(7, 6, 3, 0));
}

TEST(Routes, SwitchesOfEveryDimensionAreFound) {
  // SW(2)_SW(3): switches 6, 7, 8 on {0,1}, {2,3}, {4,5}; 9, 10 on {0,2,4}, {1,3,5}. From 0 to 5: x by switch 6 to 1, y
  // by switch 10 to 5.
  EXPECT_THAT(stops(shape("SW(2)_SW(3)"), 0, 5), ElementsAre(6, 1, 10, 5));
  // RI(2)_SW(1)_SW(2): the block of one has no switch, so vertices 4, 5 are the switches of dimension 3.
  EXPECT_THAT(stops(shape("RI(2)_SW(1)_SW(2)"), 0, 3), ElementsAre(1, 5, 3));
}

TEST(Routes, ThereIsNoWayToGoAtTheDestination) {
  const Topology ring = shape("RI(4)");
  Router router(ring);
  EXPECT_FALSE(router.next_link(VertexId(2), NpuId(2), NpuId(2)).exists());
  EXPECT_THAT(router.route(NpuId(2), NpuId(2)), IsEmpty());
}

TEST(Routes, ReversedShapesAreRoutedOverTheirReversedLinks) {
  const Topology turned = shape("torus(4,4)").reversed();
  EXPECT_THAT(stops(turned, 0, 11), ElementsAre(3, 7, 11));
}

TEST(Routes, BrokenShapesAreRoutedAround) {
  // RI(6) without 0-1: from 0 to 1 the long way round.
  const Topology broken = remove_links(shape("RI(6)"), {{VertexId(0), VertexId(1)}}).value();
  EXPECT_THAT(stops(broken, 0, 1), ElementsAre(5, 4, 3, 2, 1));
}

TEST(Routes, EqualPathsGoByTheLowestLink) {
  // Two ways from 0 to 3; link 0 leads to 2, link 1 to 1.
  const auto link = [](std::uint32_t from, std::uint32_t to) {
    return Link{VertexId(from), VertexId(to), support::kAlpha, support::kBandwidth};
  };
  const Topology diamond = support::graph(4, {link(0, 2), link(0, 1), link(1, 3), link(2, 3), link(2, 3), link(3, 0)});
  Router router(diamond);
  EXPECT_THAT(router.route(NpuId(0), NpuId(3)), ElementsAre(LinkId(0), LinkId(3)));
}

TEST(Routes, DragonfliesTakeTheirGlobalLink) {
  // dragonfly(4,5), from NPU 1 (group 0) to NPU 4 (group 1): the groups are joined by 0 - 7.
  EXPECT_THAT(stops(shape("dragonfly(4,5)"), 1, 4), ElementsAre(0, 7, 4));
}

TEST(Routes, UnreachableNpusHaveNoRoute) {
  const Topology oneway = support::graph(2, {{VertexId(0), VertexId(1), support::kAlpha, support::kBandwidth}});
  Router router(oneway);
  EXPECT_FALSE(router.next_link(VertexId(1), NpuId(1), NpuId(0)).exists());
  EXPECT_THAT(router.route(NpuId(1), NpuId(0)), IsEmpty());
  EXPECT_THAT(router.route(NpuId(0), NpuId(1)), ElementsAre(LinkId(0)));
}

TEST(Routes, EvictedTreesComeBackTheSame) {
  // A 300x300 mesh less one pair of links is routed by search. 64 MiB hold 186 trees of 90,000 links of 4 bytes, so
  // asking for 250 destinations in order evicts the first.
  const Topology broken = remove_links(shape("mesh(300,300)"), {{VertexId(0), VertexId(1)}}).value();
  Router fresh(broken);
  const auto expected = fresh.route(NpuId(89'999), NpuId(5));
  // From the far corner to NPU 5 = (5,0): 294 steps along x and 299 along y.
  ASSERT_EQ(expected.size(), 593U);
  Router worn(broken);
  EXPECT_EQ(worn.route(NpuId(89'999), NpuId(5)), expected);
  for (std::uint32_t npu = 1'000; npu < 1'250; ++npu)
    EXPECT_TRUE(worn.next_link(VertexId(0), NpuId(0), NpuId(npu)).exists());
  EXPECT_EQ(worn.route(NpuId(89'999), NpuId(5)), expected);
}

TEST(Routes, RoutersMayBeMoved) {
  const Topology ring = shape("RI(4)");
  Router first(ring);
  Router second(std::move(first));
  EXPECT_EQ(second.route(NpuId(0), NpuId(2)).size(), 2U);
}

}  // namespace
}  // namespace tenex
