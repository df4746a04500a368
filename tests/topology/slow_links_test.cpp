// Slowed links: which ones, how much, and what stays.
#include <gtest/gtest.h>

#include "tenex/topology/transform.hpp"

namespace tenex {

namespace {

Topology ring_of(std::uint32_t npus) {
  return build_topology({{{BlockKind::ring, npus}}}, {{microseconds(1)}, {gigabytes_per_second(12)}, false}).value();
}

TEST(SlowLinks, AreThoseOfAnNpuBothWays) {
  const auto slow = slow_links(ring_of(4), {{VertexId(1), std::nullopt, 3000}}).value();
  for (std::size_t i = 0; i < slow.links(); ++i) {
    const auto link = slow.link(LinkId::at(i));
    const bool of_npu = link.source == VertexId(1) || link.target == VertexId(1);
    EXPECT_EQ(link.bandwidth, gigabytes_per_second(of_npu ? 4 : 12)) << i;
    EXPECT_EQ(link.alpha, microseconds(1));
  }
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
  const auto plain = without_shape(slow);
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
