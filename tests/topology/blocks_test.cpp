// The links of every block and alias, and how npu_bandwidth is divided over them.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "support/topologies.hpp"
#include "tenex/topology/topology.hpp"
#include "topology/neighbours.hpp"

namespace tenex {
namespace {

using support::in_neighbours;
using support::link_ends;
using support::out_neighbours;
using support::shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(Blocks, RingLinksEachNpuUpwardThenDownward) {
  const Topology ring = shape("RI(4)");
  EXPECT_THAT(link_ends(ring), ElementsAre(Pair(0, 1), Pair(0, 3), Pair(1, 2), Pair(1, 0), Pair(2, 3), Pair(2, 1),
                                           Pair(3, 0), Pair(3, 2)));
  EXPECT_THAT(in_neighbours(ring, 0), ElementsAre(1, 3));
}

TEST(Blocks, RingOfTwoIsOneLinkEachWay) { EXPECT_THAT(link_ends(shape("RI(2)")), ElementsAre(Pair(0, 1), Pair(1, 0))); }

TEST(Blocks, LineHasNoWrapAround) {
  EXPECT_THAT(link_ends(shape("LI(3)")), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(1, 0), Pair(2, 1)));
}

TEST(Blocks, FullyConnectedLinksEveryPairEachWay) {
  EXPECT_THAT(link_ends(shape("FC(3)")),
              ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 0), Pair(1, 2), Pair(2, 0), Pair(2, 1)));
}

TEST(Blocks, SwitchIsOneVertexAfterTheNpus) {
  const Topology star = shape("SW(3)");
  EXPECT_EQ(star.npus(), 3U);
  EXPECT_EQ(star.switches(), 1U);
  EXPECT_TRUE(star.is_npu(VertexId(2)));
  EXPECT_FALSE(star.is_npu(VertexId(3)));
  EXPECT_FALSE(star.switch_properties(VertexId(3)).copy);
  EXPECT_FALSE(star.switch_properties(VertexId(3)).reduce);
  EXPECT_THAT(link_ends(star), ElementsAre(Pair(0, 3), Pair(3, 0), Pair(1, 3), Pair(3, 1), Pair(2, 3), Pair(3, 2)));
}

TEST(Blocks, OneSwitchStandsOnEveryLine) {
  // SW(2)_SW(3): 6 NPUs. Dimension 1 has the lines {0,1}, {2,3}, {4,5}: switches 6, 7, 8. Dimension 2 has the lines
  // {0,2,4}, {1,3,5}: switches 9, 10. Links: 2*6 in each dimension.
  const Topology two = shape("SW(2)_SW(3)");
  EXPECT_EQ(two.switches(), 5U);
  EXPECT_EQ(two.links(), 24U);
  EXPECT_THAT(out_neighbours(two, 7), ElementsAre(2, 3));
  EXPECT_THAT(out_neighbours(two, 10), ElementsAre(1, 3, 5));
  EXPECT_THAT(out_neighbours(two, 3), ElementsAre(7, 10));
}

TEST(Blocks, BlocksOfOneNpuHaveNoLinks) {
  for (const auto text : {"RI(1)", "FC(1)", "LI(1)", "SW(1)"}) {
    const Topology one = shape(text);
    EXPECT_EQ(one.npus(), 1U) << text;
    EXPECT_EQ(one.links(), 0U) << text;
    EXPECT_EQ(one.switches(), 0U) << text;
  }
  EXPECT_EQ(shape("RI(1)_FC(3)_LI(1)").links(), 6U);
}

