// The multigraph and its builder: checks, views, connectivity.
#include "tenex/topology/topology.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "topology/neighbours.hpp"

namespace tenex {
namespace {

using support::all_links;
using support::link_ends;
using support::shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr SimTime kA = nanoseconds(5);
constexpr Bandwidth kB = gigabytes_per_second(1);

Link built_link(std::uint32_t from, std::uint32_t to, SimTime alpha = kA, Bandwidth bandwidth = kB) {
  return {VertexId(from), VertexId(to), alpha, bandwidth};
}

std::string links_refusal(std::size_t npus, const std::vector<Link>& links) {
  TopologyBuilder builder(npus);
  for (const Link& one : links) builder.add_link(one);
  const auto built = std::move(builder).build();
  return built ? "accepted" : to_string(built.errors());
}

TEST(Topology, KeepsParallelLinksApart) {
  const Topology twice = support::graph(2, {built_link(0, 1), built_link(0, 1, nanoseconds(9)), built_link(1, 0)});
  EXPECT_EQ(twice.links(), 3U);
  EXPECT_THAT(twice.out_links(VertexId(0)), ElementsAre(LinkId(0), LinkId(1)));
  EXPECT_EQ(twice.alpha(LinkId(1)), nanoseconds(9));
  EXPECT_THAT(twice.in_links(VertexId(0)), ElementsAre(LinkId(2)));
}

TEST(Topology, NumbersLinkClassesByFirstAppearance) {
  const Topology mixed = support::graph(3, {built_link(0, 1), built_link(1, 2, kA, kB * 2), built_link(2, 0),
                                            built_link(1, 0, nanoseconds(6)), built_link(2, 1, kA, kB * 2)});
  EXPECT_THAT(mixed.classes(), ElementsAre(LinkClass{kA, kB}, LinkClass{kA, kB * 2}, LinkClass{nanoseconds(6), kB}));
  EXPECT_EQ(mixed.class_of(LinkId(2)), 0);
  EXPECT_EQ(mixed.class_of(LinkId(3)), 2);
  EXPECT_EQ(mixed.class_of(LinkId(4)), 1);
  EXPECT_FALSE(mixed.homogeneous());
  EXPECT_TRUE(support::ring(5).homogeneous());
}

TEST(Topology, PairsAreALinkEachWay) {
  TopologyBuilder builder(2);
  const VertexId hub = builder.add_switch({.copy = true, .reduce = false});
  EXPECT_EQ(hub, VertexId(2));
  EXPECT_EQ(builder.add_link_pair(built_link(0, 2)), LinkId(0));
  EXPECT_EQ(builder.add_link_pair(built_link(2, 1)), LinkId(2));
  const Topology star = std::move(builder).build().value();
  EXPECT_THAT(link_ends(star), ElementsAre(Pair(0, 2), Pair(2, 0), Pair(2, 1), Pair(1, 2)));
  EXPECT_TRUE(star.switch_properties(hub).copy);
}

TEST(Topology, RefusesWhatCannotBeATopology) {
  EXPECT_THAT(links_refusal(0, {}), HasSubstr("without NPUs"));
  EXPECT_THAT(links_refusal(2, {built_link(0, 2)}),
              HasSubstr("link 0 (0 -> 2) uses vertex 2, which does not exist (vertices are 0 to 1)"));
  EXPECT_THAT(links_refusal(2, {built_link(0, 1), built_link(1, 1)}),
              HasSubstr("link 1 (1 -> 1) joins a vertex to itself"));
  EXPECT_THAT(links_refusal(2, {built_link(0, 1, kA, bytes_per_second(0))}), HasSubstr("bandwidth of 0 B/s"));
  EXPECT_THAT(links_refusal(2, {built_link(0, 1, kA, bytes_per_second(-1))}), HasSubstr("bandwidth of -1 B/s"));
  EXPECT_THAT(links_refusal(2, {built_link(0, 1, picoseconds(-1))}), HasSubstr("alpha of -1 ps"));
}

TEST(Topology, ReportsAllMistakesAtOnce) {
  TopologyBuilder builder(2);
  builder.add_link(built_link(0, 0));
  builder.add_link(built_link(0, 7));
  builder.add_link(built_link(0, 1, picoseconds(-1), bytes_per_second(0)));
  EXPECT_EQ(std::move(builder).build().errors().size(), 4U);
}

TEST(Topology, RefusesMoreLinkClassesThanSixteenBitsCount) {
  const auto build = [](std::int64_t classes) {
    TopologyBuilder builder(2);
    for (std::int64_t i = 0; i < classes; ++i) builder.add_link(built_link(0, 1, picoseconds(i)));
    return std::move(builder).build();
  };
  EXPECT_TRUE(build(65'535));
  const auto refused = build(65'536);
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.errors()), HasSubstr("more than 65535 kinds of links"));
}

TEST(Topology, ReversalTurnsEveryLinkAndKeepsItsId) {
  const Topology line = support::line3_heterogeneous();
  const Topology turned = line.reversed();
  // Links 0 -> 1, 1 -> 0, 1 -> 2, 2 -> 1 become 1 -> 0, 0 -> 1, 2 -> 1, 1 -> 2.
  EXPECT_THAT(link_ends(turned), ElementsAre(Pair(1, 0), Pair(0, 1), Pair(2, 1), Pair(1, 2)));
  EXPECT_EQ(turned.alpha(LinkId(2)), microseconds(2));
  EXPECT_THAT(turned.out_links(VertexId(1)), ElementsAre(LinkId(0), LinkId(3)));
  EXPECT_THAT(turned.in_links(VertexId(1)), ElementsAre(LinkId(1), LinkId(2)));
}

TEST(Topology, WithoutRenumbersTheLinksThatStay) {
  const Topology ring = shape("RI(3)");  // 0->1, 0->2, 1->2, 1->0, 2->0, 2->1
  std::vector<bool> drop(6, false);
  drop[1] = drop[4] = true;
  const Topology rest = ring.without(drop);
  EXPECT_THAT(link_ends(rest), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(1, 0), Pair(2, 1)));
  EXPECT_FALSE(rest.shape().has_value());
}

TEST(Topology, WithoutNothingIsTheSameTopology) {
  const Topology ring = shape("RI(3)");
  const Topology same = ring.without(std::vector<bool>(6, false));
  EXPECT_EQ(all_links(same), all_links(ring));
  EXPECT_EQ(same.shape(), ring.shape());
}

TEST(Topology, WithoutForgetsLinkClassesThatNobodyUses) {
  // Dropping the slow pair (links 2 and 3) leaves only fast links.
  const Topology fast = support::line3_heterogeneous().without({false, false, true, true});
  EXPECT_TRUE(fast.homogeneous());
  EXPECT_EQ(fast.bandwidth(LinkId(1)), gigabytes_per_second(4));
}

TEST(Topology, FindsNoDisconnectedPairInShapes) {
  for (const auto text : {"RI(4)_FC(8)_SW(8)", "mesh(3,4)", "dragonfly(4,5)", "SW(7)", "LI(1)"}) {
    EXPECT_FALSE(find_disconnected_pair(shape(text)).has_value()) << text;
  }
}

TEST(Topology, FindsWhoCannotBeReached) {
  // 0 <-> 1 -> 2: every vertex is reached from 0, but 2 reaches none.
  EXPECT_EQ(find_disconnected_pair(support::graph(3, {built_link(0, 1), built_link(1, 0), built_link(1, 2)})),
            std::pair(VertexId(2), VertexId(0)));
  // 0 <-> 1 <- 2: no vertex reaches 2.
  EXPECT_EQ(find_disconnected_pair(support::graph(3, {built_link(0, 1), built_link(1, 0), built_link(2, 1)})),
            std::pair(VertexId(0), VertexId(2)));
  // Two components.
  EXPECT_EQ(find_disconnected_pair(
                support::graph(4, {built_link(0, 1), built_link(1, 0), built_link(2, 3), built_link(3, 2)})),
            std::pair(VertexId(0), VertexId(2)));
}

// 0 -> 2 -> 1 over a switch that only copies: back over one that only reduces.
TEST(Topology, MirroredTurnsLinksAndExchangesCopyAndReduce) {
  TopologyBuilder builder(2);
  builder.add_switch({.copy = true, .buffer = 3});
  builder.add_link({VertexId(0), VertexId(2), nanoseconds(5), gigabytes_per_second(1)});
  builder.add_link({VertexId(2), VertexId(1), nanoseconds(7), gigabytes_per_second(2)});
  const Topology topology = std::move(builder).build().value();
  const Topology mirrored = topology.mirrored();
  EXPECT_EQ(mirrored.link(LinkId(0)), (Link{VertexId(2), VertexId(0), nanoseconds(5), gigabytes_per_second(1)}));
  EXPECT_EQ(mirrored.switch_properties(VertexId(2)), (SwitchProperties{.reduce = true, .buffer = 3}));
  EXPECT_EQ(mirrored.mirrored().switch_properties(VertexId(2)), topology.switch_properties(VertexId(2)));
}

}  // namespace
}  // namespace tenex
