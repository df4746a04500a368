// Switch unwinding and link removal.
#include "tenex/topology/transform.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "topology/neighbours.hpp"

namespace tenex {
namespace {

using support::all_links;
using support::link_ends;
using support::out_neighbours;
using support::shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr SimTime kAlpha = nanoseconds(500);

Topology unwound(std::string_view text, std::uint32_t degree) {
  return unwind_switches(shape(text, {kAlpha}, {gigabytes_per_second(60)}), degree).value();
}

// A switch of four NPUs, degrees 1 to 3 (TACOS, Fig. 13).
TEST(Unwinding, DegreeOneIsAUnidirectionalRingAtFullBandwidth) {
  const Topology ring = unwound("SW(4)", 1);
  EXPECT_EQ(ring.switches(), 0U);
  EXPECT_THAT(link_ends(ring), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3), Pair(3, 0)));
  EXPECT_EQ(ring.bandwidth(LinkId(0)), gigabytes_per_second(60));
  EXPECT_EQ(ring.alpha(LinkId(0)), kAlpha);
}

TEST(Unwinding, DegreeTwoHalvesTheBandwidth) {
  const Topology wide = unwound("SW(4)", 2);
  EXPECT_THAT(link_ends(wide), ElementsAre(Pair(0, 1), Pair(0, 2), Pair(1, 2), Pair(1, 3), Pair(2, 3), Pair(2, 0),
                                           Pair(3, 0), Pair(3, 1)));
  EXPECT_TRUE(wide.homogeneous());
  EXPECT_EQ(wide.bandwidth(LinkId(0)), gigabytes_per_second(30));
  EXPECT_EQ(wide.alpha(LinkId(0)), kAlpha);
}

TEST(Unwinding, DegreeThreeConnectsAllFour) {
  const Topology full = unwound("SW(4)", 3);
  EXPECT_EQ(full.links(), 12U);
  EXPECT_THAT(out_neighbours(full, 2), ElementsAre(3, 0, 1));
  EXPECT_EQ(full.bandwidth(LinkId(0)), gigabytes_per_second(20));
}

TEST(Unwinding, TellsWhichLinksOfTheSwitchALinkStandsFor) {
  // Two switches of three NPUs, each with links to the two others: 2 * 3 * 2 links over switches, beside RI(2)'s 6.
  const Topology network = shape("RI(2)_SW(3)", {kAlpha}, {gigabytes_per_second(60)});
  const UnwoundNetwork unwound = unwind_with_origins(network, 2).value();
  EXPECT_EQ(all_links(unwound.topology), all_links(unwind_switches(network, 2).value()));
  EXPECT_EQ(longest_path(unwound), 2U);
  EXPECT_EQ(most_paths_over_a_link(unwound), 2U);
  int over_switches = 0;
  for (std::size_t l = 0; l < unwound.topology.links(); ++l) {
    const Link link = unwound.topology.link(LinkId::at(l));
    const auto path = unwound.path(LinkId::at(l));
    EXPECT_EQ(network.source(path.front()), link.source);
    EXPECT_EQ(network.target(path.back()), link.target);
    if (path.size() == 1) continue;
    ++over_switches;
    EXPECT_EQ(network.target(path.front()), network.source(path.back()));
    EXPECT_FALSE(network.is_npu(network.target(path.front())));
  }
  EXPECT_EQ(over_switches, 12);
}

TEST(Unwinding, DegreeIsCappedAtEveryoneElse) {
  EXPECT_EQ(all_links(unwound("SW(4)", 9)), all_links(unwound("SW(4)", 3)));
}

TEST(Unwinding, RoundsBandwidthDown) {
  // 100 B/s over three links: 33.
  const Topology star = shape("SW(4)", {kAlpha}, {bytes_per_second(100)});
  EXPECT_EQ(unwind_switches(star, 3).value().bandwidth(LinkId(0)), bytes_per_second(33));
  EXPECT_THAT(to_string(unwind_switches(shape("SW(4)", {kAlpha}, {bytes_per_second(2)}), 3).errors()),
              HasSubstr("round to zero"));
}

