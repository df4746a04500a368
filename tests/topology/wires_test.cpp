// Wires: the paths over cut-through switches, as links.
#include "tenex/topology/wires.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tenex/topology/plan.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;

constexpr SwitchProperties kCutThrough{.forwarding = Forwarding::cut_through};

Topology built_from(const char* text, ShapeLinks links) {
  return build_topology(*parse_shape(text), links).value().with_switches(kCutThrough);
}

ShapeLinks all_alike(SimTime alpha = microseconds(1), Bandwidth bandwidth = gigabytes_per_second(50)) {
  return {{alpha}, {bandwidth}, false};
}

std::vector<std::uint32_t> path_of(const Wires& wires, std::size_t wire) {
  std::vector<std::uint32_t> links;
  for (const WireSpan& span : wires.spans(LinkId::at(wire))) links.push_back(span.link.value());
  return links;
}

TEST(Wires, OfOneSwitchJoinAllPairsInTheOrderOfTheirTargets) {
  // SW(3): NPU i goes up by link 2i and is reached by link 2i + 1. Alpha adds up: 2 us; the bandwidth stays.
  const Topology wired = wires_of(built_from("SW(3)", all_alike())).value();
  ASSERT_NE(wired.wires(), nullptr);
  EXPECT_EQ(wired.switches(), 0U);
  ASSERT_EQ(wired.links(), 6U);
  EXPECT_EQ(wired.link(LinkId(0)), (Link{VertexId(0), VertexId(1), microseconds(2), gigabytes_per_second(50)}));
  EXPECT_THAT(path_of(*wired.wires(), 0), ElementsAre(0, 3));
  EXPECT_THAT(path_of(*wired.wires(), 1), ElementsAre(0, 5));
  EXPECT_THAT(path_of(*wired.wires(), 4), ElementsAre(4, 1));
  EXPECT_EQ(wired.wires()->spans(LinkId(4))[1].offset, microseconds(1));
}

TEST(Wires, OfAProductAreTheShapeWithOnePortPerSwitch) {
  const ShapeLinks links{{microseconds(1), microseconds(2), microseconds(3)},
                         {gigabytes_per_second(100), gigabytes_per_second(50), gigabytes_per_second(25)},
                         false};
  const Topology wired = wires_of(built_from("RI(4)_SW(3)_FC(2)", links)).value();
  EXPECT_EQ(to_string(*wired.shape()), "RI(4)_SW(3)_FC(2)");
  EXPECT_EQ(wired.links(), 24U * (2 + 2 + 1));
  EXPECT_FALSE(TranslationGroup::of(wired));
  const auto group = TranslationGroup::of(wired, LinkPorts::shared);
  ASSERT_TRUE(group);
  ASSERT_EQ(group->dimensions().size(), 3U);
  EXPECT_FALSE(group->dimensions()[0].one_port);
  EXPECT_TRUE(group->dimensions()[1].one_port);
  for (std::size_t i = 0; i < wired.links(); ++i) {
    const LinkId link = LinkId::at(i);
    const auto departure = group->departure(link);
    EXPECT_EQ(wired.source(link), vertex_of(departure.source));
    EXPECT_EQ(wired.target(link), vertex_of(group->neighbour(departure.source, departure.direction)));
  }
  const WireCounts counts = count_wires(*parse_shape("RI(4)_SW(3)_FC(2)"));
  EXPECT_EQ(counts.wires, wired.links());
  EXPECT_EQ(counts.spans, 24U * (2 + 2 * 2 + 1));
}

TEST(Wires, TakeTheSlowestLinkOfAPathOverSeveralSwitches) {
  // NPU 0 - switch 2 - switch 3 - NPU 1 with 50, 10 and 25 GB/s and alphas of 1, 2 and 4 us.
  TopologyBuilder builder(2);
  const VertexId a = builder.add_switch(kCutThrough);
  const VertexId b = builder.add_switch(kCutThrough);
  builder.add_link({VertexId(0), a, microseconds(1), gigabytes_per_second(50)});
  builder.add_link({a, b, microseconds(2), gigabytes_per_second(10)});
  builder.add_link({b, VertexId(1), microseconds(4), gigabytes_per_second(25)});
  const Topology wired = wires_of(std::move(builder).build().value()).value();
  ASSERT_EQ(wired.links(), 1U);
  EXPECT_EQ(wired.link(LinkId(0)), (Link{VertexId(0), VertexId(1), microseconds(7), gigabytes_per_second(10)}));
  const auto spans = wired.wires()->spans(LinkId(0));
  EXPECT_THAT(std::vector(spans.begin(), spans.end()),
              ElementsAre(WireSpan{LinkId(0), microseconds(0)}, WireSpan{LinkId(1), microseconds(1)},
                          WireSpan{LinkId(2), microseconds(3)}));
  // Backward: the alphas before a link are those behind it.
  const Topology reversed = wired.reversed();
  EXPECT_EQ(reversed.source(LinkId(0)), VertexId(1));
  const auto back = reversed.wires()->spans(LinkId(0));
  EXPECT_THAT(std::vector(back.begin(), back.end()),
              ElementsAre(WireSpan{LinkId(2), microseconds(0)}, WireSpan{LinkId(1), microseconds(4)},
                          WireSpan{LinkId(0), microseconds(6)}));
  EXPECT_EQ(reversed.wires()->network().source(LinkId(2)), VertexId(1));
}

