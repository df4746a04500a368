// The exact strength bound: the best partition where there is no switch, the search by multiplicative weights where
// there is, and numbers derived by hand. Chunks of 1 MB, links of 50 GB/s without alpha: 20 us per chunk and link.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "bound/exact/methods.hpp"
#include "bound/graphs.hpp"
#include "tenex/bound/strength.hpp"

namespace tenex {
namespace {

constexpr SimTime kStrengthsStep = microseconds(20);
constexpr std::uint64_t kStrengthWork = 100'000'000;
constexpr std::int64_t kStrengthChunks = 1000;

Collective all_reduce_in_chunks(std::size_t npus) {
  return support::collective(CollectiveKind::all_reduce, npus,
                             bytes(1'000'000) * (kStrengthChunks * static_cast<std::int64_t>(npus)), kStrengthChunks);
}

SimTime fluid_strength_time(const Topology& topology) {
  const auto collective = all_reduce_in_chunks(topology.npus());
  const BoundProblem problem{{topology, collective, Occupancy::serialization}};
  const auto found = exact_strength_bound(problem).value();
  EXPECT_EQ(check_strength(problem, found.weights), found.time);
  return found.time;
}

double searched(const Topology& topology) {
  const auto collective = all_reduce_in_chunks(topology.npus());
  return static_cast<double>(
      strength_bound({{topology, collective, Occupancy::serialization}}, kStrengthWork).value().time.count());
}

RC_GTEST_PROP(ExactStrengthProperties, IsTheBestPartition, ()) {
  const auto topology = support::random_graph(*rc::gen::inRange<std::uint32_t>(2, 9), 0);
  const double ratio = static_cast<double>(fluid_strength_time(topology).count()) / searched(topology);
  RC_ASSERT(ratio > 1 - 1e-5 && ratio < 1 + 1e-3);  // whole chunks round up
  RC_ASSERT(!testing::Test::HasFailure());
}

RC_GTEST_PROP(ExactStrengthProperties, IsNotBelowTheSearchWithPlainSwitches, ()) {
  const auto npus = *rc::gen::inRange<std::uint32_t>(2, 7);
  const auto topology = support::random_graph(npus, *rc::gen::inRange<std::uint32_t>(1, 4));
  RC_ASSERT(static_cast<double>(fluid_strength_time(topology).count()) > searched(topology) * (1 - 1e-3));
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(ExactStrength, OfAPlainSwitchCountsBothOfItsLinks) {
  // Eight NPUs on a switch: per chunk 2 * 7 ways of two links each, on 16 links: 1.75 steps.
  EXPECT_EQ(fluid_strength_time(support::switched(8, SimTime::zero())), kStrengthsStep * (8 * kStrengthChunks * 7 / 4));
}

TEST(ExactStrength, MixesSwitchesAndDirectLinks) {
  // A ring of four NPUs that also have a link pair each to a plain switch. With weights of 2 on the links between NPUs
  // and 1 on those of the switch, every way weighs 2: 2 * 3 * 2 per chunk, over 8 * 2 + 8 * 1. That is 1/2 step.
  TopologyBuilder builder(4);
  builder.add_switch();
  for (std::uint32_t npu = 0; npu < 4; ++npu) {
    builder.add_link_pair(support::link(npu, (npu + 1) % 4));
    builder.add_link_pair(support::link(npu, 4));
  }
  EXPECT_EQ(fluid_strength_time(std::move(builder).build().value()), kStrengthsStep * (4 * kStrengthChunks / 2));
}

TEST(ExactStrength, IsOfAllNpusAndPlainSwitches) {
  const auto line = support::line(4, SimTime::zero());
  const auto part = support::collective(CollectiveKind::all_reduce, 4, bytes(2'000'000), 1, "0,3");
  EXPECT_FALSE(exact_strength_bound({{line, part, Occupancy::serialization}}));
  TopologyBuilder builder(2);
  builder.add_switch({true, true});
  builder.add_link_pair(support::link(0, 2));
  builder.add_link_pair(support::link(2, 1));
  const auto adding = std::move(builder).build().value();
  EXPECT_FALSE(exact_strength_bound({{adding, all_reduce_in_chunks(2), Occupancy::serialization}}));
}

}  // namespace
}  // namespace tenex