TEST(Blocks, MeshesHaveTwoLinksPerPairOfNeighbours) {
  // mesh(10,10): 2 dimensions, 10 lines each, 9 pairs per line, 2 directions = 360.
  EXPECT_EQ(shape("mesh(10,10)").links(), 360U);
  // grid(5,5,5): 3 dimensions, 25 lines each, 4 pairs per line, 2 directions = 600.
  EXPECT_EQ(shape("grid(5,5,5)").links(), 600U);
  // A corner of mesh(3,3) has two neighbours, the middle (NPU 4) all four: x up, x down, y up, y down.
  EXPECT_THAT(out_neighbours(shape("mesh(3,3)"), 0), ElementsAre(1, 3));
  EXPECT_THAT(out_neighbours(shape("mesh(3,3)"), 4), ElementsAre(5, 3, 7, 1));
}

TEST(Blocks, ToriHaveTwoOutLinksPerNpuAndDimension) {
  // torus(4,4,4): 64 NPUs, 3 dimensions, 2 out-links = 384. torus(3,2): 6 NPUs * 2, and 6 * 1 along the ring of two.
  EXPECT_EQ(shape("torus(4,4,4)").links(), 384U);
  EXPECT_EQ(shape("torus(3,2)").links(), 18U);
  // NPU 0 of torus(4,4): x = 1 and 3, y = 1 (NPU 4) and 3 (NPU 12).
  EXPECT_THAT(out_neighbours(shape("torus(4,4)"), 0), ElementsAre(1, 3, 4, 12));
}

TEST(Blocks, HypercubeNeighboursDifferInOneBit) {
  const Topology cube = shape("hypercube(3)");
  EXPECT_EQ(cube.links(), 24U);  // 8 NPUs, 3 out-links each
  EXPECT_THAT(out_neighbours(cube, 5), ElementsAre(5 ^ 1, 5 ^ 2, 5 ^ 4));
}

TEST(Blocks, ThreeDimensionalProductIsTheSumOfItsDimensions) {
  // RI(4)_FC(8)_SW(8), 256 NPUs. Rings: 64 lines of 4 NPUs with 2 out-links: 512. Fully connected: 32 lines of 8 * 7:
  // 1792. Switches: 32 lines with 8 links up and 8 down: 512. In all 2816 links and 32 switches.
  const Topology product = shape("RI(4)_FC(8)_SW(8)");
  EXPECT_EQ(product.npus(), 256U);
  EXPECT_EQ(product.links(), 2816U);
  EXPECT_EQ(product.switches(), 32U);
  // NPU 37 = 1 + 4*1 + 32*1 has coordinates (1,1,1). Ring: x = 2, 0. Fully connected: 33 + 4y for y != 1. Switch: lines
  // of dimension 3 are numbered by their first NPU, here 1 + 4*1 = 5, so vertex 256 + 5.
  EXPECT_THAT(out_neighbours(product, 37), ElementsAre(38, 36, 33, 41, 45, 49, 53, 57, 61, 261));
}

TEST(Blocks, CountsMatchTheBuiltTopologies) {
  for (const auto text : {"RI(4)_FC(8)_SW(8)", "mesh(3,4)", "RI(2)_RI(1)", "hypercube(4)", "dragonfly(4,5)",
                          "dragonfly(2,6)", "SW(1)_SW(3)", "LI(1)_FC(2)"}) {
    const Topology built = shape(text);
    const ShapeCounts counts = count_shape(parse_shape(text).value());
    EXPECT_EQ(counts.links, built.links()) << text;
    EXPECT_EQ(counts.switches, built.switches()) << text;
  }
}

