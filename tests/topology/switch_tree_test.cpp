// A hierarchy of switches inside one dimension: SW(32,8:2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "support/topologies.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/faults.hpp"
#include "tenex/topology/plan.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/translation.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

using support::shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Ends = std::pair<std::uint32_t, std::uint32_t>;

std::vector<Ends> ends_of(const Topology& topology) {
  std::vector<Ends> ends;
  for (std::size_t i = 0; i < topology.links(); ++i)
    ends.emplace_back(topology.source(LinkId::at(i)).value(), topology.target(LinkId::at(i)).value());
  return ends;
}

Topology wired(const Topology& topology) {
  return wires_of(topology.with_switches(SwitchProperties{.forwarding = Forwarding::cut_through})).value();
}

/// The most routes on one link where the NPU at each position of a line sends to the one `shift` positions on.
std::size_t most_sharers(const Topology& topology, std::uint32_t stride, std::uint32_t size, std::uint32_t shift) {
  Router router(topology);
  std::map<LinkId, std::size_t> load;
  for (std::uint32_t npu = 0; npu < topology.npus(); ++npu) {
    const std::uint32_t position = npu / stride % size;
    const std::uint32_t to = npu - position * stride + (position + shift) % size * stride;
    for (const LinkId link : router.route(NpuId(npu), NpuId(to))) {
      if (topology.wires() == nullptr) ++load[link];
      if (topology.wires() != nullptr)
        for (const WireSpan& span : topology.wires()->spans(link)) ++load[span.link];
    }
  }
  std::size_t most = 0;
  for (const auto& [link, routes] : load) most = std::max(most, routes);
  return most;
}

/// Random levels for a dimension: what the text says, its size, and the product of its oversubscriptions.
struct RandomTree {
  std::string text;
  std::uint32_t size = 1;
  std::uint32_t oversubscription = 1;
};

RandomTree random_tree(std::mt19937& random) {
  const auto draw = [&](std::uint32_t least, std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
  };
  RandomTree tree;
  std::string levels;
  std::uint32_t lanes = 1;
  for (std::uint32_t level = draw(1, 2); level > 0; --level) {
    const std::uint32_t below = draw(2, 4);
    tree.size *= below;
    const std::uint32_t from_below = below * lanes;
    std::uint32_t shared = draw(1, 4);
    while (from_below % shared != 0) --shared;
    lanes = from_below / shared;
    tree.oversubscription *= shared;
    levels += fmt::format(",{}:{}", tree.size, shared);
  }
  tree.size *= draw(2, 3);
  tree.text = fmt::format("SW({}{})", tree.size, levels);
  return tree;
}

TEST(SwitchTree, OfLibrasFigureHasThreeSwitchesInOneDimension) {
  // LIBRA, Fig. 4b: 4 NPUs, leaf switches 4 and 5 with two NPUs each, top switch 6. What a leaf's two NPUs send goes up
  // over two links, so the two bundles have four links each way.
  const Topology topology = shape("SW(4,2)");
  EXPECT_EQ(topology.shape()->dimensions(), 1U);
  EXPECT_EQ(topology.switches(), 3U);
  EXPECT_THAT(ends_of(topology), ElementsAre(Ends{0, 4}, Ends{4, 0}, Ends{1, 4}, Ends{4, 1}, Ends{2, 5}, Ends{5, 2},
                                             Ends{3, 5}, Ends{5, 3}, Ends{4, 6}, Ends{6, 4}, Ends{4, 6}, Ends{6, 4},
                                             Ends{5, 6}, Ends{6, 5}, Ends{5, 6}, Ends{6, 5}));
  EXPECT_TRUE(topology.homogeneous());
  EXPECT_EQ(topology.bandwidth(LinkId(8)), support::kBandwidth);
  EXPECT_EQ(topology.alpha(LinkId(8)), support::kAlpha);
}

TEST(SwitchTree, CountsBeforeItIsBuilt) {
  // 64 leaves, 8 middle switches, 1 top. Links each way: 512 of NPUs, 64 x 8 of leaves, 8 x 64 of middle switches.
  EXPECT_EQ(count_shape(*parse_shape("SW(512,8,64)")), (ShapeCounts{3072, 73}));
  // Oversubscribed by 2 and then by 4: a leaf has 4 links up, a middle switch 8 x 4 / 4 = 8.
  EXPECT_EQ(count_shape(*parse_shape("SW(512,8:2,64:4)")), (ShapeCounts{2 * (512 + 64 * 4 + 8 * 8), 73}));
  EXPECT_EQ(links_between_switches(*parse_shape("RI(2)_SW(512,8:2,64:4)"), 1), 2U * (64 * 4 + 8 * 8));
  EXPECT_EQ(links_between_switches(*parse_shape("RI(2)_SW(512)"), 1), 0U);
  for (const auto* text : {"RI(2)_SW(12,6:3)_SW(2)", "SW(4,2)_SW(8,2:2,4)", "SW(1)_SW(6,3)"}) {
    const auto counts = count_shape(*parse_shape(text));
    EXPECT_EQ(shape(text).links(), counts.links) << text;
    EXPECT_EQ(shape(text).switches(), counts.switches) << text;
  }
}

