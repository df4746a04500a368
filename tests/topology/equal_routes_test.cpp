// Routes where several have the fewest links over switches: hand-made tables, equal load, and who depends on what.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "tenex/topology/family.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::shape;
using ::testing::ElementsAre;

constexpr RouteChoice kSingle{RouteRule::single};

Link link(std::uint32_t from, std::uint32_t to) {
  return {VertexId(from), VertexId(to), support::kAlpha, support::kBandwidth};
}

/// The vertices after the source that a route visits.
std::vector<std::uint32_t> stops_by(Router& router, const Topology& topology, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> visited;
  for (const LinkId each : router.route(NpuId(from), NpuId(to))) visited.push_back(topology.target(each).value());
  return visited;
}

/// By link, the number of routes between all pairs of NPUs that take it.
std::vector<std::uint64_t> loads(const Topology& topology, RouteChoice choice) {
  Router router(topology, choice);
  std::vector<std::uint64_t> load(topology.links(), 0);
  for (std::size_t from = 0; from < topology.npus(); ++from)
    for (std::size_t to = 0; to < topology.npus(); ++to)
      for (const LinkId each : router.route(NpuId::at(from), NpuId::at(to))) ++load[each.index()];
  return load;
}

/// The loads of links between switches that are used; with one value where all carry the same.
std::set<std::uint64_t> loads_between_switches(const Topology& topology, RouteChoice choice) {
  const auto load = loads(topology, choice);
  std::set<std::uint64_t> found;
  for (std::size_t l = 0; l < load.size(); ++l)
    if (!topology.is_npu(topology.source(LinkId::at(l))) && !topology.is_npu(topology.target(LinkId::at(l))))
      found.insert(load[l]);
  return found;
}

/// Every family that knows its next links, in several sizes.
std::vector<Topology> switched_families() {
  std::vector<Topology> found;
  for (const char* text : {"fat_tree(2)", "fat_tree(4)", "fat_tree(6)", "fat_tree(8)", "leaf_spine(1,1,1)",
                           "leaf_spine(4,4,4)", "leaf_spine(3,5,2)", "leaf_spine(2,3,5)", "rail_spine(2,3,4)",
                           "rail_spine(1,3,2)", "rail_spine(4,1,3)", "rail_spine(4,4,2)"})
    found.push_back(shape(text));
  return found;
}

TEST(EqualRoutes, OfAFatTreeAreThoseOfATableByHand) {
  // fat_tree(4): NPUs 0-15, edge switches 16-23, aggregation 24-31, cores 32-35. Each switch has 2 links up. An edge
  // switch takes link d mod 2, an aggregation switch link floor(d / 2) mod 2. Aggregation switch 24 leads to the cores
  // 32 and 33, 25 to 34 and 35. From pod 0 to pod 1 (NPUs 4-7, aggregation 26 and 27, edges 18 and 19):
  const Topology topology = shape("fat_tree(4)");
  Router router(topology);
  EXPECT_THAT(stops_by(router, topology, 0, 4), ElementsAre(16, 24, 32, 26, 18, 4));  // 4: 0 and floor(4/2) mod 2 = 0
  EXPECT_THAT(stops_by(router, topology, 0, 5), ElementsAre(16, 25, 34, 27, 18, 5));  // 5: 1, 0
  EXPECT_THAT(stops_by(router, topology, 0, 6), ElementsAre(16, 24, 33, 26, 19, 6));  // 6: 0, 1
  EXPECT_THAT(stops_by(router, topology, 0, 7), ElementsAre(16, 25, 35, 27, 19, 7));  // 7: 1, 1
  // To the other edge switch of the pod (NPUs 2 and 3) over aggregation 24 and 25; to the neighbour over the edge.
  EXPECT_THAT(stops_by(router, topology, 0, 2), ElementsAre(16, 24, 17, 2));
  EXPECT_THAT(stops_by(router, topology, 0, 3), ElementsAre(16, 25, 17, 3));
  EXPECT_THAT(stops_by(router, topology, 0, 1), ElementsAre(16, 1));
  // Any source takes the same core to a destination.
  EXPECT_THAT(stops_by(router, topology, 15, 7), ElementsAre(23, 31, 35, 27, 19, 7));
  Router lowest(topology, kSingle);
  for (std::uint32_t to = 4; to < 16; ++to) EXPECT_EQ(stops_by(lowest, topology, 0, to)[2], 32U);
}