TEST(Blocks, DragonflyHasOneLinkEachWayPerPairOfGroups) {
  // dragonfly(4,5): inside 5 groups 4*3 links = 60; 10 pairs of groups, both directions = 20.
  const Topology dragonfly = shape("dragonfly(4,5)");
  EXPECT_EQ(dragonfly.npus(), 20U);
  EXPECT_EQ(dragonfly.links(), 80U);
  // Group 0 reaches group o through its NPU o-1; there the offset back is 5-o, attached to NPU 4-o of group o: offset 1
  // is 0 -> 4+3, offset 2 is 1 -> 8+2, offset 3 is 2 -> 12+1, offset 4 is 3 -> 16+0.
  EXPECT_THAT(out_neighbours(dragonfly, 0), ElementsAre(1, 2, 3, 7));
  EXPECT_THAT(out_neighbours(dragonfly, 1), ElementsAre(0, 2, 3, 10));
  EXPECT_THAT(out_neighbours(dragonfly, 2), ElementsAre(0, 1, 3, 13));
  EXPECT_THAT(out_neighbours(dragonfly, 3), ElementsAre(0, 1, 2, 16));
  // And back again: NPU 7 is position 3 of group 1, so it has offset 4, which is group 0, attached to (5-4-1) mod 4 =
  // 0.
  EXPECT_THAT(out_neighbours(dragonfly, 7), ElementsAre(4, 5, 6, 0));
}

TEST(Blocks, DragonflyDealsOffsetsInTurnsWhereGroupsOutnumberNpus) {
  // dragonfly(2,4): position 0 has offsets 1 and 3, position 1 has offset 2. From group 0: offset 1 arrives at position
  // (4-1-1) mod 2 = 0 of group 1 (NPU 2), offset 3 at (4-3-1) mod 2 = 0 of group 3 (NPU 6), offset 2 at 1 of group 2
  // (NPU 5).
  const Topology dragonfly = shape("dragonfly(2,4)");
  EXPECT_EQ(dragonfly.links(), 4U * 2 + 6 * 2);
  EXPECT_THAT(out_neighbours(dragonfly, 0), ElementsAre(1, 2, 6));
  EXPECT_THAT(out_neighbours(dragonfly, 1), ElementsAre(0, 5));
}

TEST(Blocks, EveryDimensionHasItsOwnAlphaAndBandwidth) {
  const Topology product =
      shape("RI(2)_SW(2)", {nanoseconds(1), nanoseconds(2)}, {gigabytes_per_second(3), gigabytes_per_second(4)});
  // Links 0..3 are the rings', 4..11 the switches'.
  EXPECT_EQ(product.links(), 12U);
  for (std::uint32_t i = 0; i < 12; ++i) {
    EXPECT_EQ(product.alpha(LinkId(i)), nanoseconds(i < 4 ? 1 : 2));
    EXPECT_EQ(product.bandwidth(LinkId(i)), gigabytes_per_second(i < 4 ? 3 : 4));
  }
  EXPECT_FALSE(product.homogeneous());
  EXPECT_EQ(product.classes().size(), 2U);
}

/// Bandwidth of link 0 when 120 GB/s are each NPU's.
Bandwidth divided(std::string_view text) {
  return shape(text, {nanoseconds(0)}, {gigabytes_per_second(120)}, true).bandwidth(LinkId(0));
}

TEST(Blocks, NpuBandwidthIsDividedOverTheOutLinksOfADimension) {
  EXPECT_EQ(divided("RI(4)"), gigabytes_per_second(60));  // two out-links
  EXPECT_EQ(divided("RI(3)"), gigabytes_per_second(60));
  EXPECT_EQ(divided("RI(2)"), gigabytes_per_second(120));  // one
  EXPECT_EQ(divided("LI(4)"), gigabytes_per_second(60));   // the ends too
  EXPECT_EQ(divided("LI(2)"), gigabytes_per_second(60));   // a line of ends only
  EXPECT_EQ(divided("FC(7)"), gigabytes_per_second(20));   // six
  EXPECT_EQ(divided("FC(2)"), gigabytes_per_second(120));
  EXPECT_EQ(divided("SW(5)"), gigabytes_per_second(120));  // one link up
}

TEST(Blocks, NpuBandwidthBetweenDragonflyGroupsCountsTheMostGlobalLinksOfAnNpu) {
  // dragonfly(2,4): NPU 0 has two global links; its links in order are local (1 share), then global (2 shares).
  const Topology dragonfly = shape("dragonfly(2,4)", {nanoseconds(0)}, {gigabytes_per_second(120)}, true);
  const auto out = dragonfly.out_links(VertexId(0));
  EXPECT_EQ(dragonfly.bandwidth(out[0]), gigabytes_per_second(120));
  EXPECT_EQ(dragonfly.bandwidth(out[1]), gigabytes_per_second(60));
  EXPECT_EQ(dragonfly.bandwidth(out[2]), gigabytes_per_second(60));
}