TEST(SwitchTree, IsWrittenWithItsLevels) {
  EXPECT_EQ(to_string(*parse_shape(" RI(2) _ SW( 32 , 8 : 2 , 16:1)")), "RI(2)_SW(32,8:2,16)");
  EXPECT_EQ(*parse_shape("SW(32,8:1)"), *parse_shape("SW(32,8)"));
  EXPECT_NE(*parse_shape("SW(32,8)"), *parse_shape("SW(32)"));
  EXPECT_NE(*parse_shape("SW(32,8)"), *parse_shape("SW(32,8:2)"));
}

TEST(SwitchTree, RefusesLevelsThatDoNotFit) {
  const auto message = [](const char* text) {
    const auto parsed = parse_shape(text, Place{"study.toml", 3, 10});
    return parsed ? std::string() : to_string(parsed.errors());
  };
  EXPECT_THAT(message("SW(32,5)"), HasSubstr("study.toml:3:16: switches over 5 NPUs"));
  EXPECT_THAT(message("SW(32,1)"), HasSubstr("switches over 1 NPUs"));
  EXPECT_THAT(message("SW(32,32)"), HasSubstr("fewer than all 32"));
  EXPECT_THAT(message("SW(32,16,8)"), HasSubstr("switches over 8 NPUs"));
  EXPECT_THAT(message("SW(32,8:3)"), HasSubstr("8 links come from below"));
  // Of 4 NPUs 1 link goes up; two of them cannot be shared by 4.
  EXPECT_THAT(message("SW(32,4:4,8:4)"), HasSubstr("choose a divisor of 2"));
  EXPECT_THAT(message("SW(32:2,8)"), HasSubstr("an oversubscription of 2"));
  EXPECT_THAT(message("RI(32,8)"), HasSubstr("it takes 1"));
  EXPECT_THAT(message("mesh(4,4:2)"), HasSubstr("only a level of switches"));
  EXPECT_THAT(message("SW(32,8:0)"), HasSubstr("a size of 0"));
}

TEST(SwitchTree, RoutesClimbToTheLowestCommonSwitch) {
  // Leaves 4 and 5, top 6. The links of a bundle follow the destination: positions 2 and 3 are 0 and 1 modulo 2, so
  // routes to NPU 2 take the links 8 up and 13 down, routes to NPU 3 the links 10 and 15.
  const Topology topology = shape("SW(4,2)");
  Router router(topology);
  EXPECT_THAT(router.route(NpuId(0), NpuId(1)), ElementsAre(LinkId(0), LinkId(3)));
  EXPECT_THAT(router.route(NpuId(0), NpuId(2)), ElementsAre(LinkId(0), LinkId(8), LinkId(13), LinkId(5)));
  EXPECT_THAT(router.route(NpuId(0), NpuId(3)), ElementsAre(LinkId(0), LinkId(10), LinkId(15), LinkId(7)));
}

TEST(SwitchTree, ShiftsShareLinksAsOftenAsTheOversubscriptionSays) {
  // What every NPU sends to the one s positions on spreads evenly over every bundle: in a tree without oversubscription
  // no link has two routes, elsewhere the product of the oversubscriptions. Routes by arithmetic, by search (a shape
  // that is forgotten) and over wires are alike in this.
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round) {
    const auto tree = random_tree(random);
    const Topology line = shape(tree.text);
    const Topology product = shape("RI(2)_" + tree.text + "_SW(2)");
    for (std::uint32_t shift = 1; shift < tree.size; shift += 1 + tree.size / 8) {
      EXPECT_LE(most_sharers(line, 1, tree.size, shift), tree.oversubscription) << tree.text << " by " << shift;
      EXPECT_LE(most_sharers(product, 2, tree.size, shift), tree.oversubscription) << tree.text << " by " << shift;
      EXPECT_LE(most_sharers(product.without_shape(), 2, tree.size, shift), tree.oversubscription) << tree.text;
      EXPECT_LE(most_sharers(wired(product), 2, tree.size, shift), tree.oversubscription) << tree.text;
      EXPECT_LE(most_sharers(wired(product.without_shape()), 2, tree.size, shift), tree.oversubscription) << tree.text;
    }
    EXPECT_EQ(most_sharers(line, 1, tree.size, tree.size / 2), tree.oversubscription) << tree.text;
  }
}

