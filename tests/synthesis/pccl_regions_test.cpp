// Regions of the engine `paths`: the boxes that scarce links join, and trees that enter each box once.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "synthesis/pccl/paths/paths.hpp"
#include "synthesis/pccl/paths/regions.hpp"
#include "synthesis/synthesis_support.hpp"

namespace tenex {
namespace {

using support::shape;

/// Boxes of four NPUs on a switch of 450 GB/s, and rails of 50 GB/s.
Topology boxes_and_rails(const char* text) {
  return shape(text, {nanoseconds(350), nanoseconds(1300)}, {gigabytes_per_second(450), gigabytes_per_second(50)});
}

TEST(PcclRegions, AreTheBoxesThatScarceLinksJoin) {
  const Topology topology = boxes_and_rails("SW(4)_SW(3)");
  const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 12);
  const PathNetwork network({topology, gather, Occupancy::serialization});
  const auto slow = [&](std::uint32_t link) { return topology.alpha(LinkId(link)) > nanoseconds(1000); };
  const Regions regions(network, [&](std::uint32_t link) { return slow(link) ? 4 : 2; });
  EXPECT_TRUE(regions.useful());
  for (std::uint32_t link = 0; link < network.links(); ++link) {
    EXPECT_EQ(regions.scarce(link), slow(link));
    // A fast link stays in a box; a slow one joins an NPU and a rail's switch, which is alone.
    EXPECT_EQ(regions.of(network.source(link)) == regions.of(network.target(link)), !slow(link));
  }
  for (std::uint32_t npu = 0; npu < 12; ++npu) EXPECT_EQ(regions.of(npu) == regions.of(0), npu < 4);
  // Links of equal load are all scarce, and NPUs are regions by themselves.
  EXPECT_FALSE(Regions(network, [](std::uint32_t) { return 4; }).useful());
  // One-way links: a tree that has entered could be unable to go on.
  TopologyBuilder builder(4);
  for (const auto& [from, to, alpha] :
       {std::tuple(0U, 1U, 1), std::tuple(2U, 3U, 1), std::tuple(1U, 2U, 2), std::tuple(3U, 0U, 2)})
    builder.add_link({VertexId(from), VertexId(to), nanoseconds(alpha), gigabytes_per_second(50)});
  const Topology circle = std::move(builder).build().value();
  const Collective four = support::of_megabytes(CollectiveKind::all_gather, 4);
  const PathNetwork one_way({circle, four, Occupancy::serialization});
  EXPECT_FALSE(Regions(one_way, [&](std::uint32_t link) { return circle.alpha(LinkId(link)).count(); }).useful());
}

TEST(PcclRegions, LetTreesEnterEveryBoxOnce) {
  // SW(4)_SW(8): 32 NPUs. A chunk of 1 MB takes 20 us over a rail and 2.2 us inside a box. Each NPU has one port to its
  // rail, over which 28 of the 31 other chunks of a box's four NPUs could come; once per box is 7 for each NPU, at
  // least 7 * 20 us and the last one's second hop, 160 us, and two alphas; then three NPUs more get it.
  const Topology topology = boxes_and_rails("SW(4)_SW(8)");
  const Collective gather = support::of_megabytes(CollectiveKind::all_gather, 32);
  const SynthesisProblem problem{{topology, gather, Occupancy::serialization}};
  const PathsPlan plan = plan_paths(problem).value();
  const Verdict verdict = verify(problem, plan.gathered.schedule);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.collective_time, plan.gathered.time);
  EXPECT_GE(plan.gathered.time, nanoseconds(162'600));
  EXPECT_LE(plan.gathered.time, nanoseconds(162'600 + 20'000));
  std::map<std::pair<std::uint32_t, ChunkId>, int> entries;  // by box
  for (const Send& send : list_sends(plan.gathered.schedule)) {
    const VertexId target = topology.target(send.link);
    if (topology.is_npu(target) && topology.alpha(send.link) > nanoseconds(1000))
      ++entries[std::pair(target.value() / 4, send.chunk)];
  }
  EXPECT_EQ(entries.size(), 7U * 32U);
  for (const auto& [entry, count] : entries) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace tenex
