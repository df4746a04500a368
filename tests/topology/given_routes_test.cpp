// Routes that a machine states itself: hand-made tables, what per_destination adds, faults, wires, and bad input.
#include "tenex/topology/given_routes.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/repeated_routes.hpp"
#include "support/topologies.hpp"
#include "tenex/topology/faults.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

using support::shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NpuRange npu(std::uint32_t id) { return {id, id}; }

std::vector<VertexId> vertices(std::initializer_list<std::uint32_t> ids) {
  std::vector<VertexId> list;
  for (const auto id : ids) list.emplace_back(id);
  return list;
}

GivenRoute route(NpuRange from, NpuRange to, std::initializer_list<std::uint32_t> through,
                 std::vector<std::uint32_t> links = {}) {
  return {{"m.toml", 7, 3}, from, to, vertices(through), std::move(links)};
}

NextHop hop(std::uint32_t at, NpuRange to, std::uint32_t next, std::optional<std::uint32_t> link = {}) {
  return {{"m.toml", 9, 5}, VertexId(at), to, VertexId(next), link};
}

/// The vertices after the source that a route visits.
std::vector<std::uint32_t> given_stops(const Topology& topology, std::uint32_t from, std::uint32_t to,
                                       RouteChoice choice = {}) {
  Router router(topology, choice);
  std::vector<std::uint32_t> visited;
  for (const LinkId each : router.route(NpuId(from), NpuId(to))) visited.push_back(topology.target(each).value());
  return visited;
}

std::vector<std::uint32_t> links_of(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> links;
  for (const LinkId each : Router(topology).route(NpuId(from), NpuId(to))) links.push_back(each.value());
  return links;
}

std::string errors_of(const Topology& topology, const GivenRoutes& given) {
  const auto made = with_routes(topology, given);
  return made.ok() ? "(no error)" : to_string(made.errors());
}

/// 8 NPUs; leaves 8 (NPUs 0-3) and 9 (4-7); spines 10 and 11; two links each way between each leaf and each spine.
/// Links 0-15 join NPUs, 2 u up from NPU u; then from leaf 8 up 16, 18 to spine 10 and 20, 22 to 11; from leaf 9 up 24,
/// 26 and 28, 30; down is one more.
Topology trunked() {
  TopologyBuilder builder(8);
  for (int i = 0; i < 4; ++i) builder.add_switch();
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    builder.add_link_pair({VertexId(a), VertexId(b), support::kAlpha, support::kBandwidth});
  };
  for (std::uint32_t u = 0; u < 8; ++u) join(u, 8 + u / 4);
  for (const std::uint32_t leaf : {8U, 9U})
    for (const std::uint32_t spine : {10U, 11U}) {
      join(leaf, spine);
      join(leaf, spine);
    }
  return std::move(builder).build().value();
}

TEST(GivenRoutes, LeadThroughTheirVerticesAndOthersTakeThatOfTheDestination) {
  // fat_tree(4): NPUs 0-15, edges 16-23, aggregation 24-31, cores 32-35. per_destination goes from 0 to 4 over 24 and
  // 32, to 5 over 25 and 34 (EqualRoutes.OfAFatTreeAreThoseOfATableByHand). Given: from NPUs 0 and 1 to 4 and 5 over
  // 25 and 35, and from 2 to 3, which share an edge switch, over that.
  const Topology topology =
      with_routes(shape("fat_tree(4)"),
                  {{route({0, 1}, {4, 5}, {16, 25, 35, 27, 18}), route(npu(2), npu(3), {17})}, {}})
          .value();
  EXPECT_FALSE(topology.shape().has_value());
  EXPECT_THAT(given_stops(topology, 0, 4), ElementsAre(16, 25, 35, 27, 18, 4));
  EXPECT_THAT(given_stops(topology, 1, 5), ElementsAre(16, 25, 35, 27, 18, 5));
  EXPECT_THAT(given_stops(topology, 0, 6), ElementsAre(16, 24, 33, 26, 19, 6));
  EXPECT_THAT(given_stops(topology, 2, 4), ElementsAre(17, 24, 32, 26, 18, 4));
  // Any other rule leaves them aside: single takes the lowest links.
  EXPECT_THAT(given_stops(topology, 0, 4, {RouteRule::single}), ElementsAre(16, 24, 32, 26, 18, 4));
  EXPECT_TRUE(Router(topology).depends_on_source());
  EXPECT_FALSE(Router(topology, {RouteRule::single}).depends_on_source());
}