TEST(Wires, EndAtSwitchesThatStoreAndForward) {
  // NPU 0 - cut-through 2 - storing 3 - cut-through 4 - NPU 1: two wires, over a holder that is renumbered to 2.
  TopologyBuilder builder(2);
  const VertexId first = builder.add_switch(kCutThrough);
  const VertexId middle = builder.add_switch({.copy = true, .buffer = 3});
  const VertexId last = builder.add_switch(kCutThrough);
  const Link link{VertexId(0), first, microseconds(1), gigabytes_per_second(50)};
  builder.add_link(link);
  builder.add_link({first, middle, link.alpha, link.bandwidth});
  builder.add_link({middle, last, link.alpha, link.bandwidth});
  builder.add_link({last, VertexId(1), link.alpha, link.bandwidth});
  const Topology wired = wires_of(std::move(builder).build().value()).value();
  ASSERT_EQ(wired.links(), 2U);
  EXPECT_EQ(wired.switches(), 1U);
  EXPECT_EQ(wired.switch_properties(VertexId(2)), (SwitchProperties{.copy = true, .buffer = 3}));
  EXPECT_EQ(wired.target(LinkId(0)), VertexId(2));
  EXPECT_EQ(wired.source(LinkId(1)), VertexId(2));
}

TEST(Wires, UseAllLinksOfParallelPathsAlike) {
  // Two leaves of 8 NPUs, joined by 8 spines: 4 of the 8 paths of each pair are taken, turned by the pair, so that
  // each link between a leaf and a spine is on as many wires as any other: 8 * 8 * 4 / 8 = 32 each way.
  TopologyBuilder builder(16);
  std::vector<VertexId> leaves{builder.add_switch(kCutThrough), builder.add_switch(kCutThrough)};
  for (std::uint32_t npu = 0; npu < 16; ++npu)
    builder.add_link_pair({VertexId(npu), leaves[npu / 8], microseconds(1), gigabytes_per_second(50)});
  for (int spine = 0; spine < 8; ++spine) {
    const VertexId vertex = builder.add_switch(kCutThrough);
    for (const VertexId leaf : leaves) builder.add_link_pair({leaf, vertex, microseconds(1), gigabytes_per_second(50)});
  }
  const Topology wired = wires_of(std::move(builder).build().value()).value();
  EXPECT_EQ(wired.links(), 2U * 8 * 7 + 2U * 8 * 8 * 4);
  std::map<std::uint32_t, int> uses;
  for (std::size_t wire = 0; wire < wired.links(); ++wire)
    for (const std::uint32_t link : path_of(*wired.wires(), wire)) ++uses[link];
  for (std::uint32_t link = 32; link < 64; ++link) EXPECT_EQ(uses[link], 32) << link;
}

TEST(Wires, StayWithoutAShape) {
  // SW(3)_RI(2): without the shape every wire is what it was, also in its network.
  const Topology wired = wires_of(built_from("SW(3)_RI(2)", all_alike())).value();
  const Topology plain = wired.without_shape();
  EXPECT_FALSE(plain.shape());
  ASSERT_NE(plain.wires(), nullptr);
  EXPECT_FALSE(plain.wires()->network().shape());
  EXPECT_EQ(plain.wires()->network().links(), wired.wires()->network().links());
  ASSERT_EQ(plain.links(), wired.links());
  for (std::size_t wire = 0; wire < wired.links(); ++wire) {
    EXPECT_EQ(plain.link(LinkId::at(wire)), wired.link(LinkId::at(wire)));
    EXPECT_EQ(path_of(*plain.wires(), wire), path_of(*wired.wires(), wire));
  }
  EXPECT_TRUE(wired.shape());
}

TEST(Wires, AreNotMadeOfNetworksWithoutCutThroughSwitches) {
  const Topology plain = build_topology(*parse_shape("SW(4)"), all_alike()).value();
  EXPECT_EQ(wires_of(plain).value().wires(), nullptr);
  EXPECT_EQ(count_wires(*parse_shape("RI(4)")).wires, 0U);
}

}  // namespace
}  // namespace tenex