TEST(EqualRoutes, OfALeafSpineWithParallelLinksAreThoseOfATableByHand) {
  // 8 NPUs; leaves 8 (NPUs 0-3) and 9 (4-7); spines 10 and 11; two links each way between each leaf and each spine.
  // Links 0-15 join NPUs; then, for leaf and spine in order, two pairs: from leaf 8 up 16, 18 to spine 10 and 20, 22 to
  // 11; from leaf 9 up 24, 26 and 28, 30; down is one more.
  std::vector<Link> links;
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    links.push_back(link(a, b));
    links.push_back(link(b, a));
  };
  for (std::uint32_t npu = 0; npu < 8; ++npu) join(npu, 8 + npu / 4);
  for (const std::uint32_t leaf : {8U, 9U})
    for (const std::uint32_t spine : {10U, 11U}) {
      join(leaf, spine);
      join(leaf, spine);
    }
  TopologyBuilder builder(8);
  for (int i = 0; i < 4; ++i) builder.add_switch();
  for (const Link& each : links) builder.add_link(each);
  const Topology topology = std::move(builder).build().value();
  Router router(topology);
  // Up, link d mod 4 of four. Down there are two to one vertex, of which d mod 2 takes one.
  const auto inner = [&](std::uint32_t from, std::uint32_t to) {
    const auto route = router.route(NpuId(from), NpuId(to));
    return std::vector<std::uint32_t>{route.at(1).value(), route.at(2).value()};
  };
  EXPECT_THAT(inner(0, 4), ElementsAre(16, 25));
  EXPECT_THAT(inner(0, 5), ElementsAre(18, 27));
  EXPECT_THAT(inner(0, 6), ElementsAre(20, 29));
  EXPECT_THAT(inner(0, 7), ElementsAre(22, 31));
  EXPECT_THAT(inner(7, 0), ElementsAre(24, 17));
  EXPECT_THAT(inner(7, 3), ElementsAre(30, 23));
  // All 16 links between switches carry one destination of the 4 from each of the 4 sources.
  EXPECT_THAT(loads_between_switches(topology, {}), ElementsAre(4U));
}

TEST(EqualRoutes, LoadAllCoresOfAFatTreeEqually) {
  for (const auto ports : {4U, 6U, 8U, 10U}) {
    const Topology topology = shape("fat_tree(" + std::to_string(ports) + ")");
    const auto load = loads(topology, {});
    const std::size_t per_level = 2 * topology.npus();
    for (std::size_t level = 0; level < 3; ++level) {
      const auto first = load.begin() + static_cast<std::ptrdiff_t>(level * per_level);
      const std::set<std::uint64_t> distinct(first, first + static_cast<std::ptrdiff_t>(per_level));
      EXPECT_EQ(distinct.size(), 1U) << ports << " level " << level;
    }
    // The lowest links load one core with everything.
    EXPECT_GT(loads_between_switches(topology, kSingle).size(), 1U);
  }
  EXPECT_EQ(loads_between_switches(shape("leaf_spine(4,4,4)"), {}).size(), 1U);
}

TEST(EqualRoutes, ByArithmeticAreThoseOfTheSearch) {
  for (const Topology& topology : switched_families())
    for (const RouteChoice choice : {RouteChoice{}, kSingle, RouteChoice{RouteRule::hashed, 2}}) {
      const Topology plain = topology.without_shape();
      Router by_family(topology, choice);
      Router by_search(plain, choice);
      const Topology turned = topology.reversed();
      const Topology plain_turned = plain.reversed();
      Router turned_family(turned, choice);
      Router turned_search(plain_turned, choice);
      for (std::size_t from = 0; from < topology.npus(); ++from)
        for (std::size_t to = 0; to < topology.npus(); ++to) {
          const NpuId a = NpuId::at(from);
          const NpuId b = NpuId::at(to);
          EXPECT_EQ(by_family.route(a, b), by_search.route(a, b))
              << to_string(*topology.shape()) << " " << from << " to " << to;
          EXPECT_EQ(turned_family.route(a, b), turned_search.route(a, b)) << to_string(*topology.shape());
        }
    }
}

