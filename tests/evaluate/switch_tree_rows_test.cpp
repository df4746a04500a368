// Rows on hierarchies of switches: times by hand, what oversubscription costs, and settings of switches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "evaluate/points.hpp"
#include "tenex/topology/topology.hpp"
#include "training/dimension_network.hpp"

namespace tenex {
namespace {

using support::row_of;
using support::Words;

/// Links of 50 GB/s and 1 us. With S = n MB a chunk of an All-Gather has 1 MB: 20 us on a link.
Evaluation row_on(const char* topology, const char* collective, const char* algorithm, const char* size,
                  const Words& more = {}) {
  Words words{{"topology", topology}, {"collective", collective}, {"algorithm", algorithm},
              {"size", size},         {"alpha", "1us"},           {"bandwidth", "50GB/s"}};
  words.insert(words.end(), more.begin(), more.end());
  const auto row = row_of(make_point(words, vocabulary()).value());
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes) << topology << " " << collective << " " << algorithm;
  EXPECT_GE(row.collective_time_ps, row.bound_ps) << topology << " " << collective << " " << algorithm;
  return row;
}

const Words kCutThrough{{"forwarding", "cut_through"}};

TEST(SwitchTreeRows, OfLibrasFigureTakeAChunkTimeForEachOtherNpu) {
  // SW(4,2), cut through. 0 -> 1 in [0, 20), there at 22; 0 -> 2 from 20 and 0 -> 3 from 40, over four links: there at
  // 44 and 64. NPU 2 sends to 1 from 40: NPU 1's link down has been free since 21 + 20 + 2 (3 -> 1). 64 us are three
  // chunk times and four alphas. NPU 1 sends to its neighbour 0 last: NPU 0's link down is taken in [23, 43) by 2 -> 0,
  // so 1 -> 0 starts at 42 and is there at 64 too.
  EXPECT_EQ(row_on("SW(4,2)", "all_gather", "direct", "4MB", kCutThrough).collective_time_ps, 64'000'000);
  // One switch: three chunk times and two alphas.
  EXPECT_EQ(row_on("SW(4)", "all_gather", "direct", "4MB", kCutThrough).collective_time_ps, 62'000'000);
}

TEST(SwitchTreeRows, WithoutOversubscriptionAreNearlyThoseOfOneSwitch) {
  // n - 1 chunk times, and at most the alphas and chunk times of the longer ways.
  for (const auto* algorithm : {"direct", "pccl"})
    for (const auto* collective : {"all_gather", "all_to_all"}) {
      const auto one = row_on("SW(16)", collective, algorithm, "16MB", kCutThrough);
      const auto tree = row_on("SW(16,2,8)", collective, algorithm, "16MB", kCutThrough);
      EXPECT_LE(tree.collective_time_ps, one.collective_time_ps + 24'000'000) << algorithm << " " << collective;
      EXPECT_GE(tree.collective_time_ps, one.collective_time_ps) << algorithm << " " << collective;
    }
}

TEST(SwitchTreeRows, OversubscriptionBindsWhatLeavesALeaf) {
  // All-to-All on SW(16,4:2), 1 MB per pair: 4 * 12 chunks leave a leaf over two links, 24 chunk times of 20 us; an NPU
  // receives 15 chunks. The bound sees the leaf, under either forwarding. Stored and forwarded, a chunk also takes the
  // hop before and two hops after: 60 us and four alphas of 1 us in all.
  EXPECT_EQ(row_on("SW(16,4:2)", "all_to_all", "pccl", "16MB", {}).bound_ps, 544'000'000);
  for (const auto& more : {Words{}, kCutThrough}) {
    const auto row = row_on("SW(16,4:2)", "all_to_all", "pccl", "16MB", more);
    EXPECT_GE(row.bound_ps, 480'000'000);
    EXPECT_LE(row.bound_ps, more.empty() ? 544'000'000 : 520'000'000);
    EXPECT_GE(row.efficiency, 0.8);
    EXPECT_GE(row_on("SW(16,4:2)", "all_to_all", "direct", "16MB", more).efficiency, 0.6);
  }
  // A gather copies within the leaf: 12 chunks come into each over two links, fewer than the 15 that an NPU receives.
  EXPECT_LT(row_on("SW(16,4:2)", "all_gather", "pccl", "16MB", kCutThrough).bound_ps, 320'000'000);
}

TEST(SwitchTreeRows, GroupsAcrossLeavesAreBoundByTheLinksBetweenSwitches) {
  // Four groups with a member on each of three leaves: 2 * 9 MB over trees of four links between switches each, of
  // which there are 3 * 2 each way: 4 * 72 MB / (12 * 50 GB/s) = 480 us. What leaves a leaf alone says 4 * 9 MB / 100
  // GB/s: six of the 12 chunks of 3 MB on each link, 361 us. But they come from two links of 61 us away, and go on over
  // a third: 544 us. Switches that pass bytes on early take alphas alone there, which leaves the trees.
  const Words words{{"groups", "0,4,8; 1,5,9; 2,6,10; 3,7,11"}, {"bounds", "full"}};
  EXPECT_EQ(row_on("SW(12,4:2)", "all_reduce", "direct", "9MB", words).bound_ps, 544'000'000);
  auto early = words;
  early.emplace_back("forwarding", "virtual_cut_through");
  const auto row = row_on("SW(12,4:2)", "all_reduce", "direct", "9MB", early);
  EXPECT_GE(row.bound_ps, 480'000'000);
  EXPECT_LE(row.bound_ps, 490'000'000);
}

TEST(SwitchTreeRows, ObeyEverySettingOfSwitches) {
  for (const auto* topology : {"SW(8,4:2)", "RI(2)_SW(8,2,4)"}) {
    for (const auto* collective : {"all_gather", "all_reduce", "broadcast"}) {
      for (const auto* forwarding : {"store_and_forward", "cut_through", "virtual_cut_through"}) {
        const Words able{{"forwarding", forwarding}, {"switch_copy", "yes"}, {"switch_reduce", "yes"}, {"chunks", "2"}};
        row_on(topology, collective, "pccl", "8MB", able);
      }
      row_on(topology, collective, "pccl", "8MB", {{"switch_buffer", "2"}});
    }
    for (const auto* algorithm : {"ring", "direct", "rings", "rhd", "dbt"})
      for (const auto* forwarding : {"store_and_forward", "cut_through", "virtual_cut_through"})
        row_on(topology, "all_reduce", algorithm, "8MB", {{"forwarding", forwarding}});
  }
  for (const auto* algorithm : {"hierarchical", "themis"})
    for (const auto* forwarding : {"store_and_forward", "cut_through", "virtual_cut_through"})
      row_on("RI(2)_SW(8,4:2)", "all_reduce", algorithm, "8MB", {{"forwarding", forwarding}});
}

TEST(SwitchTreeRows, ACopyTravelsOnceOverEachBundle) {
  // A Broadcast of 16 MB in 16 chunks on SW(16,4:4): one link up and down per leaf, so each chunk may use it once. 16
  // chunk times and four alphas; a path for each destination would take twelve times as long.
  const Words able{{"forwarding", "cut_through"}, {"switch_copy", "yes"}, {"chunks", "16"}};
  const auto row = row_on("SW(16,4:4)", "broadcast", "pccl", "16MB", able);
  EXPECT_GE(row.efficiency, 0.95);
}

TEST(SwitchTreeRows, AFaultInABundleLeavesItsOtherLinks) {
  // Of 16 + 8 link pairs one fails: an NPU's only one, and no schedule exists, or one of a bundle's four.
  for (const auto* forwarding : {"store_and_forward", "cut_through"}) {
    int left = 0;
    for (const auto* draw : {"1", "2", "3", "4", "5", "6"}) {
      const Words words{{"topology", "SW(16,8:2)"}, {"collective", "all_gather"},
                        {"algorithm", "direct"},    {"size", "16MB"},
                        {"alpha", "1us"},           {"bandwidth", "50GB/s"},
                        {"forwarding", forwarding}, {"faults", "links 1 draw " + std::string(draw)}};
      const auto row = row_of(make_point(words, vocabulary()).value());
      if (row.status != PointStatus::ok) continue;
      ++left;
      EXPECT_EQ(row.verified, Verified::yes);
      // What leaves the leaf, or comes into it, shares three links instead of four.
      const auto whole = row_on("SW(16,8:2)", "all_gather", "direct", "16MB", {{"forwarding", forwarding}});
      EXPECT_GT(row.collective_time_ps, whole.collective_time_ps);
    }
    EXPECT_GE(left, 1);
    EXPECT_LE(left, 5);
  }
}

TEST(SwitchTreeRows, CopiesOfADimensionHaveTheLinksOfItsTree) {
  // The tree alone is 2 * 4 times in the product. Links of a copy join the vertices that stand for those of the tree.
  const Shape shape = parse_shape("RI(2)_SW(8,2,4:2)_SW(4,2)").value();
  const ShapeLinks links{{microseconds(1)}, {gigabytes_per_second(50)}, false};
  const auto tree = build_topology(Shape{{shape.blocks[1]}}, links).value();
  const auto product = build_topology(shape, links).value();
  const Copies copies(shape, {1}, tree, {0, 1, 2}, product);
  ASSERT_EQ(copies.count(), 8U);
  for (std::size_t copy = 0; copy < copies.count(); ++copy) {
    std::map<VertexId, VertexId> there;
    for (std::size_t npu = 0; npu < tree.npus(); ++npu)
      there[VertexId::at(npu)] = vertex_of(copies.npu(copy, NpuId::at(npu)));
    for (std::size_t i = 0; i < tree.links(); ++i) {
      const auto link = product.link(copies.link(copy, LinkId::at(i)));
      EXPECT_EQ(there.try_emplace(tree.source(LinkId::at(i)), link.source).first->second, link.source);
      EXPECT_EQ(there.try_emplace(tree.target(LinkId::at(i)), link.target).first->second, link.target);
    }
  }
}

}  // namespace
}  // namespace tenex
