// The engine `symmetric` on products with lines: layers and ports against the topology's links, times by hand, valid
// schedules of all kinds, refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/draws.hpp"
#include "synthesis/orbit/layer_network.hpp"
#include "synthesis/orbit/weak_orders.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/base/random.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using support::of_megabytes;

/// A product of a line of three or more with one or two blocks that are none, in any order; switches are unwound.
Topology random_layers(Random& random) {
  constexpr std::string_view kBlocks[] = {"RI", "FC", "SW"};
  std::vector<std::string> blocks = {"LI(" + std::to_string(3 + random.below(3)) + ")"};
  for (std::uint32_t i = 0; i < 1 + random.below(2); ++i)
    blocks.push_back(std::string(kBlocks[random.below(3)]) + "(" + std::to_string(2 + random.below(3)) + ")");
  if (random.below(3) == 0) blocks.emplace_back("LI(3)");
  random.shuffle(std::span(blocks));
  std::string text;
  std::vector<Bandwidth> bandwidths;
  const bool alike = random.below(2) == 0;
  for (const std::string& block : blocks) {
    text += (text.empty() ? "" : "_") + block;
    bandwidths.push_back(gigabytes_per_second(alike ? 50 : 25 << random.below(4)));
  }
  return unwind_switches(support::shape(text, {support::kAlpha}, bandwidths), 1 + random.below(2)).value();
}

Synthesis layered(const Instance& instance, std::uint32_t attempts = 1, std::uint64_t seed = 1) {
  const Synthesis made = support::synthesize_checked("tacos", {instance, {seed, attempts, "symmetric"}});
  EXPECT_EQ(made.engine, "symmetric");
  return made;
}

TEST(LayerNetwork, HasEveryLinkOnceWhereItLeads) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, 0x6c6179);
    const Topology built = random_layers(random);
    const Topology topology = random.below(2) == 0 ? built : built.reversed();
    const auto network = LayerNetwork::of(topology);
    ASSERT_TRUE(network.has_value());
    ASSERT_EQ(std::size_t{network->layers()} * network->positions(), topology.npus());
    std::vector<int> seen(topology.links());
    for (std::uint32_t layer = 0; layer < network->layers(); ++layer)
      for (std::uint32_t port = 0; port < network->ports(layer).size(); ++port)
        for (std::uint32_t position = 0; position < network->positions(); ++position) {
          const LayerPort& of = network->ports(layer)[port];
          const LinkId link = network->link(layer, port, position);
          ++seen[link.index()];
          EXPECT_EQ(topology.target(link), vertex_of(network->npu(layer, position)));
          // Seen from position 0, a position is its own offset.
          EXPECT_EQ(topology.source(link), vertex_of(network->npu(of.source, network->at_source(of.shift, position))));
          EXPECT_EQ(network->at_target(of.shift, network->at_source(of.shift, position)), position);
          EXPECT_EQ(topology.class_of(link), of.link_class);
        }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(topology.links()));
  }
}

TEST(LayerNetwork, HasOneLayerOrOnePositionAtLeast) {
  const auto sizes = [](const Topology& topology) {
    const auto network = LayerNetwork::of(topology);
    return network ? std::pair(network->layers(), network->positions()) : std::pair(0U, 0U);
  };
  EXPECT_EQ(sizes(support::mesh(3, 4)), std::pair(12U, 1U));                        // two lines: no translation
  EXPECT_EQ(sizes(support::shape("torus(3,4)")), std::pair(1U, 12U));               // no line
  EXPECT_EQ(sizes(support::shape("LI(3)_LI(2)")), std::pair(3U, 2U));               // a line of two has two equal ends
  EXPECT_EQ(sizes(support::shape("LI(3)_SW(4)")), std::pair(0U, 0U));               // a switch
  EXPECT_FALSE(LayerNetwork::of(support::random_connected_topology(1, 8, false)));  // no product
}

TEST(LayerNetwork, TakesADimensionWithASlowLinkForLayers) {
  // NPU 6 is the next of NPU 3 on its ring. Where this link is slower, moving the ring maps it to none like it, and
  // with the line no dimension gives positions: 12 NPUs are 12 layers.
  const Topology topology = support::shape("LI(3)_RI(4)");
  EXPECT_EQ(LayerNetwork::of(topology)->positions(), 4U);
  const auto slow = slow_links(topology, {{VertexId(3), VertexId(6), 2 * kNoSlowdown}});
  ASSERT_TRUE(slow);
  EXPECT_EQ(LayerNetwork::of(*slow)->positions(), 1U);
}

TEST(WeakOrders, AreAsManyAsFubiniCounted) {
  // 3 of two things (a < b, b < a, equal), 13 of three, 75 of four.
  EXPECT_TRUE(weak_orders(1).empty());
  EXPECT_EQ(weak_orders(2).size(), 3U);
  EXPECT_EQ(weak_orders(3).size(), 13U);
  EXPECT_EQ(weak_orders(4).size(), 75U);
  EXPECT_TRUE(weak_orders(5).empty());
}