TEST(EqualRoutes, KeepToSwitchesWhereTheyCan) {
  // rail_spine(2,2,1): from NPU 0 (box 4, rail 6) to NPU 3 (box 5, rail 7) four links lead over the spine 8, and four
  // over NPU 1 or 2.
  const Topology topology = shape("rail_spine(2,2,1)");
  Router router(topology);
  EXPECT_THAT(stops_by(router, topology, 0, 3), ElementsAre(6, 8, 7, 3));
}

TEST(EqualRoutes, OfRailsWithSpinesOfTheirOwnSpreadByRank) {
  // Two rails of 8 NPUs: NPU u is on rail u mod 2. Each rail has two leaves of 4 and two spines. All ids of a rail are
  // alike modulo 2, so the number is the rank on the rail: all links between switches carry the same.
  TopologyBuilder builder(16);
  for (int i = 0; i < 8; ++i) builder.add_switch();  // leaves 16-19: rail 0, rail 0, rail 1, rail 1; spines 20-23
  for (std::uint32_t npu = 0; npu < 16; ++npu) builder.add_link_pair(link(npu, 16 + npu % 2 * 2 + npu / 8));
  for (std::uint32_t leaf = 0; leaf < 4; ++leaf)
    for (std::uint32_t spine = 0; spine < 2; ++spine) builder.add_link_pair(link(16 + leaf, 20 + leaf / 2 * 2 + spine));
  for (std::uint32_t npu = 0; npu < 16; npu += 2) builder.add_link_pair(link(npu, npu + 1));
  const Topology topology = std::move(builder).build().value();
  Router router(topology);
  std::map<std::uint32_t, int> uses;  // by link between switches
  for (std::uint32_t from = 0; from < 16; from += 2)
    for (std::uint32_t to = 0; to < 16; to += 2)
      for (const LinkId each : router.route(NpuId(from), NpuId(to)))
        if (!topology.is_npu(topology.source(each)) && !topology.is_npu(topology.target(each))) ++uses[each.value()];
  EXPECT_EQ(uses.size(), 8U);                                          // 2 leaves x 2 spines, each way
  for (const auto& [each, count] : uses) EXPECT_EQ(count, 8) << each;  // 4 sources x 2 of 4 destinations
}

TEST(EqualRoutes, UseAllLinksOfAnNpuAlike) {
  // Two planes: every one of 8 NPUs has a link to a leaf of each, and a plane has two leaves and two spines. Also two
  // links each way between each NPU and its only switch. NPU u takes link (u + d) mod 2, and so every link of an NPU
  // carries 3 or 4 of the 7 messages that it sends, and of those that it gets.
  TopologyBuilder planes(8);
  for (int i = 0; i < 8; ++i) planes.add_switch();  // leaves 8, 9 and spines 10, 11 of plane 0; 12-15 of plane 1
  for (std::uint32_t npu = 0; npu < 8; ++npu)
    for (const std::uint32_t plane : {8U, 12U}) planes.add_link_pair(link(npu, plane + npu / 4));
  for (const std::uint32_t plane : {8U, 12U})
    for (const std::uint32_t leaf : {0U, 1U})
      for (const std::uint32_t spine : {2U, 3U}) planes.add_link_pair(link(plane + leaf, plane + spine));
  TopologyBuilder ports(8);
  ports.add_switch();
  for (std::uint32_t npu = 0; npu < 8; ++npu) {
    ports.add_link_pair(link(npu, 8));
    ports.add_link_pair(link(npu, 8));
  }
  for (TopologyBuilder* builder : {&planes, &ports}) {
    const Topology topology = std::move(*builder).build().value();
    const auto load = loads(topology, {});
    for (std::size_t l = 0; l < load.size(); ++l) {
      const bool outer =
          topology.is_npu(topology.source(LinkId::at(l))) || topology.is_npu(topology.target(LinkId::at(l)));
      EXPECT_GE(load[l], outer ? 3U : 4U) << l;
      EXPECT_LE(load[l], 4U) << l;
    }
    EXPECT_EQ(Router(topology).depends_on_source(), builder == &ports);
  }
}