TEST(Unwinding, WorksLineByLineAndKeepsOtherDimensions) {
  // RI(2)_SW(2): rings {0,1}, {2,3}; switches on {0,2}, {1,3}.
  const Topology product = unwound("RI(2)_SW(2)", 1);
  EXPECT_THAT(link_ends(product), ElementsAre(Pair(0, 1), Pair(1, 0), Pair(2, 3), Pair(3, 2), Pair(0, 2), Pair(1, 3),
                                              Pair(2, 0), Pair(3, 1)));
  EXPECT_FALSE(product.shape().has_value());
  EXPECT_FALSE(find_disconnected_pair(product).has_value());
}

TEST(Unwinding, LeavesTopologiesWithoutSwitchesAlone) {
  const Topology mesh = shape("mesh(3,3)");
  const Topology same = unwind_switches(mesh, 2).value();
  EXPECT_EQ(all_links(same), all_links(mesh));
  EXPECT_EQ(same.shape(), mesh.shape());
}

TEST(Unwinding, TakesTheSlowerOfTheTwoLinksThroughTheSwitch) {
  // NPU 1's link from the switch is slow: 0 -> 1 gets its 10 GB/s. 1 -> 0 gets 40 GB/s, the bandwidth of both links on
  // its way.
  TopologyBuilder builder(2);
  const VertexId hub = builder.add_switch();
  builder.add_link_pair({VertexId(0), hub, kAlpha, gigabytes_per_second(40)});
  builder.add_link({VertexId(1), hub, kAlpha, gigabytes_per_second(40)});
  builder.add_link({hub, VertexId(1), kAlpha, gigabytes_per_second(10)});
  const Topology direct = unwind_switches(std::move(builder).build().value(), 1).value();
  EXPECT_EQ(all_links(direct), (std::vector<Link>{{VertexId(0), VertexId(1), kAlpha, gigabytes_per_second(10)},
                                                  {VertexId(1), VertexId(0), kAlpha, gigabytes_per_second(40)}}));
}

TEST(Unwinding, RefusesDegreeZero) {
  EXPECT_THAT(to_string(unwind_switches(shape("SW(4)"), 0).errors()), HasSubstr("an unwinding degree of 0"));
}

/// Links of 40 GB/s and alpha kA between these vertices, of which the first `npus` are NPUs.
Topology network_of(std::size_t npus, std::size_t switches,
                    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& ends) {
  TopologyBuilder builder(npus);
  for (std::size_t i = 0; i < switches; ++i) builder.add_switch();
  for (const auto& [from, to] : ends)
    builder.add_link({VertexId(from), VertexId(to), kAlpha, gigabytes_per_second(40)});
  return std::move(builder).build().value();
}

TEST(Unwinding, TakesNpusThatAreJoinedOneWayOnly) {
  // As the NDv2 with a switch: NPUs 0 and 2 send, 1 and 3 receive. The first sender serves the second receiver.
  const Topology network = network_of(4, 1, {{0, 4}, {4, 1}, {2, 4}, {4, 3}});
  EXPECT_THAT(link_ends(unwind_switches(network, 1).value()), ElementsAre(Pair(0, 3), Pair(2, 1)));
  const Topology wide = unwind_switches(network, 2).value();
  EXPECT_THAT(link_ends(wide), ElementsAre(Pair(0, 3), Pair(0, 1), Pair(2, 1), Pair(2, 3)));
  EXPECT_EQ(wide.bandwidth(LinkId(0)), gigabytes_per_second(20));
  // One sender, three receivers: the degree rises to three, so that everyone receives.
  const Topology broadcast = unwind_switches(network_of(4, 1, {{0, 4}, {4, 1}, {4, 2}, {4, 3}}), 1).value();
  EXPECT_THAT(link_ends(broadcast), ElementsAre(Pair(0, 2), Pair(0, 3), Pair(0, 1)));
  EXPECT_EQ(broadcast.bandwidth(LinkId(0)), gigabytes_per_second(40) / 3);
  // Three senders, one receiver: its link is shared by three.
  const Topology gather = unwind_switches(network_of(4, 1, {{0, 4}, {1, 4}, {2, 4}, {4, 3}}), 1).value();
  EXPECT_THAT(link_ends(gather), ElementsAre(Pair(0, 3), Pair(1, 3), Pair(2, 3)));
  EXPECT_EQ(gather.bandwidth(LinkId(2)), gigabytes_per_second(40) / 3);
}