TEST(SwitchTree, RoutesAreShortestAndArithmeticAgreesWithSearch) {
  std::mt19937 random(8);
  for (int round = 0; round < 12; ++round) {
    const auto tree = random_tree(random);
    const Topology topology = shape(tree.text);
    const Topology plain = topology.without_shape();
    const Block& block = topology.shape()->blocks[0];
    Router by_shape(topology);
    Router by_search(plain);
    std::int64_t total = 0;
    std::uint32_t farthest = 0;
    for (std::uint32_t from = 0; from < tree.size; ++from)
      for (std::uint32_t to = 0; to < tree.size; ++to) {
        const auto route = by_shape.route(NpuId(from), NpuId(to));
        EXPECT_EQ(route, by_search.route(NpuId(from), NpuId(to))) << tree.text << " " << from << " to " << to;
        EXPECT_EQ(route.size(), block.rule->hops(from, to, block)) << tree.text << " " << from << " to " << to;
        total += static_cast<std::int64_t>(route.size());
        farthest = std::max(farthest, static_cast<std::uint32_t>(route.size()));
      }
    EXPECT_EQ(block.rule->total_hops(block), total) << tree.text;
    EXPECT_NEAR(block.rule->mean_hops(block), static_cast<double>(total) / tree.size / tree.size, 1e-9) << tree.text;
    EXPECT_EQ(block.rule->diameter_hops(block), farthest) << tree.text;
    EXPECT_EQ(latency_diameter(topology), latency_diameter(plain)) << tree.text;
  }
}

TEST(SwitchTree, WiresTakeTheLinksOfTheTargetOrOfTheSource) {
  // 0 -> 3 on SW(4,2): up over 8 (for position 0) or 10 (for 3), down over 13 or 15. 0 -> 2: both have remainder 0.
  const Topology topology = wired(shape("SW(4,2)"));
  ASSERT_NE(topology.wires(), nullptr);
  std::map<Ends, std::vector<std::vector<std::uint32_t>>> wires;
  for (std::size_t i = 0; i < topology.links(); ++i) {
    auto& paths = wires[{topology.source(LinkId::at(i)).value(), topology.target(LinkId::at(i)).value()}];
    auto& path = paths.emplace_back();
    for (const WireSpan& span : topology.wires()->spans(LinkId::at(i))) path.push_back(span.link.value());
  }
  EXPECT_THAT((wires[{0, 1}]), ElementsAre(ElementsAre(0, 3)));
  EXPECT_THAT((wires[{0, 2}]), ElementsAre(ElementsAre(0, 8, 13, 5)));
  EXPECT_THAT((wires[{0, 3}]), ElementsAre(ElementsAre(0, 10, 15, 7), ElementsAre(0, 8, 13, 7)));
  // From each NPU: one wire to its neighbour, one and two to the others.
  EXPECT_EQ(topology.links(), 16U);
  EXPECT_EQ(topology.bandwidth(LinkId(2)), support::kBandwidth);
  EXPECT_EQ(topology.alpha(LinkId(2)), 4 * support::kAlpha);
}

TEST(SwitchTree, WiresAreThoseOfTheShape) {
  std::mt19937 random(9);
  for (int round = 0; round < 12; ++round) {
    const auto text = "RI(2)_" + random_tree(random).text;
    const Topology topology = wired(shape(text));
    EXPECT_EQ(to_string(*topology.shape()), to_string(*parse_shape(text)));
    const WireCounts counts = count_wires(*parse_shape(text));
    EXPECT_EQ(counts.wires, topology.links()) << text;
    std::uint64_t spans = 0;
    for (std::size_t i = 0; i < topology.links(); ++i) spans += topology.wires()->spans(LinkId::at(i)).size();
    EXPECT_GE(counts.spans, spans) << text;
    EXPECT_FALSE(TranslationGroup::of(topology, LinkPorts::shared)) << text;
    EXPECT_FALSE(TranslationGroup::of(shape(text))) << text;
  }
}

