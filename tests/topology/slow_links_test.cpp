// Slowed links: which ones, how much, and what stays.
#include <gtest/gtest.h>

#include "support/topologies.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

namespace {

Topology ring_of(std::uint32_t npus) {
  return build_topology({{support::block("RI", npus)}}, {{microseconds(1)}, {gigabytes_per_second(12)}, false}).value();
}

TEST(SlowLinks, AreThoseOfAnNpuBothWays) {
  const auto slow = slow_links(ring_of(4), {{VertexId(1), std::nullopt, 3000}}).value();
  for (std::size_t i = 0; i < slow.links(); ++i) {
    const auto link = slow.link(LinkId::at(i));
    const bool of_npu = link.source == VertexId(1) || link.target == VertexId(1);
    EXPECT_EQ(link.slowdown, of_npu ? 3000 : kNoSlowdown) << i;
    EXPECT_EQ(slow.bandwidth(LinkId::at(i)), gigabytes_per_second(of_npu ? 4 : 12)) << i;
    EXPECT_EQ(link.bandwidth, gigabytes_per_second(12));
    EXPECT_EQ(link.alpha, microseconds(1));
  }
}

TEST(SlowLinks, StretchTheSerializationTimeAndNotTheBandwidth) {
  // 200 B at 10 kB/s take 20 ms; 1000.5 times that is 20.01 s. Rounding to whole bytes per second would give 9 B/s:
  // 22.22 s.
  const auto slow =
      hop_time({microseconds(1), bytes_per_second(10'000), 1'000'500}, bytes(200), Occupancy::serialization);
  EXPECT_EQ(slow.busy, microseconds(20'010'000));
  EXPECT_EQ(slow.latency, microseconds(20'010'001));
  // 1 B at 3 B/s is a third of a second, rounded up to 333'333'333'334 ps; 1.5 times that is whole.
  EXPECT_EQ(serialization_time(bytes(1), LinkClass{SimTime(), bytes_per_second(3), 1500}),
            picoseconds(500'000'000'001));
  // 3 B/s a million times slower: the bandwidth is still above zero, so nothing divides by zero.
  const LinkClass slowest{SimTime(), bytes_per_second(3), 1'000'000'000};
  EXPECT_EQ(serialization_time(bytes(1), slowest), picoseconds(333'333'333'334'000'000));
  EXPECT_EQ(slowest.effective_bandwidth(), bytes_per_second(1));
  EXPECT_EQ(serialization_time(gibibytes(1), slowest), SimTime::max());
}

TEST(SlowLinks, GoWithTheirSwitchWhenItIsUnwound) {
  // SW(3), 12 GB/s: NPU 0's links take twice as long. Unwound to degree 1, 0->1 and 2->0 go over one of them.
  const auto network =
      build_topology({{support::block("SW", 3)}}, {{microseconds(1)}, {gigabytes_per_second(12)}, false});
  const auto slow = slow_links(*network, {{VertexId(0), std::nullopt, 2000}}).value();
  const auto direct = unwind_switches(slow, 1).value();
  for (std::size_t i = 0; i < direct.links(); ++i) {
    const auto link = direct.link(LinkId::at(i));
    const bool of_npu = link.source == VertexId(0) || link.target == VertexId(0);
    EXPECT_EQ(link.slowdown, of_npu ? 2000 : kNoSlowdown) << i;
    EXPECT_EQ(link.bandwidth, gigabytes_per_second(12)) << i;
  }
}

TEST(SlowLinks, StretchTheLatency) {
  // 1 us times 2.5; the serialization time stays. A latency of 3 ps times 1.001 is 3.003 ps, rounded up to 4.
  const auto slow = slow_links(ring_of(4), {{VertexId(1), VertexId(2), kNoSlowdown, 2500}}).value();
  for (std::size_t i = 0; i < slow.links(); ++i) {
    const auto link = slow.link(LinkId::at(i));
    const bool named = link.source == VertexId(1) && link.target == VertexId(2);
    EXPECT_EQ(link.alpha, nanoseconds(named ? 2500 : 1000)) << i;
    EXPECT_EQ(link.slowdown, kNoSlowdown) << i;
  }
  const auto tiny = slow_links(support::ring(3, picoseconds(3)), {{VertexId(0), std::nullopt, 2000, 1001}}).value();
  for (const LinkId link : tiny.out_links(VertexId(0))) {
    EXPECT_EQ(tiny.alpha(link), picoseconds(4));
    EXPECT_EQ(tiny.link(link).slowdown, 2000);
  }
  // 10^18 ps times 1000 does not fit into 63 bits.
  const auto endless =
      slow_links(support::ring(3, SimTime::of(1'000'000'000'000'000'000)), {{VertexId(0), {}, kNoSlowdown, 1'000'000}});
  EXPECT_EQ(endless->alpha(endless->out_links(VertexId(0)).front()), SimTime::max());
}

TEST(SlowLinks, KeepTheirLatencyWhenTheirSwitchIsUnwound) {
  // SW(4), 1 us; degree 1 joins i with i+1. NPU 0's links take 3 us each, and the one from the switch to NPU 2 takes
  // 1.001 us (1.0005 us in thousandths of 1 us is 1.001). A new link has the latency of the link into the switch, here
  // 3 us from 0 to 1 and 1 us elsewhere, and what is added to the link out: 2 us to NPU 0 and 1 ns to NPU 2.
  const auto network = support::switched(4, microseconds(1));
  const std::vector<Slowdown> slowdowns{{VertexId(0), std::nullopt, kNoSlowdown, 3000},
                                        {VertexId(4), VertexId(2), kNoSlowdown, 1001}};
  const auto slow = slow_links(network, slowdowns).value();
  const auto direct = unwind_switches(slow, 1, slowdowns).value();
  std::vector<SimTime> to(4);
  for (std::size_t i = 0; i < direct.links(); ++i)
    to[direct.target(LinkId::at(i)).index()] = direct.alpha(LinkId::at(i));
  EXPECT_EQ(to, (std::vector{microseconds(3), microseconds(3), nanoseconds(1001), microseconds(1)}));
  // Unslowed networks are unwound as before.
  const auto plain = unwind_switches(network, 1).value();
  for (std::size_t i = 0; i < plain.links(); ++i) EXPECT_EQ(plain.alpha(LinkId::at(i)), microseconds(1));
}

TEST(SlowLinks, AreThoseFromOneVertexToAnother) {
  const auto slow = slow_links(ring_of(4), {{VertexId(1), VertexId(2), 1500}}).value();
  std::size_t slowed = 0;
  for (std::size_t i = 0; i < slow.links(); ++i)
    if (slow.bandwidth(LinkId::at(i)) == gigabytes_per_second(8)) ++slowed;
  EXPECT_EQ(slowed, 1U);
  EXPECT_EQ(slow.classes().size(), 2U);
}

TEST(SlowLinks, TakeTheLargestFactorOfSeveral) {
  const auto slow = slow_links(
      ring_of(4),
      {{VertexId(1), std::nullopt, 2000}, {VertexId(1), VertexId(2), 4000}, {VertexId(2), std::nullopt, 3000}});
  for (const LinkId link : slow->out_links(VertexId(1)))
    EXPECT_EQ(slow->bandwidth(link), gigabytes_per_second(slow->target(link) == VertexId(2) ? 3 : 6));
}

TEST(SlowLinks, KeepTheShapeUntilItIsForgotten) {
  const auto slow = slow_links(ring_of(4), {{VertexId(1), std::nullopt, 2000}}).value();
  ASSERT_TRUE(slow.shape());
  const auto plain = slow.without_shape();
  EXPECT_FALSE(plain.shape());
  EXPECT_EQ(plain.links(), slow.links());
  for (std::size_t i = 0; i < slow.links(); ++i) EXPECT_EQ(plain.link(LinkId::at(i)), slow.link(LinkId::at(i)));
}

TEST(SlowLinks, MustExist) {
  EXPECT_FALSE(slow_links(ring_of(4), {{VertexId(0), VertexId(2), 2000}}));
  EXPECT_FALSE(slow_links(ring_of(4), {{VertexId(4), std::nullopt, 2000}}));
  EXPECT_FALSE(slow_links(ring_of(4), {{VertexId(0), VertexId(9), 2000}}));
}

}  // namespace

}  // namespace tenex