TEST(GivenRoutes, NameOneOfParallelLinksOrLeaveTheChoice) {
  // per_destination takes link 16 and 25 from 0 to 4, and 18 and 27 to 5. Named: the second link up and the first down.
  // Unnamed: the choice among two links by the destination, rank 4 mod 2 = 0 and 5 mod 2 = 1.
  const Topology topology =
      with_routes(trunked(), {{route(npu(0), npu(4), {8, 11, 9}, {0, 1, 0, 0}), route({1, 2}, {4, 5}, {8, 11, 9})}, {}})
          .value();
  EXPECT_THAT(links_of(topology, 0, 4), ElementsAre(0, 22, 29, 9));
  EXPECT_THAT(links_of(topology, 1, 4), ElementsAre(2, 20, 29, 9));
  EXPECT_THAT(links_of(topology, 2, 5), ElementsAre(4, 22, 31, 11));
  EXPECT_THAT(links_of(topology, 0, 5), ElementsAre(0, 18, 27, 11));
}

TEST(GivenRoutes, OfNextHopsFollowATableByHand) {
  // Leaf 8 sends to NPUs 4-5 over spine 11, to 6 over the second link to 10, and to 7 as per_destination does: up 7 mod
  // 4 = 3, link 22 to spine 11. Spine 11 sends to NPUs 4-7 over the first link down, spine 10 over the second.
  const Topology topology =
      with_routes(trunked(),
                  {{}, {hop(8, {4, 5}, 11), hop(8, npu(6), 10, 1), hop(11, {4, 7}, 9, 0), hop(10, {4, 7}, 9, 1)}})
          .value();
  EXPECT_THAT(links_of(topology, 0, 4), ElementsAre(0, 20, 29, 9));   // 4 mod 2 = 0
  EXPECT_THAT(links_of(topology, 0, 5), ElementsAre(0, 22, 29, 11));  // 5 mod 2 = 1
  EXPECT_THAT(links_of(topology, 3, 6), ElementsAre(6, 18, 27, 13));
  EXPECT_THAT(links_of(topology, 3, 7), ElementsAre(6, 22, 29, 15));
  EXPECT_THAT(links_of(topology, 7, 0), ElementsAre(14, 24, 17, 1));
  EXPECT_FALSE(Router(topology).depends_on_source());
  // The route of a pair counts before next hops.
  const Topology both = with_routes(trunked(), {{route(npu(1), npu(4), {8, 10, 9})}, {hop(8, {4, 7}, 11)}}).value();
  EXPECT_THAT(given_stops(both, 1, 4), ElementsAre(8, 10, 9, 4));
  EXPECT_THAT(given_stops(both, 0, 4), ElementsAre(8, 11, 9, 4));
}

TEST(GivenRoutes, MayBeLongerAndLeadOverNpus) {
  // A ring of 4: from 0 to 1 the long way.
  const Topology ring = with_routes(support::ring(4), {{route(npu(0), npu(1), {3, 2})}, {}}).value();
  EXPECT_THAT(given_stops(ring, 0, 1), ElementsAre(3, 2, 1));
  EXPECT_THAT(given_stops(ring, 3, 1), ElementsAre(0, 1));
  // A next hop of an NPU: NPU 0 sends to the others over link 0 of two.
  TopologyBuilder builder(3);
  builder.add_switch();
  for (std::uint32_t u = 0; u < 3; ++u)
    for (int i = 0; i < 2; ++i) builder.add_link_pair({VertexId(u), VertexId(3), support::kAlpha, support::kBandwidth});
  const Topology ports = with_routes(std::move(builder).build().value(), {{}, {hop(0, {0, 2}, 3, 0)}}).value();
  EXPECT_EQ(links_of(ports, 0, 1)[0], 0U);
  EXPECT_EQ(links_of(ports, 0, 2)[0], 0U);
}

