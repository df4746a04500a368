// Sizes, bytes and refusals before a topology is built; the range of time.
#include "tenex/topology/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/topologies.hpp"
#include "tenex/topology/time_range.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kShapes[] = {
    "RI(2)",          "RI(7)",     "FC(5)",        "LI(1)",       "SW(1)_LI(3)", "RI(4)_FC(3)_SW(5)", "SW(4)_SW(3)",
    "dragonfly(4,9)", "mesh(3,4)", "hypercube(4)", "slim_fly(3)", "slim_fly(4)", "hyperx(2,3)"};

TEST(TopologyPlan, CountsWhatWillBeBuilt) {
  for (const auto* text : kShapes) {
    for (const std::uint32_t unwind : {0U, 1U, 2U, 9U}) {
      const Topology plain = support::shape(text);
      const Topology built = unwind == 0 ? plain : unwind_switches(plain, unwind).value();
      const auto sizes = sizes_of(parse_shape(text).value(), unwind);
      EXPECT_EQ(sizes.npus, built.npus()) << text << ' ' << unwind;
      EXPECT_EQ(sizes.switches, built.switches()) << text << ' ' << unwind;
      EXPECT_EQ(sizes.links, built.links()) << text << ' ' << unwind;
    }
  }
}

TEST(TopologyPlan, CountsBytesOfTheLargestWithoutBuildingIt) {
  // FC(20000): 20,000 * 19,999 links of 58 B (40 listed, 10 in columns, 8 in two indices), 20,000 NPUs of 32 B.
  const Shape shape = parse_shape("FC(20000)").value();
  EXPECT_EQ(topology_bytes(shape), 399'980'000ULL * 58 + 20'000 * 32);
  // Unwinding keeps the topology that it starts from in memory.
  const Shape switched = parse_shape("SW(1000)").value();
  EXPECT_GT(topology_bytes(switched, 1), topology_bytes(switched));
}

TEST(TopologyPlan, ChecksAsBuildingDoes) {
  const ShapeLinks good{{microseconds(1)}, {gigabytes_per_second(1)}, false};
  for (const auto* text : kShapes) EXPECT_TRUE(check_shape(parse_shape(text).value(), good, 2).empty()) << text;
  const Shape ring = parse_shape("RI(4)").value();
  for (const ShapeLinks& bad : {ShapeLinks{{microseconds(-1)}, {gigabytes_per_second(1)}, false},
                                ShapeLinks{{microseconds(1)}, {bytes_per_second(0)}, false},
                                ShapeLinks{{microseconds(1)}, {bytes_per_second(1)}, true},
                                ShapeLinks{{microseconds(1), microseconds(2)}, {bytes_per_second(1)}, false}}) {
    const auto built = build_topology(ring, bad);
    ASSERT_FALSE(built);
    EXPECT_EQ(to_string(check_shape(ring, bad)), to_string(built.errors()));
  }
  // 100,000 * 99,999 links are more than 32 bits address.
  const auto large = check_shape(parse_shape("FC(100000)").value(), good);
  ASSERT_EQ(large.size(), 1U);
  EXPECT_EQ(large[0].fault, Fault::resource);
}

TEST(TopologyPlan, RefusesAnUnwindingThatLeavesNoBandwidth) {
  const ShapeLinks slow{{microseconds(1)}, {bytes_per_second(3)}, false};
  const Shape shape = parse_shape("SW(8)").value();
  EXPECT_TRUE(check_shape(shape, slow, 3).empty());
  EXPECT_THAT(to_string(check_shape(shape, slow, 4)), HasSubstr("cannot be unwound"));
  EXPECT_FALSE(unwind_switches(build_topology(shape, slow).value(), 4));
  // A degree above the number of neighbours is capped at it: SW(4) has three.
  EXPECT_TRUE(check_shape(parse_shape("SW(4)").value(), slow, 100).empty());
}

TEST(TopologyPlan, DividesBandwidthsAsBuildingDoes) {
  // RI(4): 100 B/s over 2 links. SW(5): 30 B/s for the one link to the switch, over 2 when unwound.
  const ShapeLinks links{{microseconds(1), microseconds(2)}, {bytes_per_second(100), bytes_per_second(30)}, true};
  EXPECT_THAT(
      link_classes(parse_shape("RI(4)_SW(5)").value(), links, 2),
      ElementsAre(LinkClass{microseconds(1), bytes_per_second(50)}, LinkClass{microseconds(2), bytes_per_second(15)}));
}

TEST(TimeRange, EndsAtAQuarterOfWhatPicosecondsReach) {
  EXPECT_EQ(kLongestTime.count(), std::numeric_limits<std::int64_t>::max() / 4 + 1);
  EXPECT_TRUE(fits_time_range(kLongestTime, 1));
  EXPECT_FALSE(fits_time_range(kLongestTime, 2));
  EXPECT_FALSE(fits_time_range(SimTime::max(), 1));
}

TEST(TimeRange, GoesByTheSlowestHop) {
  // line3: 4,000 B take 2 us over 0-1, and 2 + 4 us over 1-2.
  EXPECT_EQ(slowest_hop(support::line3_heterogeneous(), {bytes(1'000), bytes(4'000)}), microseconds(6));
}

}  // namespace
}  // namespace tenex
