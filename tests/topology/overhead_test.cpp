// Overheads of messages: which links have them, and what they add to the two times of a send.
#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

constexpr SimTime kOverhead = nanoseconds(300);

TEST(Overhead, BelongsToLinksThatLeaveAnNpu) {
  const auto plain = support::shape("RI(3)_SW(2)");
  const auto costly = with_overhead(plain, kOverhead).value();
  ASSERT_EQ(costly.links(), plain.links());
  EXPECT_EQ(costly.shape(), plain.shape());
  for (std::size_t i = 0; i < plain.links(); ++i) {
    const auto link = costly.link(LinkId::at(i));
    const SimTime own = plain.is_npu(link.source) ? kOverhead : SimTime::zero();
    EXPECT_EQ(link.overhead, own) << i;
    EXPECT_EQ(link.alpha, support::kAlpha + own) << i;
    EXPECT_EQ(link.bandwidth, support::kBandwidth) << i;
  }
}

TEST(Overhead, TakesTheLinkAndDelaysTheMessage) {
  // 50 KB at 50 GB/s take 1 us; alpha is 0.5 us and the overhead 0.3 us.
  const auto topology = with_overhead(support::ring(3), kOverhead).value();
  const LinkClass& link = topology.classes().front();
  EXPECT_EQ(hop_time(link, bytes(50'000), Occupancy::serialization), (HopTime{nanoseconds(1300), nanoseconds(1800)}));
  EXPECT_EQ(hop_time(link, bytes(50'000), Occupancy::transfer), (HopTime{nanoseconds(1800), nanoseconds(1800)}));
}

TEST(Overhead, ComesBeforeTheFirstByteOverASwitchToo) {
  // Store and forward: 0.3 + 0.5 + 1 us up, 0.5 + 1 us down. Virtual cut-through: 0.3 + 0.5 + 0.5 + 1 us.
  const auto stored = with_overhead(support::switched(3), kOverhead).value();
  EXPECT_EQ(arrival_times(stored, VertexId(0), bytes(50'000))[1], nanoseconds(3300));
  const auto early = stored.with_switches({.forwarding = Forwarding::virtual_cut_through});
  EXPECT_EQ(arrival_times(early, VertexId(0), bytes(50'000))[1], nanoseconds(2300));
}

TEST(Overhead, PassesBeforeAWindowMeetsTheBytes) {
  // Twice as slow from 0.3 us to 2.3 us: a message that starts at 0 sends its bytes from 0.3 us on, within the window
  // alone, in 2 us.
  const auto topology = with_overhead(support::ring(3), kOverhead).value();
  const SlowWindow window{nanoseconds(300), nanoseconds(2300), 2000};
  const auto varied = with_slow_windows(topology, {{VertexId(0), VertexId(1), window}}).value();
  const StartedHops hops(varied, {bytes(50'000)}, Occupancy::serialization);
  for (const LinkId link : varied.out_links(VertexId(0))) {
    if (varied.target(link) != VertexId(1)) continue;
    EXPECT_EQ(hops.at(varied.class_of(link), 0, SimTime::zero()), (HopTime{nanoseconds(2300), nanoseconds(2800)}));
  }
}

TEST(Overhead, IsAPartOfAlpha) {
  TopologyBuilder builder(2);
  builder.add_link({VertexId(0), VertexId(1), nanoseconds(100), gigabytes_per_second(1), kNoSlowdown, kOverhead});
  EXPECT_FALSE(std::move(builder).build());
}

}  // namespace
}  // namespace tenex