TEST(GivenRoutes, FallBackWhereALinkHasFailed) {
  const GivenRoutes given{{route({0, 3}, {4, 7}, {8, 11, 9}, {0, 1, 1, 0})}, {}};
  const Topology whole = with_routes(trunked(), given).value();
  EXPECT_THAT(links_of(whole, 0, 4), ElementsAre(0, 22, 31, 9));
  // The first link from leaf 8 to spine 11, which no route names: they stay, with lower ids behind it.
  std::vector<bool> drop(whole.links(), false);
  drop[20] = true;
  const Topology other = whole.without(drop);
  EXPECT_THAT(links_of(other, 0, 4), ElementsAre(0, 21, 30, 9));
  // The second one, too: no pair has its route any more, so they go as if none were given.
  drop.assign(other.links(), false);
  drop[21] = true;
  const Topology neither = other.without(drop);
  const Topology plain = trunked().without([] {
    std::vector<bool> both(32, false);
    both[20] = both[22] = true;
    return both;
  }());
  for (std::uint32_t from = 0; from < 8; ++from)
    for (std::uint32_t to = 0; to < 8; ++to) EXPECT_EQ(links_of(neither, from, to), links_of(plain, from, to));
  // The link of one NPU: pairs of other NPUs keep their route, also over a named link of an NPU with two.
  drop.assign(whole.links(), false);
  drop[0] = drop[1] = true;
  EXPECT_THAT(given_stops(whole.without(drop), 1, 4), ElementsAre(8, 11, 9, 4));
  EXPECT_TRUE(given_stops(whole.without(drop), 0, 4).empty());
  // Slow links and switches of other kinds change no route.
  EXPECT_EQ(links_of(slow_links(whole, {{VertexId(8), VertexId(11), 2000}}).value(), 0, 4), links_of(whole, 0, 4));
  EXPECT_EQ(links_of(whole.with_switches(SwitchProperties{.copy = true}), 0, 4), links_of(whole, 0, 4));
  EXPECT_EQ(whole.reversed().route_table(), nullptr);
}

TEST(GivenRoutes, OfNextHopsAreForgottenAsATree) {
  // leaf_spine(2,2,2): NPUs 0-3, leaves 4 and 5, spines 6 and 7. All goes over spine 7.
  const Topology whole =
      with_routes(shape("leaf_spine(2,2,2)"), {{}, {hop(5, {0, 1}, 7), hop(7, {0, 1}, 4), hop(4, {2, 3}, 7)}}).value();
  EXPECT_THAT(given_stops(whole, 2, 0), ElementsAre(5, 7, 4, 0));
  // Without the links of spine 7 and leaf 4, the hops to NPUs 0 and 1 do not count, and those of 4 do not either: all
  // goes over spine 6.
  const Topology broken = remove_links(whole, {{VertexId(4), VertexId(7)}}).value();
  EXPECT_THAT(given_stops(broken, 2, 0), ElementsAre(5, 6, 4, 0));
  EXPECT_THAT(given_stops(broken, 0, 2), ElementsAre(4, 6, 5, 2));
  // A line of switches 2 - 3 - 4 with NPU 0 on 2 and NPU 1 on 4, and a way 2 - 5 - 4 beside it. Switch 3 sends to NPU
  // 1 back over 2, which has no hop and takes 3 or 5: 3 is the lower one, a loop.
  const auto line = [](bool with_fifth) {
    TopologyBuilder builder(2);
    for (int i = 0; i < 4; ++i) builder.add_switch();
    const auto join = [&](std::uint32_t a, std::uint32_t b) {
      builder.add_link_pair({VertexId(a), VertexId(b), support::kAlpha, support::kBandwidth});
    };
    join(0, 2);
    join(1, 4);
    join(2, 3);
    join(3, 4);
    if (with_fifth) join(2, 5);
    join(5, 4);
    return std::move(builder).build().value();
  };
  EXPECT_THAT(errors_of(line(false), {{}, {hop(3, npu(1), 2)}}),
              HasSubstr("m.toml:9:5: next hops to NPU 1 lead in a loop: 3 -> 2 -> 3"));
  // With hops 3 -> 2 -> 5 it is none. When 2 - 5 fails, 2 would go back to 3: so 3 forgets its hop.
  const Topology around = with_routes(line(true), {{}, {hop(3, npu(1), 2), hop(2, npu(1), 5)}}).value();
  EXPECT_THAT(given_stops(around, 0, 1), ElementsAre(2, 5, 4, 1));
  const Topology after = remove_links(around, {{VertexId(2), VertexId(5)}}).value();
  EXPECT_THAT(given_stops(after, 0, 1), ElementsAre(2, 3, 4, 1));
}