TEST(SwitchTree, HasWiresOfItsOwnAfterAFault) {
  // One of the links 4 -> 6 and its opposite are gone: everything from leaf 4 to the other leaf shares the other one.
  const Topology topology = shape("SW(4,2)");
  std::vector<bool> gone(topology.links(), false);
  gone[8] = gone[9] = true;
  const Topology left = topology.without(gone);
  EXPECT_EQ(most_sharers(left, 1, 4, 2), 2U);
  EXPECT_EQ(most_sharers(wired(left), 1, 4, 2), 2U);
  // `link 4->6` names the bundle; drawn links are single pairs, of which there are 4 of NPUs and 4 between switches.
  const auto bundle = with_faults(topology, {{.kind = NetworkFault::Kind::link, .first = 4, .second = 6}}, 1).value();
  EXPECT_EQ(bundle.topology.links(), 12U);
  EXPECT_EQ(count_link_pairs(topology), 8U);
}

TEST(SwitchTree, IsUnwoundAsOneRing) {
  const ShapeLinks links{{support::kAlpha}, {support::kBandwidth}, false};
  for (const auto* text : {"RI(2)_SW(4,2)", "SW(8,4:2)", "SW(12,2,6:3)", "SW(8,4:4)"})
    for (const std::uint32_t degree : {1U, 2U, 3U, 20U}) {
      const Shape tree = parse_shape(text).value();
      EXPECT_TRUE(check_shape(tree, links, degree).empty()) << text;
      const auto unwound = unwind_switches(build_topology(tree, links).value(), degree).value();
      EXPECT_EQ(sizes_of(tree, degree), (TopologySizes{unwound.npus(), 0, unwound.links()})) << text << ' ' << degree;
      const auto planned = link_classes(tree, links, degree);
      const auto slowest = std::ranges::min(planned, {}, &LinkClass::bandwidth).bandwidth;
      for (const auto& each : unwound.classes()) EXPECT_LE(slowest, each.bandwidth) << text << ' ' << degree;
      // Its links are not those of a product of rings.
      EXPECT_FALSE(unwound.unwound_shape()) << text;
    }
}

TEST(SwitchTree, SharesItsUplinksWhereItIsUnwound) {
  // SW(8,4:4), degree 2: a leaf of 4 NPUs has one link up. Of the links from 0 .. 3, those from 2 to 4, from 3 to 4 and
  // from 3 to 5 leave it: each has a third of the bandwidth. The others share an NPU's link with one more: a half.
  const ShapeLinks links{{support::kAlpha}, {support::kBandwidth}, false};
  const auto unwound = unwind_switches(build_topology(*parse_shape("SW(8,4:4)"), links).value(), 2).value();
  ASSERT_EQ(unwound.links(), 16U);
  for (std::size_t l = 0; l < unwound.links(); ++l) {
    const LinkId link = LinkId::at(l);
    const bool leaves = unwound.source(link).index() / 4 != unwound.target(link).index() / 4;
    EXPECT_EQ(unwound.classes()[unwound.class_of(link)].bandwidth, support::kBandwidth / (leaves ? 3 : 2)) << l;
    EXPECT_EQ(unwound.alpha(link), (leaves ? 3 : 1) * support::kAlpha) << l;
  }
}

TEST(SwitchTree, GivesAGroupItsPart) {
  const auto part = [](const char* text, std::uint32_t members, std::uint32_t stride) {
    const Block block = parse_shape(text)->blocks[0];
    const auto found = block.rule->part(block, {block.size, members, stride});
    return std::tuple(to_string(Shape{{found.block}}), found.climb, found.oversubscription);
  };
  // Within a leaf: that switch, whatever the bundles have.
  EXPECT_EQ(part("SW(32,8:2)", 8, 1), std::tuple("SW(8)", 1U, 1U));
  EXPECT_EQ(part("SW(32,8:2)", 2, 4), std::tuple("SW(2)", 1U, 1U));
  // All of it, and every second NPU, which has half of each bundle.
  EXPECT_EQ(part("SW(32,8:2)", 32, 1), std::tuple("SW(32,8:2)", 1U, 1U));
  EXPECT_EQ(part("SW(32,8:2)", 16, 2), std::tuple("SW(16,4:2)", 1U, 1U));
  EXPECT_EQ(part("SW(64,8:2,16)", 16, 1), std::tuple("SW(16,8:2)", 1U, 1U));
  // One member per leaf: half of an NPU's bandwidth each, and two links up instead of one.
  EXPECT_EQ(part("SW(32,8:2)", 4, 8), std::tuple("SW(4)", 2U, 2U));
  // Two members per leaf share 2 / 4 links, which is no whole number.
  EXPECT_EQ(part("SW(32,8:4)", 8, 4), std::tuple("SW(8)", 2U, 4U));
}

}  // namespace
}  // namespace tenex