TEST(Unwinding, TakesSwitchesThatAreJoinedAsOne) {
  // Two leaf switches 4 and 5 of two NPUs each under switch 6. Degree 1: 0 -> 1 and 2 -> 3 stay below a leaf, 1 -> 2
  // and 3 -> 0 climb: four links, three alphas, and no link carries two of the paths.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  for (const auto& [a, b] : {std::pair(0U, 4U), {1U, 4U}, {2U, 5U}, {3U, 5U}, {4U, 6U}, {5U, 6U}}) {
    ends.emplace_back(a, b);
    ends.emplace_back(b, a);
  }
  const Topology tree = network_of(4, 3, ends);
  const auto ring = unwind_with_origins(tree, 1).value();
  EXPECT_EQ(all_links(ring.topology),
            (std::vector<Link>{{VertexId(0), VertexId(1), kAlpha, gigabytes_per_second(40)},
                               {VertexId(1), VertexId(2), 3 * kAlpha, gigabytes_per_second(40)},
                               {VertexId(2), VertexId(3), kAlpha, gigabytes_per_second(40)},
                               {VertexId(3), VertexId(0), 3 * kAlpha, gigabytes_per_second(40)}}));
  EXPECT_EQ(longest_path(ring), 4U);
  EXPECT_EQ(most_paths_over_a_link(ring), 1U);
  // Degree 3: of each leaf's NPUs four paths climb to the other leaf. Their share is 10 GB/s, that below a leaf 40 / 3.
  const auto full = unwind_with_origins(tree, 3).value();
  EXPECT_EQ(most_paths_over_a_link(full), 4U);
  EXPECT_THAT(out_neighbours(full.topology, 0), ElementsAre(1, 2, 3));
  EXPECT_EQ(full.topology.bandwidth(LinkId(0)), gigabytes_per_second(40) / 3);
  EXPECT_EQ(full.topology.bandwidth(LinkId(1)), gigabytes_per_second(10));
}

TEST(Unwinding, SpreadsPathsOverParallelLinks) {
  // NPUs 0 and 1 on switch 4, NPUs 2 and 3 on switch 5, two links 4 -> 5 and one 5 -> 4. Degree 3: four paths each way.
  const Topology network =
      network_of(4, 2, {{0, 4}, {4, 0}, {1, 4}, {4, 1}, {2, 5}, {5, 2}, {3, 5}, {5, 3}, {4, 5}, {4, 5}, {5, 4}});
  const auto full = unwind_with_origins(network, 3).value();
  std::vector<std::size_t> paths(network.links(), 0);
  for (const LinkId hop : full.hops) ++paths[hop.index()];
  EXPECT_THAT(std::vector(paths.end() - 3, paths.end()), ElementsAre(2, 2, 4));
  // 0 -> 2: three paths leave NPU 0, and three enter NPU 2, so the links between the switches are not the slowest.
  EXPECT_EQ(full.topology.bandwidth(LinkId(1)), gigabytes_per_second(40) / 3);
  // Two links of one NPU into a switch are two links of the ring.
  const Topology two = network_of(2, 1, {{0, 2}, {0, 2}, {2, 0}, {1, 2}, {2, 1}});
  const Topology direct = unwind_switches(two, 1).value();
  EXPECT_THAT(link_ends(direct), ElementsAre(Pair(0, 1), Pair(0, 1), Pair(1, 0)));
  EXPECT_EQ(direct.bandwidth(LinkId(0)), gigabytes_per_second(20));  // NPU 1's link from the switch carries both
}