TEST(GivenRoutes, OverCutThroughSwitchesAreWires) {
  // leaf_spine(2,2,6): NPUs 0-3, leaves 4 and 5, spines 6-11: a pair has 4 of 6 paths as wires. Every spine in turn is
  // given for the pair 0 -> 2.
  for (std::uint32_t spine = 6; spine < 12; ++spine) {
    const Topology network =
        with_routes(shape("leaf_spine(2,2,6)"), {{route(npu(0), npu(2), {4, spine, 5})}, {}}).value();
    const Topology wired = wires_of(network.with_switches({.forwarding = Forwarding::cut_through})).value();
    const auto wires = Router(wired).route(NpuId(0), NpuId(2));
    ASSERT_EQ(wires.size(), 1U);
    std::vector<std::uint32_t> visited;
    for (const WireSpan& span : wired.wires()->spans(wires[0]))
      visited.push_back(wired.wires()->network().target(span.link).value());
    EXPECT_THAT(visited, ElementsAre(4, spine, 5, 2));
    EXPECT_EQ(Router(wired, {RouteRule::single}).route(NpuId(1), NpuId(2)), Router(wired).route(NpuId(1), NpuId(2)));
  }
  // Spines that store and forward part the way: two wires.
  std::vector<SwitchProperties> switches(4, SwitchProperties{.forwarding = Forwarding::cut_through});
  switches[2] = switches[3] = {};
  const Topology mixed =
      wires_of(with_routes(shape("leaf_spine(2,2,2)"), {{}, {hop(4, {2, 3}, 7)}}).value().with_switches(switches))
          .value();
  EXPECT_THAT(given_stops(mixed, 0, 2), ElementsAre(5, 2));  // holders: NPUs 0-3, spines 4 and 5
  EXPECT_THAT(given_stops(mixed, 1, 3), ElementsAre(5, 3));
  EXPECT_THAT(given_stops(mixed, 2, 0), ElementsAre(4, 0));
}

TEST(GivenRoutes, ThatRepeatARuleAreThoseOfTheRule) {
  for (const Topology& plain : {shape("fat_tree(4)").without_shape(), shape("leaf_spine(3,3,2)").without_shape(),
                                shape("rail_spine(2,3,2)").without_shape(), trunked()}) {
    const Topology hops = with_routes(plain, support::repeated_hops(plain)).value();
    const Topology routes = with_routes(plain, support::repeated_routes(plain)).value();
    const Topology hashed = with_routes(plain, support::repeated_routes(plain, {RouteRule::hashed, 3})).value();
    Router by_hash(plain, {RouteRule::hashed, 3});
    for (std::uint32_t to = 0; to < plain.npus(); ++to)
      for (std::uint32_t from = 0; from < plain.npus(); ++from) {
        EXPECT_EQ(links_of(hops, from, to), links_of(plain, from, to)) << from << " " << to;
        EXPECT_EQ(links_of(routes, from, to), links_of(plain, from, to)) << from << " " << to;
        EXPECT_EQ(Router(hashed).route(NpuId(from), NpuId(to)), by_hash.route(NpuId(from), NpuId(to)));
      }
  }
}

