// Where vertices stand.
#include "tenex/pages/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "pages/grouping.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

VertexLayout layout_of(std::string_view text) {
  const auto shape = parse_shape(text).value();
  return lay_out(support::shape(text), &shape);
}

double distance(Spot a, Spot b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// The least distance of two vertices.
double least_distance(const VertexLayout& layout) {
  double least = 1e9;
  for (std::size_t i = 0; i < layout.at.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) least = std::min(least, distance(layout.at[i], layout.at[j]));
  return least;
}

// NPU x + 4 y of mesh(4,4) stands at (x, y), and no link is bent.
TEST(Layouts, OfAMeshIsItsGrid) {
  const auto layout = layout_of("mesh(4,4)");
  EXPECT_EQ(layout.form, "grid");
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_DOUBLE_EQ(layout.at[i].x, static_cast<double>(i % 4));
    EXPECT_DOUBLE_EQ(layout.at[i].y, static_cast<double>(i / 4));
  }
  for (const float bend : layout.bends) EXPECT_EQ(bend, 0);
}

// torus(4,4) is the same grid; the 16 links around (two ways in each of four rows and four columns) pass over others'
// places and are bent.
TEST(Layouts, OfATorusBendsTheLinksAround) {
  const auto layout = layout_of("torus(4,4)");
  EXPECT_DOUBLE_EQ(layout.at[5].x, 1);
  EXPECT_DOUBLE_EQ(layout.at[5].y, 1);
  EXPECT_EQ(std::ranges::count_if(layout.bends, [](float bend) { return bend > 0; }), 16);
}

// Neighbours of a ring are 1 apart on a circle: of 8, the radius is 0.5 / sin(pi / 8) = 1.3066.
TEST(Layouts, OfARingIsACircle) {
  const auto layout = layout_of("ring(8)");
  EXPECT_EQ(layout.form, "circle");
  EXPECT_NEAR(distance(layout.at[0], layout.at[1]), 1, 1e-12);
  EXPECT_NEAR(distance(layout.at[0], layout.at[4]), 2 * 1.3066, 1e-4);
}

TEST(Layouts, OfABoxHasTheSwitchInTheMiddle) {
  const auto layout = layout_of("SW(8)");
  for (std::size_t i = 1; i < 8; ++i)
    EXPECT_NEAR(distance(layout.at[i], layout.at[8]), distance(layout.at[0], layout.at[8]), 1e-12);
}

// fat_tree(4): 16 NPUs, 8 edge, 8 aggregation and 4 core switches, each level higher than the one below.
TEST(Layouts, OfAFatTreeIsByLevel) {
  const auto layout = layout_of("fat_tree(4)");
  EXPECT_EQ(layout.form, "levels");
  const auto y = [&](std::size_t vertex) { return layout.at[vertex].y; };
  for (std::size_t e = 0; e < 8; ++e) {
    EXPECT_LT(y(16 + e), 0);
    EXPECT_LT(y(24 + e), y(16));
    EXPECT_LT(y(32 + e % 4), y(24));
  }
}

// rail_spine(4,8,2): a box switch per 4 NPUs is lowest, then the 4 rails over all boxes, then 2 spines.
TEST(Layouts, OfRailsPutsSpinesOnTop) {
  const auto layout = layout_of("rail_spine(4,8,2)");
  EXPECT_LT(layout.at[32].y, 0);                         // a box switch
  EXPECT_LT(layout.at[32 + 8].y, layout.at[32].y);       // a rail
  EXPECT_LT(layout.at[32 + 12].y, layout.at[32 + 8].y);  // a spine
}

TEST(Layouts, PutsNoVertexOnAnother) {
  for (const auto* text : {"mesh(4,4,4)", "RI(4)_SW(8)", "SW(8)_SW(4)", "FC(8)_RI(4)_LI(3)", "SW(32,8:2)",
                           "dragonfly(4,9)", "slim_fly(5)", "fat_tree(8)", "leaf_spine(8,4,2)", "rail_spine(8,4,4)",
                           "SW(64)", "FC(40)", "hypercube(6)", "RI(2)_RI(2)", "torus(8,8)", "LI(3)_SW(4)"}) {
    const auto layout = layout_of(text);
    EXPECT_EQ(layout.at.size(), support::shape(text).vertices()) << text;
    EXPECT_GT(least_distance(layout), 0.2) << text;
  }
}

// torus(64,64) in groups of at most 1,000: the inner dimension goes, 64 groups of 64 in a ring, each joined with the
// next by 64 links each way, which count together: 64 * 50 GB/s.
TEST(Grouping, OfATorusKeepsItsOuterDimension) {
  const auto shape = parse_shape("torus(64,64)").value();
  const auto grouped = group_network(support::shape("torus(64,64)"), shape, 1000);
  EXPECT_EQ(grouped.topology.npus(), 64U);
  EXPECT_EQ(grouped.topology.links(), 128U);
  EXPECT_EQ(grouped.npus_per_group, 64U);
  EXPECT_EQ(grouped.links_in[0], 64U);
  EXPECT_EQ(grouped.topology.bandwidth(LinkId(0)).count(), 64 * 50'000'000'000);
  EXPECT_TRUE(grouped.shape.has_value());
}

}  // namespace
}  // namespace tenex
