// Bandwidth that varies with time: hops by hand, the order of arrivals, and what links get which windows.
#include "tenex/topology/slow_windows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/topology/time_range.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;

constexpr SimTime kHop = microseconds(20);

SlowWindow window(std::int64_t from_us, std::int64_t until_us, std::int64_t thousandths) {
  return {microseconds(from_us), microseconds(until_us), thousandths};
}

// 20 us of bytes. From 30 us until 50 us, a third of the speed.
TEST(SlowWindows, SlowWhatLeavesWithinThem) {
  const SlowWindows windows{window(30, 50, 3000)};
  EXPECT_EQ(time_through(windows, SimTime::zero(), kHop), kHop);                     // over before
  EXPECT_EQ(time_through(windows, microseconds(10), kHop), kHop);                    // over as it begins
  EXPECT_EQ(time_through(windows, microseconds(14), kHop), kHop + microseconds(8));  // 4 us of it take 12
  EXPECT_EQ(time_through(windows, microseconds(20), kHop), microseconds(10 + 20) + picoseconds(3'333'334));
  EXPECT_EQ(time_through(windows, microseconds(30), kHop), microseconds(20) + picoseconds(13'333'334));
  EXPECT_EQ(time_through(windows, microseconds(49), kHop), microseconds(1) + picoseconds(19'666'667));
  EXPECT_EQ(time_through(windows, microseconds(50), kHop), kHop);
  EXPECT_EQ(time_through(windows, microseconds(40), SimTime::zero()), SimTime::zero());
}

// Half the speed from 0 to 10 us and from 20 us to 30 us: 5 + 10 us of bytes by 20 us, the last 5 by 30.
TEST(SlowWindows, FollowEachOther) {
  const SlowWindows windows{window(0, 10, 2000), window(20, 30, 2000)};
  EXPECT_EQ(time_through(windows, SimTime::zero(), kHop), microseconds(30));
  EXPECT_EQ(time_through(windows, SimTime::zero(), microseconds(21)), microseconds(31));
}

TEST(SlowWindows, SaturateWhereTimesDoNotFit) {
  const SlowWindows windows{{SimTime::zero(), SimTime::max(), 1'000'000'000}};
  EXPECT_EQ(time_through(windows, SimTime::zero(), microseconds(1) * 1'000'000'000), SimTime::max());
}

// A send that starts later ends no sooner, and no send is faster than outside; one that crosses no window is as fast.
TEST(SlowWindowsProperty, KeepTheOrderOfSends) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed, 0x77696e64);
    SlowWindows windows;
    SimTime at;
    for (std::uint32_t i = 0; i < 1 + random.below(4); ++i) {
      const SimTime from = at + picoseconds(random.below(40));
      at = from + picoseconds(1 + random.below(60));
      windows.push_back({from, at, 1001 + random.below(5000)});
    }
    const SimTime outside = picoseconds(random.below(80));
    SimTime before;
    for (SimTime start; start < at + picoseconds(20); start += picoseconds(1)) {
      const SimTime taken = time_through(windows, start, outside);
      ASSERT_GE(taken, outside) << seed;
      ASSERT_GE(start + taken, before) << seed;
      before = start + taken;
      const auto meets = [&](const SlowWindow& each) { return each.from < start + taken && start < each.until; };
      const bool meets_one = std::ranges::any_of(windows, meets);
      ASSERT_TRUE(meets_one || taken == outside) << seed;
    }
  }
}

TEST(SlowWindows, OfALinkThatOverlapTakeTheLargerFactor) {
  const auto varied = with_slow_windows(support::ring(3), {{VertexId(0), VertexId(1), window(10, 30, 2000)},
                                                           {VertexId(0), VertexId(1), window(20, 40, 3000)},
                                                           {VertexId(0), VertexId(1), window(40, 50, 3000)}})
                          .value();
  EXPECT_TRUE(varied.varies());
  EXPECT_TRUE(varied.shape().has_value());
  for (std::size_t l = 0; l < varied.links(); ++l) {
    const auto windows = varied.windows(varied.class_of(LinkId::at(l)));
    if (varied.source(LinkId::at(l)) == VertexId(0) && varied.target(LinkId::at(l)) == VertexId(1))
      EXPECT_THAT(windows, ElementsAre(window(10, 20, 2000), window(20, 50, 3000)));
    else
      EXPECT_TRUE(windows.empty());
  }
  EXPECT_FALSE(varied.homogeneous());
  EXPECT_FALSE(varied.without_windows().varies());
  EXPECT_TRUE(varied.without_windows().homogeneous());
}

TEST(SlowWindows, OfAnNpuAreThoseOfItsLinksBothWays) {
  const auto varied = with_slow_windows(support::ring(4), {{VertexId(1), std::nullopt, window(1, 2, 2000)}}).value();
  for (std::size_t l = 0; l < varied.links(); ++l) {
    const auto link = LinkId::at(l);
    const bool of_npu = varied.source(link) == VertexId(1) || varied.target(link) == VertexId(1);
    EXPECT_EQ(varied.windows(varied.class_of(link)).size(), of_npu ? 1U : 0U);
  }
  EXPECT_EQ(varied.without(std::vector<bool>{true, false, false, false, false, false, false, false}).varies(), true);
}

TEST(SlowWindows, RefuseLinksThatDoNotExist) {
  EXPECT_EQ(with_slow_windows(support::ring(4), {{VertexId(0), VertexId(2), window(1, 2, 2000)}}).errors()[0].problem,
            "no link leads from 0 to 2");
  EXPECT_FALSE(with_slow_windows(support::ring(4), {{VertexId(9), std::nullopt, window(1, 2, 2000)}}).ok());
}

// What knows no windows must not take such a link for one whose bandwidth does not vary.
TEST(SlowWindows, AreNotForgotten) {
  const auto varied = with_slow_windows(support::ring(3), {{VertexId(0), VertexId(1), window(1, 2, 2000)}}).value();
  EXPECT_THROW(HopTimes(varied, {bytes(1)}, Occupancy::transfer), InvariantError);
  EXPECT_THROW((void)slow_links(varied, {}), InvariantError);
}

// 1 MB at 50 GB/s takes 20 us, and 1.5 times that in the window; `transfer` is busy for the latency, too.
TEST(StartedHops, DependOnTheStartInWindowsAlone) {
  const auto varied = with_slow_windows(support::line(2), {{VertexId(0), VertexId(1), window(40, 100, 1500)}}).value();
  const auto slow = varied.class_of(varied.out_links(VertexId(0))[0]);
  const auto plain = varied.class_of(varied.out_links(VertexId(1))[0]);
  for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
    const SimTime alpha = occupancy == Occupancy::transfer ? support::kAlpha : SimTime::zero();
    const StartedHops hops(varied, {bytes(1'000'000)}, occupancy);
    EXPECT_EQ(hops.at(slow, 0, SimTime::zero()), (HopTime{kHop + alpha, kHop + support::kAlpha}));
    EXPECT_EQ(hops.at(slow, 0, microseconds(50)),
              (HopTime{microseconds(30) + alpha, microseconds(30) + support::kAlpha}));
    EXPECT_EQ(hops.at(plain, 0, microseconds(50)), (HopTime{kHop + alpha, kHop + support::kAlpha}));
  }
  EXPECT_EQ(slowest_hop(varied, {bytes(1'000'000)}), microseconds(30) + support::kAlpha);
}

}  // namespace
}  // namespace tenex
