// Translation groups: formulas for links and neighbours against the built topology, group axioms, refusals.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {
namespace {

const std::vector<std::string_view> kShapes = {
    "RI(2)",
    "RI(3)",
    "RI(5)",
    "LI(2)",
    "FC(2)",
    "FC(3)",
    "FC(5)",
    "torus(3,4,5)",
    "torus(4,2,3)",
    "hypercube(4)",
    "RI(4)_FC(3)",
    "FC(4)_RI(5)",
    "FC(3)_FC(4)",
    "RI(1)_FC(3)",
    "RI(3)_SW(1)_FC(4)_RI(2)",
    "LI(2)_LI(1)_RI(3)",
    "FC(6)_LI(2)_RI(3)",
    "twisted_torus(4,4,8,4)",
    "twisted_torus(2,3,5,2)",
    "twisted_torus(2,2,4,2)",
};

TranslationGroup group_of(const Topology& topology) { return TranslationGroup::of(topology).value(); }

TEST(Translation, KnowsEveryLinkAsASourceAndADirectionAndBack) {
  for (const auto shape : kShapes) {
    SCOPED_TRACE(shape);
    const Topology topology = support::shape(shape);
    const TranslationGroup group = group_of(topology);
    ASSERT_EQ(group.links(), topology.links());
    for (std::size_t i = 0; i < topology.links(); ++i) {
      const auto place = group.departure(LinkId::at(i));
      EXPECT_EQ(group.link(place), LinkId::at(i));
      EXPECT_EQ(vertex_of(place.source), topology.source(LinkId::at(i)));
      EXPECT_EQ(vertex_of(group.neighbour(place.source, place.direction)), topology.target(LinkId::at(i)));
    }
  }
}

TEST(Translation, AddsOffsetsAsAnAbelianGroup) {
  for (const auto shape : {"torus(3,4)", "FC(3)_RI(2)_LI(2)", "hypercube(3)", "twisted_torus(2,3,4,3)"}) {
    SCOPED_TRACE(shape);
    const TranslationGroup group = group_of(support::shape(shape));
    for (std::uint32_t a = 0; a < group.npus(); ++a) {
      EXPECT_EQ(group.add(NpuId(a), NpuId(0)), NpuId(a));
      EXPECT_EQ(group.add(group.subtract(NpuId(0), NpuId(a)), NpuId(a)), NpuId(0));
      for (std::uint32_t b = 0; b < group.npus(); ++b) {
        EXPECT_EQ(group.add(NpuId(a), NpuId(b)), group.add(NpuId(b), NpuId(a)));
        EXPECT_EQ(group.subtract(group.add(NpuId(a), NpuId(b)), NpuId(b)), NpuId(a));
        for (std::uint32_t c = 0; c < group.npus(); ++c)
          EXPECT_EQ(group.add(group.add(NpuId(a), NpuId(b)), NpuId(c)),
                    group.add(NpuId(a), group.add(NpuId(b), NpuId(c))));
      }
    }
  }
}

TEST(Translation, AddsCoordinateByCoordinateWithoutCarries) {
  // torus(3,4): 5 = (2,1) and 7 = (1,2) add up to (0,3) = 9; 5 - 7 = (1,3) = 10.
  const TranslationGroup group = group_of(support::shape("torus(3,4)"));
  EXPECT_EQ(group.add(NpuId(5), NpuId(7)), NpuId(9));
  EXPECT_EQ(group.subtract(NpuId(5), NpuId(7)), NpuId(10));
}

TEST(Translation, MovesLinksToLinks) {
  for (const auto shape : kShapes) {
    SCOPED_TRACE(shape);
    const Topology topology = support::shape(shape);
    const TranslationGroup group = group_of(topology);
    for (std::size_t by = 0; by < topology.npus(); ++by)
      for (std::size_t i = 0; i < topology.links(); ++i) {
        auto place = group.departure(LinkId::at(i));
        const NpuId target = npu_of(topology.target(LinkId::at(i)));
        place.source = group.add(place.source, NpuId::at(by));
        EXPECT_EQ(topology.source(group.link(place)), vertex_of(place.source));
        EXPECT_EQ(topology.target(group.link(place)), vertex_of(group.add(target, NpuId::at(by))));
      }
  }
}

TEST(Translation, KnowsTheDirectionBack) {
  for (const auto shape : kShapes) {
    SCOPED_TRACE(shape);
    const TranslationGroup group = group_of(support::shape(shape));
    for (std::uint32_t direction = 0; direction < group.directions().size(); ++direction) {
      const auto back = group.directions()[direction].opposite;
      EXPECT_EQ(group.neighbour(group.neighbour(NpuId(0), direction), back), NpuId(0));
      EXPECT_EQ(group.directions()[back].link_class, group.directions()[direction].link_class);
      EXPECT_EQ(group.neighbour(NpuId(0), direction), group.directions()[direction].offset);
    }
  }
}

TEST(Translation, GivesEachDimensionItsOwnLinkClass) {
  const Topology topology = support::shape("RI(4)_FC(3)_RI(2)", {microseconds(1), microseconds(2), microseconds(1)},
                                           {gigabytes_per_second(1), gigabytes_per_second(1), gigabytes_per_second(2)});
  const TranslationGroup group = group_of(topology);
  for (const auto& direction : group.directions()) {
    const auto dimension = static_cast<std::int64_t>(direction.dimension);
    const LinkClass& link = topology.classes()[direction.link_class];
    EXPECT_EQ(link.alpha, microseconds(dimension == 1 ? 2 : 1));
    EXPECT_EQ(link.bandwidth, gigabytes_per_second(dimension == 2 ? 2 : 1));
  }
}

/// A shape with switches unwound, and the degree.
struct Unwound {
  std::string_view shape;
  std::uint32_t degree;
};
const std::vector<Unwound> kUnwound = {{"SW(5)", 1},       {"SW(5)", 2},       {"SW(5)", 9},
                                       {"RI(4)_SW(6)", 2}, {"SW(4)_FC(3)", 3}, {"RI(3)_SW(2)_SW(4)_RI(2)", 1}};

Topology unwound_of(const Unwound& network) {
  return unwind_switches(support::shape(network.shape), network.degree).value();
}

TEST(Translation, KnowsEveryLinkOfUnwoundSwitches) {
  for (const auto& network : kUnwound) {
    SCOPED_TRACE(network.shape);
    const Topology topology = unwound_of(network);
    const TranslationGroup group = TranslationGroup::of(topology, LinkPorts::shared).value();
    ASSERT_EQ(group.links(), topology.links());
    for (std::size_t i = 0; i < topology.links(); ++i) {
      const auto place = group.departure(LinkId::at(i));
      EXPECT_EQ(group.link(place), LinkId::at(i));
      EXPECT_EQ(vertex_of(place.source), topology.source(LinkId::at(i)));
      EXPECT_EQ(vertex_of(group.neighbour(place.source, place.direction)), topology.target(LinkId::at(i)));
      EXPECT_EQ(group.origin(group.neighbour(place.source, place.direction), place.direction), place.source);
      EXPECT_EQ(group.directions()[place.direction].link_class, topology.class_of(LinkId::at(i)));
    }
  }
}

TEST(Translation, KnowsWhichUnwoundDirectionsHaveNoOpposite) {
  // SW(5) of degree 2 has the steps 1 and 2, but neither 4 nor 3; of degree 4 all four, in pairs 1, 4 and 2, 3.
  const auto circulant = TranslationGroup::of(unwound_of({"SW(5)", 2}), LinkPorts::shared).value();
  EXPECT_FALSE(circulant.two_way());
  for (const auto& direction : circulant.directions()) EXPECT_EQ(direction.opposite, kNoOpposite);
  EXPECT_EQ(circulant.dimensions()[0].farthest_hops, 2U);  // 4 = 2 + 2
  const auto full = TranslationGroup::of(unwound_of({"SW(5)", 4}), LinkPorts::shared).value();
  EXPECT_TRUE(full.two_way());
  EXPECT_EQ(full.directions()[0].opposite, 3U);
  EXPECT_EQ(full.directions()[1].opposite, 2U);
  EXPECT_EQ(full.dimensions()[0].farthest_hops, 1U);
}

TEST(Translation, GivesUnwoundSwitchesOnlyToCallersThatKnowThem) {
  const Topology topology = unwound_of({"RI(4)_SW(6)", 2});
  EXPECT_FALSE(TranslationGroup::of(topology).has_value());
  EXPECT_FALSE(TranslationGroup::of(topology.without_shape(), LinkPorts::shared).has_value());
  EXPECT_FALSE(TranslationGroup::of(topology.reversed(), LinkPorts::shared).has_value());
  const Topology tree = unwind_switches(support::shape("SW(4)_LI(3)"), 1).value();  // the line has no translations
  EXPECT_FALSE(TranslationGroup::of(tree, LinkPorts::shared).has_value());
}

TEST(Translation, RefusesWhatIsNoCayleyShape) {
  for (const auto shape : {"LI(3)", "mesh(4,4)", "SW(4)", "RI(4)_SW(2)", "RI(4)_LI(3)", "dragonfly(3,4)"})
    EXPECT_FALSE(TranslationGroup::of(support::shape(shape)).has_value()) << shape;
}

TEST(Translation, RefusesAShapeThatIsNoLongerIntact) {
  const Topology ring = support::ring(5);
  std::vector<bool> drop(ring.links(), false);
  drop[3] = true;
  EXPECT_FALSE(TranslationGroup::of(ring.without(drop)).has_value());
  EXPECT_FALSE(TranslationGroup::of(support::random_connected_topology(1, 8, false)).has_value());
}

TEST(Translation, RefusesAReversedTopologyWhoseLinksAreNumberedTheOtherWay) {
  for (const auto shape : {"RI(5)", "FC(4)", "RI(2)", "torus(3,4)"})
    EXPECT_FALSE(TranslationGroup::of(support::shape(shape).reversed()).has_value()) << shape;
}

TEST(Translation, RefusesLinksThatDifferInsideADimension) {
  // A ring of three by hand, declared as a shape, with one link slower than the others.
  TopologyBuilder builder(3);
  for (std::uint32_t npu = 0; npu < 3; ++npu)
    for (const std::uint32_t step : {1U, 2U})
      builder.add_link({VertexId(npu), VertexId((npu + step) % 3), support::kAlpha,
                        npu == 2 && step == 2 ? gigabytes_per_second(1) : support::kBandwidth});
  builder.declare_shape(parse_shape("RI(3)").value());
  EXPECT_FALSE(TranslationGroup::of(std::move(builder).build().value()).has_value());
}

}  // namespace
}  // namespace tenex
