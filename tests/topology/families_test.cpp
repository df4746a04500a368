// The families of shapes that are no product: links derived by hand, and what every family must keep.
#include "tenex/topology/family.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/plan.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/transform.hpp"
#include "topology/neighbours.hpp"

namespace tenex {
namespace {

using support::out_neighbours;
using support::shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr SimTime kOneHop = microseconds(1);

/// Every member of a family whose numbers are at most `largest`.
std::vector<Shape> members(const FamilyRule& family, std::uint32_t largest) {
  std::vector<Shape> found;
  std::vector<std::uint32_t> numbers(family.arguments, 1);
  for (;;) {
    if (family.fault == nullptr || !family.fault(numbers)) found.push_back({{}, &family, numbers});
    std::size_t place = 0;
    while (place < numbers.size() && numbers[place] == largest) numbers[place++] = 1;
    if (place == numbers.size()) return found;
    ++numbers[place];
  }
}

Topology built(const Shape& shape) { return build_topology(shape, {{kOneHop}, {support::kBandwidth}, false}).value(); }

/// The hops between NPUs that are farthest apart, from searches at all of them.
std::int64_t diameter(const Topology& topology) {
  SimTime farthest;
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    const auto arrival = arrival_times(topology, VertexId::at(npu), Bytes::zero());
    for (std::size_t to = 0; to < topology.npus(); ++to) farthest = std::max(farthest, arrival[to]);
  }
  return farthest / kOneHop;
}

TEST(Families, BuildWhatTheyCount) {
  for (const FamilyRule* family : family_rules()) {
    const auto all = members(*family, 6);
    ASSERT_FALSE(all.empty()) << family->name;
    for (const Shape& member : all) {
      const auto name = to_string(member);
      const Topology topology = built(member);
      EXPECT_EQ(topology.npus(), member.npus()) << name;
      EXPECT_EQ(topology.links(), count_shape(member).links) << name;
      EXPECT_EQ(topology.switches(), count_shape(member).switches) << name;
      EXPECT_EQ(sizes_of(member), (TopologySizes{topology.npus(), topology.switches(), topology.links()})) << name;
      EXPECT_FALSE(find_disconnected_pair(topology)) << name;
      EXPECT_EQ(parse_shape(name).value(), member);
      EXPECT_EQ(topology.shape(), member);
    }
  }
}

TEST(Families, NameTheirLevels) {
  for (const FamilyRule* family : family_rules())
    for (const Shape& member : members(*family, 4)) EXPECT_EQ(family->level_names.size(), member.dimensions());
}

TEST(Families, HaveNoParallelLinksAndOneBackForEach) {
  for (const FamilyRule* family : family_rules())
    for (const Shape& member : members(*family, 6)) {
      const Topology topology = built(member);
      const auto ends = support::link_ends(topology);
      const std::set<std::pair<std::uint32_t, std::uint32_t>> distinct(ends.begin(), ends.end());
      EXPECT_EQ(distinct.size(), ends.size()) << to_string(member);
      for (const auto& [from, to] : distinct) EXPECT_TRUE(distinct.contains({to, from})) << to_string(member);
    }
}

TEST(Families, GiveEachLevelItsOwnAlphaAndBandwidth) {
  for (const FamilyRule* family : family_rules())
    for (const Shape& member : members(*family, 4)) {
      const auto levels = family->levels(member.arguments);
      ShapeLinks links;
      for (std::size_t i = 0; i < levels.size(); ++i) {
        links.alpha.push_back(microseconds(static_cast<std::int64_t>(i) + 1));
        links.bandwidth.push_back(gigabytes_per_second(static_cast<std::int64_t>(i) + 1));
      }
      const Topology topology = build_topology(member, links).value();
      std::map<SimTime, std::uint64_t> counted;
      for (std::size_t l = 0; l < topology.links(); ++l) {
        ++counted[topology.alpha(LinkId::at(l))];
        EXPECT_EQ(topology.bandwidth(LinkId::at(l)).count() * 1000, topology.alpha(LinkId::at(l)).count() * 1'000'000);
      }
      for (std::size_t i = 0; i < levels.size(); ++i)
        EXPECT_EQ(counted[links.alpha[i]], levels[i].links) << to_string(member) << " level " << i + 1;
    }
}

TEST(Families, AreRepresentedByFewNpus) {
  // The search from the representatives alone finds what searches from all NPUs find, also with slow inner levels.
  for (const FamilyRule* family : family_rules())
    for (const Shape& member : members(*family, 5))
      for (const auto& alphas : {std::vector{1, 1, 1}, std::vector{1, 5, 23}, std::vector{17, 3, 1}}) {
        ShapeLinks links{{}, {support::kBandwidth}, false};
        for (std::size_t i = 0; i < member.dimensions(); ++i) links.alpha.push_back(microseconds(alphas[i]));
        const Topology topology = build_topology(member, links).value();
        EXPECT_EQ(latency_diameter(topology), latency_diameter(support::without_shape(topology))) << to_string(member);
        const auto few = family->representatives(member.arguments);
        EXPECT_TRUE(std::ranges::all_of(few, [&](std::uint32_t npu) { return npu < topology.npus(); }));
        EXPECT_TRUE(latency_diameter_within(topology, few.size() * topology.links())) << to_string(member);
      }
}

TEST(Families, EstimateTheHopsOfTheirRoutes) {
  for (const FamilyRule* family : family_rules())
    for (const Shape& member : members(*family, 5)) {
      const Topology topology = built(member);
      const std::size_t n = topology.npus();
      if (n < 2) continue;
      Router router(topology);
      double pairs = 0;
      double neighbours = 0;
      for (std::uint32_t from = 0; from < n; ++from) {
        for (std::uint32_t to = 0; to < n; ++to)
          pairs += static_cast<double>(router.route(NpuId(from), NpuId(to)).size());
        neighbours += static_cast<double>(router.route(NpuId(from), NpuId::at((from + 1) % n)).size());
      }
      const auto hops = family->hops(member.arguments);
      EXPECT_NEAR(hops.pair, pairs / static_cast<double>(n * n), 0.1 * hops.pair) << to_string(member);
      EXPECT_NEAR(hops.neighbour, neighbours / static_cast<double>(n), 1) << to_string(member);
    }
}

TEST(Families, AreUnwoundToTheSizesOfTheirPlan) {
  const ShapeLinks links{{kOneHop}, {support::kBandwidth}, false};
  for (const FamilyRule* family : family_rules())
    for (const Shape& member : members(*family, 4))
      for (const std::uint32_t degree : {1U, 2U, 5U}) {
        EXPECT_TRUE(check_shape(member, links, degree).empty()) << to_string(member);
        const auto unwound = unwind_switches(built(member), degree).value();
        EXPECT_EQ(sizes_of(member, degree), (TopologySizes{unwound.npus(), unwound.switches(), unwound.links()}))
            << to_string(member) << ' ' << degree;
        EXPECT_FALSE(unwound.unwound_shape()) << to_string(member);
        // The plan divides a bandwidth by as much as unwinding does, or more.
        const auto planned = link_classes(member, links, degree);
        const auto slowest = std::ranges::min(planned, {}, &LinkClass::bandwidth).bandwidth;
        for (const auto& each : unwound.classes()) EXPECT_LE(slowest, each.bandwidth) << to_string(member);
      }
}

TEST(Families, AreUnwoundOverTheirTrees) {
  // fat_tree(4), degree 1: one ring of 16. NPU 0 reaches 1 over their edge switch (2 links, one alpha), 1 reaches 2
  // over an aggregation switch (4 links, three alphas), 3 reaches 4 over the core (6 links, five alphas). No link is
  // shared.
  const auto ring = unwind_switches(shape("fat_tree(4)"), 1).value();
  ASSERT_EQ(ring.links(), 16U);
  for (const auto& [npu, alphas] : {std::pair{0U, 1}, std::pair{1U, 3}, std::pair{3U, 5}}) {
    const LinkId link = ring.out_links(VertexId(npu)).front();
    EXPECT_EQ(ring.target(link), VertexId(npu + 1));
    EXPECT_EQ(ring.alpha(link), alphas * support::kAlpha);
    EXPECT_EQ(ring.classes()[ring.class_of(link)].bandwidth, support::kBandwidth);
  }
}

TEST(FatTree, HasTheVerticesOfItsPaper) {
  // k = 4 (Figure 3 of the paper): 16 NPUs; 4 pods of 2 edge and 2 aggregation switches; 4 core switches. Each level
  // joins 16 pairs. Vertices: edge switches 16 .. 23, aggregation 24 .. 31, core 32 .. 35.
  const Topology tree = shape("fat_tree(4)");
  EXPECT_EQ(tree.npus(), 16U);
  EXPECT_EQ(tree.switches(), 20U);
  EXPECT_EQ(tree.links(), 3U * 2 * 16);
  EXPECT_THAT(out_neighbours(tree, 5), ElementsAre(18));               // NPU 5 is on edge switch 2
  EXPECT_THAT(out_neighbours(tree, 18), ElementsAre(4, 5, 26, 27));    // in pod 1: aggregation switches 2 and 3
  EXPECT_THAT(out_neighbours(tree, 27), ElementsAre(18, 19, 34, 35));  // the second of its pod: the second core pair
  EXPECT_THAT(out_neighbours(tree, 34), ElementsAre(25, 27, 29, 31));  // once in every pod
  EXPECT_EQ(parse_shape("fat_tree(16)").value().npus(), 1024U);
  EXPECT_EQ(parse_shape("fat_tree(8)").value().npus(), 128U);
}

TEST(FatTree, GivesEverySwitchKPorts) {
  for (const std::uint32_t k : {2U, 4U, 6U, 8U}) {
    const Topology tree = shape("fat_tree(" + std::to_string(k) + ")", {kOneHop});
    for (std::size_t v = 0; v < tree.vertices(); ++v)
      EXPECT_EQ(tree.out_links(VertexId::at(v)).size(), tree.is_npu(VertexId::at(v)) ? 1 : k);
    EXPECT_EQ(diameter(tree), 6);
  }
}

TEST(LeafSpine, JoinsEveryLeafWithEverySpine) {
  // leaf_spine(3,2,2): NPUs 0 .. 5, leaves 6 and 7, spines 8 and 9.
  const Topology tree = shape("leaf_spine(3,2,2)", {kOneHop});
  EXPECT_EQ(tree.switches(), 4U);
  EXPECT_THAT(out_neighbours(tree, 4), ElementsAre(7));
  EXPECT_THAT(out_neighbours(tree, 6), ElementsAre(0, 1, 2, 8, 9));
  EXPECT_THAT(out_neighbours(tree, 9), ElementsAre(6, 7));
  EXPECT_EQ(diameter(tree), 4);
  EXPECT_EQ(parse_shape("leaf_spine(32,16,16)").value().npus(), 512U);
}

TEST(RailSpine, IsAMultiRailWithSpines) {
  // rail_spine(2,3,2): boxes {0,1}, {2,3}, {4,5} with switches 6, 7, 8; rails 9 (even NPUs) and 10; spines 11 and 12.
  const Topology network = shape("rail_spine(2,3,2)");
  EXPECT_THAT(out_neighbours(network, 3), ElementsAre(7, 10));
  EXPECT_THAT(out_neighbours(network, 9), ElementsAre(0, 2, 4, 11, 12));
  EXPECT_THAT(out_neighbours(network, 12), ElementsAre(9, 10));
  // Without the spines' links it is the product: the same links in the same order.
  const auto product = support::link_ends(shape("multi_rail(2,3)"));
  auto links = support::link_ends(network);
  links.resize(product.size());
  EXPECT_EQ(links, product);
}

TEST(SlimFly, HasTheDegreeAndTheDiameterOfItsPaper) {
  // Section II-B: 2 q^2 routers of degree (3q - d)/2 and diameter 2, for every prime power q = 4w + d.
  for (const std::uint32_t q : {3U, 4U, 5U, 7U, 8U, 9U, 11U, 13U, 16U, 17U, 19U, 23U, 25U, 27U, 29U}) {
    const int d = q % 4 == 3 ? -1 : static_cast<int>(q % 4);
    const Topology network = shape("slim_fly(" + std::to_string(q) + ")", {kOneHop});
    EXPECT_EQ(network.npus(), 2 * std::size_t{q} * q);
    const auto degree = static_cast<std::size_t>((3 * static_cast<int>(q) - d) / 2);
    for (std::size_t npu = 0; npu < network.npus(); ++npu) {
      ASSERT_EQ(network.out_links(VertexId::at(npu)).size(), degree) << q;
      ASSERT_EQ(network.in_links(VertexId::at(npu)).size(), degree) << q;
    }
    EXPECT_EQ(diameter(network), 2) << q;
  }
}

TEST(SlimFly, OfFiveIsTheHoffmanSingletonGraph) {
  // 50 NPUs of degree 7 and diameter 2 meet the Moore bound 1 + 7 + 7 * 6 = 50, so there is neither a triangle nor a
  // cycle of four: two NPUs have at most one common neighbour, and neighbours have none.
  const Topology network = shape("slim_fly(5)");
  for (std::uint32_t a = 0; a < 50; ++a)
    for (std::uint32_t b = a + 1; b < 50; ++b) {
      const auto near_a = out_neighbours(network, a);
      const auto near_b = out_neighbours(network, b);
      const auto common = std::ranges::count_if(
          near_a, [&](std::uint32_t npu) { return std::ranges::find(near_b, npu) != near_b.end(); });
      const bool joined = std::ranges::find(near_a, b) != near_a.end();
      EXPECT_EQ(common, joined ? 0 : 1) << a << ' ' << b;
    }
}

TEST(TwistedTorus, EndsItsWrapsFurtherAlongTheLongestDimension) {
  // twisted_torus(4,4,8,4): NPU (x,y,z) is x + 4 y + 16 z. From (3,0,0) = 3 the next along x is (0,0,4) = 64, from
  // (0,0,0) the previous is (3,0,-4) = (3,0,4) = 67; along y they are (0,1,0) = 4 and (0,3,4) = 76. Both links of a
  // dimension stand side by side.
  const Topology torus = shape("twisted_torus(4,4,8,4)", {kOneHop});
  EXPECT_THAT(out_neighbours(torus, 0), ElementsAre(1, 67, 4, 76, 16, 112));
  EXPECT_THAT(out_neighbours(torus, 3), ElementsAre(64, 2, 7, 79, 19, 115));
  EXPECT_EQ(torus.links(), 128U * 6);
  // All 127 others of the plain torus are 512 hops away in all, at most 8; of the twisted one 440 and 6 (a search).
  const auto sum = [](const Topology& network) {
    std::int64_t hops = 0;
    for (const SimTime time : arrival_times(network, VertexId(0), Bytes::zero())) hops += time / kOneHop;
    return hops;
  };
  EXPECT_EQ(sum(shape("torus(4,4,8)", {kOneHop})), 512);
  EXPECT_EQ(sum(torus), 440);
  EXPECT_EQ(diameter(torus), 6);
}

TEST(TwistedTorus, RefusesWhatItIsNot) {
  const auto refusal = [](const char* text) { return to_string(parse_shape(text).errors()); };
  EXPECT_THAT(refusal("twisted_torus(4,9,8,4)"), HasSubstr("the last dimension, along which the links are shifted"));
  EXPECT_THAT(refusal("twisted_torus(4,4,8,8)"), HasSubstr("a shift along 8 NPUs is less than 8"));
  EXPECT_THAT(refusal("twisted_torus(1,4,8,4)"), HasSubstr("at least two NPUs"));
  EXPECT_FALSE(parse_shape("twisted_torus(4,4,8,0)"));
}

TEST(SlimFly, DividesNpuBandwidthByLevel) {
  // q = 5: 2 links within the group, 5 between groups.
  const Topology network = shape("slim_fly(5)", {kOneHop}, {gigabytes_per_second(10)}, true);
  const auto out = network.out_links(VertexId(0));
  EXPECT_EQ(network.bandwidth(out[0]), gigabytes_per_second(5));
  EXPECT_EQ(network.bandwidth(out[6]), gigabytes_per_second(2));
}

TEST(Families, RefuseTheWrongNumberOfValues) {
  const auto refused =
      build_topology(parse_shape("fat_tree(4)").value(), {{kOneHop, kOneHop}, {support::kBandwidth}, false});
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.errors()),
              ::testing::AllOf(HasSubstr("2 alphas for fat_tree(4)"), HasSubstr("has 3 levels of links"),
                               HasSubstr("give one for all or 3")));
}

}  // namespace
}  // namespace tenex