TEST(LayeredEngine, TakesTheStepsThatCountingGives) {
  // An NPU at an end of LI(5)_FC(24)_SW(2) has 1 + 23 + 1 in-links: 239 chunks take 9.56, so 10 steps.
  const Topology wide = unwind_switches(support::shape("LI(5)_FC(24)_SW(2)"), 1).value();
  EXPECT_EQ(layered({wide, of_megabytes(CollectiveKind::all_gather, 240), Occupancy::transfer}).time,
            support::kStep * 10);
  // FC(3)_FC(10)_LI(6): 2 + 9 + 1 in-links, 179 chunks, 14.9 steps.
  const Topology long_line = support::shape("FC(3)_FC(10)_LI(6)");
  EXPECT_EQ(layered({long_line, of_megabytes(CollectiveKind::all_gather, 180), Occupancy::transfer}).time,
            support::kStep * 15);
}

TEST(LayeredEngine, SharesChunksAmongLinksOfUnequalSpeed) {
  // FC(12)_SW(2)_LI(3), 25, 25 and 50 GB/s: 11 + 1 in-links of 40.5 us and, at an end, one of 20.5 us. In 225.5 us
  // these carry 12 * 5 + 11 = 71 chunks, all that there are from elsewhere.
  const Topology mixed =
      unwind_switches(support::shape("FC(12)_SW(2)_LI(3)", {support::kAlpha},
                                     {gigabytes_per_second(25), gigabytes_per_second(25), gigabytes_per_second(50)}),
                      1)
          .value();
  EXPECT_EQ(layered({mixed, of_megabytes(CollectiveKind::all_gather, 72), Occupancy::transfer}).time,
            nanoseconds(225'500));
}

// LI(7)_FC(11)_RI(3) with 100, 400 and 25 GB/s, chunks of 1 MB: a send takes 10, 2.5 or 40 us and 0.5 us more. An NPU
// at the end of its line of seven belongs to a fully connected block into which 220 chunks come from elsewhere, in 20
// blocks of 11: 20 for each of its NPUs. By T the slow links bring floor((T - 0.5) / 10) and twice floor((T - 0.5) /
// 40): 14 and 6 of them at 140.5 us, not before. The last of these must spread, in 3 us more. Every slow link has to
// bring something new to the block each time.
TEST(LayeredEngine, OpensABlockWithEverySendOfASlowLink) {
  const Topology blocks =
      support::shape("LI(7)_FC(11)_RI(3)", {support::kAlpha},
                     {gigabytes_per_second(100), gigabytes_per_second(400), gigabytes_per_second(25)});
  const SimTime time = layered({blocks, of_megabytes(CollectiveKind::all_gather, 231), Occupancy::serialization}).time;
  EXPECT_GE(time, nanoseconds(143'500));
  EXPECT_LE(time, nanoseconds(145'000));
}

TEST(LayeredEngine, TakesLinesAloneWhereLinksDifferInSpeed) {
  // NPU 0 of LI(3)_LI(3)_LI(4) with 50, 50 and 25 GB/s has in-links of 20.5, 20.5 and 40.5 us for 35 chunks of 1 MB. By
  // 287 us they bring 14 + 14 + 7, all of them, and before that two fewer.
  const Topology lines = support::shape("LI(3)_LI(3)_LI(4)", {support::kAlpha},
                                        {gigabytes_per_second(50), gigabytes_per_second(50), gigabytes_per_second(25)});
  EXPECT_EQ(layered({lines, of_megabytes(CollectiveKind::all_gather, 36), Occupancy::transfer}).time,
            nanoseconds(287'000));
}

TEST(LayeredEngine, MakesValidSchedulesOfAllKinds) {
  const auto seeds = static_cast<std::uint64_t>(support::draws(15, 40));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, 0x6c617965);
    const Topology topology = random_layers(random);
    constexpr CollectiveKind kKinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                         CollectiveKind::all_reduce};
    const Collective collective = of_megabytes(kKinds[random.below(3)], topology.npus(), 1 + random.below(3));
    const auto occupancy = random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer;
    layered({topology, collective, occupancy}, 1 + random.below(3), seed);
  }
}

TEST(LayeredEngine, IsNoWorseWithMoreAttempts) {
  const Topology topology =
      support::shape("LI(4)_RI(5)", {support::kAlpha}, {gigabytes_per_second(25), gigabytes_per_second(200)});
  const Collective gather = of_megabytes(CollectiveKind::all_gather, 20, 2);
  const Instance instance{topology, gather, Occupancy::serialization};
  const SimTime few = layered(instance).time;
  EXPECT_LE(layered(instance, 2'000).time, few);
}

TEST(LayeredEngine, SaysWhyItDoesNotSuit) {
  const auto reason_of = [](const Topology& topology, const Collective& collective) {
    const auto made =
        find_synthesizer("tacos")->synthesize({topology, collective, Occupancy::transfer, {1, 1, "symmetric"}});
    return made ? std::string() : made.errors()[0].why;
  };
  EXPECT_NE(
      reason_of(support::mesh(4, 4), of_megabytes(CollectiveKind::all_gather, 16)).find("needs dimensions that differ"),
      std::string::npos);
  EXPECT_NE(reason_of(support::shape("LI(3)_RI(4)"), of_megabytes(CollectiveKind::broadcast, 12)).find("no root"),
            std::string::npos);
}

}  // namespace
}  // namespace tenex