TEST(GivenRoutes, AreRefusedWithTheVertex) {
  const Topology tree = trunked();
  const auto of_route = [&](const GivenRoute& each) { return errors_of(tree, {{each}, {}}); };
  const auto of_hop = [&](const NextHop& each) { return errors_of(tree, {{}, {each}}); };
  EXPECT_EQ(of_route(route(npu(0), npu(4), {8, 12, 9})), "m.toml:7:3: vertex 12 does not exist (vertices are 0 to 11)");
  EXPECT_THAT(of_route(route(npu(0), npu(4), {8, 10})), HasSubstr("no link leads from 10 to 4"));
  EXPECT_THAT(of_route(route(npu(0), npu(4), {9})), HasSubstr("no link leads from 0 to 9"));
  EXPECT_THAT(of_route(route({2, 5}, {6, 7}, {8, 10, 9})), HasSubstr("no link leads from 4 to 8"));
  EXPECT_THAT(of_route(route(npu(0), npu(4), {8, 10, 8, 10, 9})), HasSubstr("a route comes to vertex 8 twice"));
  EXPECT_THAT(of_route(route(npu(0), npu(4), {8, 0, 8, 10, 9})), HasSubstr("vertex 0 twice (it begins or ends there)"));
  EXPECT_THAT(of_route(route(npu(0), npu(0), {8})), HasSubstr("a route from NPU 0 to itself"));
  EXPECT_THAT(of_route(route(npu(0), npu(4), {})), HasSubstr("no link leads from 0 to 4"));
  EXPECT_THAT(of_route(route(npu(0), npu(4), {8, 10, 9}, {0, 0})), HasSubstr("a route of 4 hops names 2 links"));
  EXPECT_THAT(of_route(route(npu(0), npu(4), {8, 10, 9}, {0, 2, 0, 0})),
              HasSubstr("link 2 from 8 to 10 (2 links lead there, numbered from 0)"));
  EXPECT_THAT(of_hop(hop(12, npu(4), 8)), HasSubstr("vertex 12 does not exist"));
  EXPECT_THAT(of_hop(hop(8, npu(4), 9)), HasSubstr("no link leads from 8 to 9"));
  EXPECT_THAT(of_hop(hop(8, npu(1), 2)), HasSubstr("messages to NPU 1 end at NPU 2"));
  EXPECT_THAT(of_hop(hop(8, {1, 2}, 2)), HasSubstr("messages to NPUs 1 to 2 end at NPU 2"));
  EXPECT_THAT(of_hop(hop(8, npu(4), 10, 2)), HasSubstr("link 2 from 8 to 10"));
  EXPECT_THAT(of_hop(hop(8, npu(4), 10, 2)), HasSubstr("m.toml:9:5: "));
  // Twice: 0 to 5 in both; 3 to 3 is no pair.
  EXPECT_THAT(errors_of(tree, {{route({0, 1}, {4, 5}, {8, 10, 9}), route(npu(0), {5, 7}, {8, 11, 9})}, {}}),
              HasSubstr("a second route from NPU 0 to NPU 5 (line 7 gives one)"));
  EXPECT_EQ(errors_of(tree, {{route(npu(3), {2, 3}, {8}), route({3, 3}, {0, 1}, {8})}, {}}), "(no error)");
  EXPECT_THAT(errors_of(tree, {{}, {hop(8, {4, 7}, 10), hop(8, npu(6), 11)}}),
              HasSubstr("a second next hop of vertex 8 to NPU 6"));
  EXPECT_THAT(errors_of(tree, {{}, {hop(8, {4, 7}, 10), hop(10, {4, 7}, 8)}}),
              HasSubstr("next hops to NPU 4 lead in a loop: 8 -> 10 -> 8 (a message to NPU 4 would never arrive)"));
  // A dead end: switch 3 has a link in alone.
  TopologyBuilder builder(2);
  for (int i = 0; i < 2; ++i) builder.add_switch();
  for (std::uint32_t u = 0; u < 2; ++u)
    builder.add_link_pair({VertexId(u), VertexId(2), support::kAlpha, support::kBandwidth});
  builder.add_link({VertexId(2), VertexId(3), support::kAlpha, support::kBandwidth});
  EXPECT_THAT(errors_of(std::move(builder).build().value(), {{}, {hop(2, npu(1), 3)}}),
              HasSubstr("next hops to NPU 1 end at vertex 3 (no path leads on from there to NPU 1)"));
}

}  // namespace
}  // namespace tenex
