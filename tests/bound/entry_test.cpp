// The bound `entry` by hand: ways to a set of NPUs and on from its edge beside what must cross it.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "support/topologies.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {
namespace {

SimTime entry(const BoundProblem& problem) {
  for (const Bound& bound : cheap_bounds(problem))
    if (bound.name == "entry") return bound.time;
  ADD_FAILURE() << "no bound entry";
  return SimTime::zero();
}

/// NPUs 0 and 1, 2 and 3 joined in pairs (1 MB takes 2 us), each with a link to switch 4: 1 us, and 20 us for 1 MB.
Topology bridged_pairs(Forwarding forwarding) {
  TopologyBuilder builder(4);
  builder.add_switch({.forwarding = forwarding});
  for (std::uint32_t npu = 0; npu < 4; ++npu) {
    builder.add_link_pair({VertexId(npu), VertexId(4), microseconds(1), gigabytes_per_second(50)});
    if (npu % 2 == 0)
      builder.add_link_pair({VertexId(npu), VertexId(npu + 1), microseconds(1), gigabytes_per_second(500)});
  }
  return std::move(builder).build().value();
}

/// 1 MB in every chunk, `chunks` from each NPU.
Collective megabytes_of(CollectiveKind kind, std::int64_t chunks = 1) {
  return support::collective(kind, 4, bytes(4'000'000 * chunks), chunks);
}

// All-Gather: two chunks of the other pair enter a pair over two links, 21 us, after 21 us on their way to the switch.
// Reduce-Scatter is its mirror: two sums enter a pair, each with a contribution from two links away.
TEST(Entry, AddsTheWayToTheLinksThatEnter) {
  const auto stored = bridged_pairs(Forwarding::store_and_forward);
  EXPECT_EQ(entry({stored, megabytes_of(CollectiveKind::all_gather)}), microseconds(42));
  EXPECT_EQ(entry({stored, megabytes_of(CollectiveKind::reduce_scatter)}), microseconds(42));
  // All four chunks enter: two over each link, 41 us.
  EXPECT_EQ(entry({stored, megabytes_of(CollectiveKind::all_reduce)}), microseconds(62));
  // With two chunks per NPU four enter in an All-Gather.
  EXPECT_EQ(entry({stored, megabytes_of(CollectiveKind::all_gather, 2)}), microseconds(62));
}

// A switch that passes bytes on while they come takes only the alpha of the link before it.
TEST(Entry, CountsAlphasAloneBeforeSwitchesThatPassOnEarly) {
  const auto early = bridged_pairs(Forwarding::virtual_cut_through);
  EXPECT_EQ(entry({early, megabytes_of(CollectiveKind::all_gather)}), microseconds(22));
  EXPECT_EQ(entry({early, megabytes_of(CollectiveKind::all_reduce)}), microseconds(42));
}

// Where sends may carry several chunks, a switch still has all of a message before it sends any of it.
TEST(Entry, HoldsForMessagesOfSeveralChunks) {
  const auto stored = bridged_pairs(Forwarding::store_and_forward);
  EXPECT_EQ(entry({stored, megabytes_of(CollectiveKind::all_gather), Occupancy::serialization, true, false}),
            microseconds(42));
}

// A line of three, 1 us and 20 us a hop: NPU 0's chunk and NPU 1's enter {2} over one link, the first of them 21 us
// late: 21 + 21. The root's Broadcast goes on from {1}'s links by a hop: two chunks take 41 us into {1, 2}, and 21.
TEST(Entry, AddsTheWayOnToTheFarthestInside) {
  const auto line = support::line(3);
  const SimTime hop = support::kAlpha + nanoseconds(20'000);
  EXPECT_EQ(entry({line, support::collective(CollectiveKind::all_gather, 3, bytes(3'000'000))}), hop * 2);
  const auto broadcast = support::collective(CollectiveKind::broadcast, 3, bytes(2'000'000), 2);
  EXPECT_EQ(entry({line, broadcast}), hop * 2 + nanoseconds(20'000));
}

}  // namespace
}  // namespace tenex