TEST(Blocks, NpuBandwidthIsRoundedDown) {
  // 100 B/s over three links: 33.
  EXPECT_EQ(shape("FC(4)", {nanoseconds(0)}, {bytes_per_second(100)}, true).bandwidth(LinkId(0)), bytes_per_second(33));
}

std::string blocks_refusal(std::string_view text, const ShapeLinks& links) {
  const auto built = build_topology(parse_shape(text).value(), links);
  return built ? "accepted" : to_string(built.errors());
}

TEST(Blocks, RefusesTheWrongNumberOfValues) {
  const SimTime a = nanoseconds(1);
  const Bandwidth b = gigabytes_per_second(1);
  EXPECT_THAT(blocks_refusal("RI(2)_RI(2)_RI(2)", {{a, a}, {b}, false}), HasSubstr("2 alphas for RI(2)_RI(2)_RI(2)"));
  EXPECT_THAT(blocks_refusal("RI(2)_RI(2)_RI(2)", {{a, a}, {b}, false}), HasSubstr("give one for all or 3"));
  EXPECT_THAT(blocks_refusal("RI(2)", {{a}, {b, b}, false}), HasSubstr("2 bandwidths"));
  EXPECT_THAT(blocks_refusal("RI(2)", {{}, {b}, false}), HasSubstr("0 alphas"));
}

TEST(Blocks, RefusesLinksWithoutBandwidth) {
  const SimTime a = nanoseconds(1);
  EXPECT_THAT(blocks_refusal("FC(8)", {{a}, {bytes_per_second(6)}, true}), HasSubstr("rounds to zero"));
  EXPECT_THAT(blocks_refusal("FC(8)", {{a}, {bytes_per_second(0)}, false}), HasSubstr("a bandwidth is positive"));
  EXPECT_THAT(blocks_refusal("FC(8)", {{a}, {bytes_per_second(-5)}, false}), HasSubstr("a bandwidth is positive"));
  EXPECT_THAT(blocks_refusal("FC(8)", {{picoseconds(-1)}, {bytes_per_second(5)}, false}), HasSubstr("negative alpha"));
}

TEST(Blocks, RefusesMoreLinksThanIdsBeforeBuildingAny) {
  // FC(100000): 100,000 * 99,999 = 9,999,900,000 links.
  const auto built =
      build_topology(parse_shape("FC(100000)").value(), {{nanoseconds(1)}, {bytes_per_second(1)}, false});
  ASSERT_FALSE(built);
  EXPECT_EQ(built.errors().front().fault, Fault::resource);
  EXPECT_THAT(to_string(built.errors()), HasSubstr("9999900000 links"));
}

TEST(Blocks, LargeMeshesTakeMemoryByTheirLinks) {
  // mesh(200,200): 2 * 200 * 199 * 2 = 159,200 links. mesh(500,500): 998,000; a table of its 250,000 * 250,000 vertex
  // pairs would be 8 GB at one bit each.
  EXPECT_EQ(shape("mesh(200,200)").links(), 159'200U);
  EXPECT_EQ(shape("mesh(500,500)").links(), 998'000U);
  rusage used{};
  ASSERT_EQ(::getrusage(RUSAGE_SELF, &used), 0);
  EXPECT_LT(used.ru_maxrss, 2'000'000) << "KiB";
}

TEST(Blocks, ShapesAreRememberedWhileIntact) {
  EXPECT_EQ(shape("mesh(3,3)").shape(), parse_shape("mesh(3,3)").value());
}

}  // namespace
}  // namespace tenex