TEST(EqualRoutes, ThatAreHashedDependOnSourceDestinationAndDraw) {
  const Topology topology = shape("fat_tree(8)");
  std::set<std::vector<std::uint64_t>> draws;
  for (std::uint32_t draw = 1; draw <= 3; ++draw) {
    Router router(topology, {RouteRule::hashed, draw});
    Router again(topology, {RouteRule::hashed, draw});
    std::set<std::uint32_t> cores_of_source;
    std::set<std::uint32_t> cores_to_destination;
    for (std::uint32_t other = 0; other < 112; ++other) {
      const auto to = stops_by(router, topology, other, 127);
      ASSERT_EQ(to.size(), 6U);
      cores_to_destination.insert(to[2]);
      cores_of_source.insert(stops_by(router, topology, 127, other)[2]);
      EXPECT_EQ(router.route(NpuId(other), NpuId(127)), again.route(NpuId(other), NpuId(127)));
    }
    // 16 cores and 112 draws from them: that one is missed has a chance of 16 (15/16)^112 = 1 %; the hash is fixed.
    EXPECT_GE(cores_of_source.size(), 14U);
    EXPECT_GE(cores_to_destination.size(), 14U);
    draws.insert(loads(topology, {RouteRule::hashed, draw}));
  }
  EXPECT_EQ(draws.size(), 3U);
}

/// The routes of all ways between two NPUs.
std::set<std::vector<LinkId>> all_ways(Router& router, std::uint32_t from, std::uint32_t to) {
  std::set<std::vector<LinkId>> found;
  const auto routes = router.equal_routes(NpuId(from), NpuId(to));
  for (std::uint32_t way = 0; way < routes; ++way)
    found.insert(router.route(NpuId(from), NpuId(to), static_cast<RouteWay>(way)));
  EXPECT_EQ(found.size(), routes) << from << " to " << to;
  return found;
}

TEST(EqualRoutes, ThatAreSprayedAreAllRoutesOnce) {
  // fat_tree(6): 3 links up at each level. 9 cores between pods, 3 aggregation switches within one.
  const Topology tree = shape("fat_tree(6)");
  const Topology plain = tree.without_shape();
  Router by_family(tree, {RouteRule::sprayed});
  Router by_search(plain, {RouteRule::sprayed});
  for (const auto& [to, routes] : std::map<std::uint32_t, std::size_t>{{1, 1}, {3, 3}, {8, 3}, {9, 9}, {53, 9}}) {
    EXPECT_EQ(all_ways(by_family, 0, to).size(), routes) << to;
    EXPECT_EQ(all_ways(by_family, 0, to), all_ways(by_search, 0, to)) << to;
    for (RouteWay way = 0; way < routes; ++way)
      EXPECT_EQ(by_family.route(NpuId(0), NpuId(to), way), by_search.route(NpuId(0), NpuId(to), way));
  }
  // Without the links of edge 54 to aggregation 72 (both of pod 0), and with one to 73 that leads to two cores alone:
  // 2 and 3 routes to another pod, over 73 and 74. They differ in number, and each is taken once.
  const Topology broken = remove_links(tree, {{VertexId(54), VertexId(72)}, {VertexId(73), VertexId(93)}}).value();
  Router around(broken, {RouteRule::sprayed});
  EXPECT_EQ(all_ways(around, 0, 53).size(), 5U);
  // SW(12,4:2): a leaf of 4 NPUs has 2 links up, and 2 lead down to the other leaf.
  const Topology switches = shape("SW(12,4:2)");
  Router over_bundles(switches, {RouteRule::sprayed});
  EXPECT_EQ(all_ways(over_bundles, 0, 11).size(), 4U);
  EXPECT_EQ(all_ways(over_bundles, 0, 3).size(), 1U);
  // What takes one route takes that of per_destination.
  Router single(tree, {RouteRule::sprayed});
  Router by_destination(tree);
  EXPECT_EQ(single.route(NpuId(0), NpuId(53)), by_destination.route(NpuId(0), NpuId(53)));
}

TEST(EqualRoutes, GoAroundAFault) {
  // fat_tree(4) without the links of edge 16 to aggregation 24: all that leaves edge 16 goes over 25.
  const Topology topology = remove_links(shape("fat_tree(4)"), {{VertexId(16), VertexId(24)}}).value();
  Router router(topology);
  for (std::uint32_t to = 2; to < 16; ++to) EXPECT_EQ(stops_by(router, topology, 0, to)[1], 25U);
  for (std::uint32_t to = 4; to < 16; ++to) EXPECT_EQ(stops_by(router, topology, 2, to)[1], 24U + to % 2);
}

}  // namespace
}  // namespace tenex