TEST(Unwinding, LeavesOutWhatNoPathReaches) {
  // Switch 2 sends to switch 3, but nothing comes back: NPU 1 has no link to NPU 0.
  EXPECT_THAT(link_ends(unwind_switches(network_of(2, 2, {{0, 2}, {2, 0}, {2, 3}, {3, 1}, {1, 3}}), 1).value()),
              ElementsAre(Pair(0, 1)));
}

TEST(LinkRemoval, RemovesBothDirectionsOfEachPair) {
  // mesh(2,2): 0-1, 2-3 along x; 0-2, 1-3 along y.
  const Topology cut =
      remove_links(shape("mesh(2,2)"), {{VertexId(1), VertexId(0)}, {VertexId(3), VertexId(2)}}).value();
  EXPECT_THAT(link_ends(cut), ElementsAre(Pair(0, 2), Pair(1, 3), Pair(2, 0), Pair(3, 1)));
  EXPECT_FALSE(cut.shape().has_value());
}

TEST(LinkRemoval, RemovesOneWayAndParallelLinksToo) {
  const auto one = [](std::uint32_t from, std::uint32_t to) {
    return Link{VertexId(from), VertexId(to), kAlpha, gigabytes_per_second(1)};
  };
  const Topology multigraph = support::graph(3, {one(0, 1), one(0, 1), one(1, 2), one(2, 0)});
  EXPECT_THAT(link_ends(remove_links(multigraph, {{VertexId(1), VertexId(0)}}).value()),
              ElementsAre(Pair(1, 2), Pair(2, 0)));
}

TEST(LinkRemoval, RemovingAPairTwiceIsRemovingIt) {
  const auto pair = std::pair(VertexId(0), VertexId(1));
  EXPECT_EQ(remove_links(shape("RI(4)"), {pair, pair}).value().links(), 6U);
}

TEST(LinkRemoval, NamesTheNeighboursWhereNoLinkIs) {
  // NPU 4 is the middle of mesh(3,3).
  EXPECT_EQ(to_string(remove_links(shape("mesh(3,3)"), {{VertexId(4), VertexId(8)}}).errors()),
            "no link joins 4 and 8 (only existing links are removed) 4 has links with 1, 3, 5, 7");
  EXPECT_EQ(remove_links(shape("mesh(3,3)"), {{VertexId(4), VertexId(8)}, {VertexId(0), VertexId(2)}}).errors().size(),
            2U);
  // The message names the eight of NPU 0's neighbours in FC(20) that are nearest to the requested one.
  TopologyBuilder builder(30);
  for (std::uint32_t i = 1; i < 20; ++i) {
    builder.add_link({VertexId(0), VertexId(i), kAlpha, gigabytes_per_second(1)});
  }
  const Topology star = std::move(builder).build().value();
  EXPECT_THAT(to_string(remove_links(star, {{VertexId(0), VertexId(25)}}).errors()),
              HasSubstr("0 has links with 12, 13, 14, 15, 16, 17, 18, 19, .."));
  EXPECT_THAT(to_string(remove_links(star, {{VertexId(28), VertexId(29)}}).errors()),
              HasSubstr("28 has no links at all"));
}

TEST(LinkRemoval, RefusesVerticesThatDoNotExist) {
  EXPECT_THAT(to_string(remove_links(shape("mesh(3,3)"), {{VertexId(4), VertexId(9)}}).errors()),
              HasSubstr("vertex 9 does not exist (vertices are 0 to 8)"));
}

}  // namespace
}  // namespace tenex
