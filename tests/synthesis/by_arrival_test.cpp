// tacos delivery by delivery, the earliest arrival first: valid on any network whose links differ, and worth its place.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "support/topologies.hpp"
#include "support/verdicts.hpp"
#include "synthesis/synthesis_support.hpp"
#include "synthesis/tacos/event_driven/event_driven.hpp"

namespace tenex {
namespace {

TEST(ByArrival, IsValidWhereverLinksDiffer) {
  int made = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
      const Topology topology = support::random_connected_topology(seed, 12, true);
      const Collective gather =
          support::of_megabytes(CollectiveKind::all_gather, topology.npus(), 1 + static_cast<int>(seed % 3));
      SynthesisProblem problem{{topology, gather, occupancy}, {seed, 3}};
      if (!by_arrival_unsuitable(problem).empty()) continue;
      const auto gathered = gather_by_arrival(problem);
      ASSERT_TRUE(gathered.ok());
      const Verdict verdict = verify(problem, gathered->schedule);
      EXPECT_TRUE(verdict.valid()) << seed << support::first_finding(verdict);
      EXPECT_EQ(verdict.waste, 0U);
      EXPECT_EQ(verdict.collective_time, gathered->time);
      ++made;
    }
  EXPECT_GT(made, 60);
}

// By hand: links 0 -> 1 and 1 -> 2 take 1 us for a chunk, 0 -> 2 takes 3 us. From start to start the slow link would
// begin with NPU 0's chunk, which comes over NPU 1 at 2 us. In the order of arrivals NPU 2 has the chunks of 1 and 0 at
// 1 and 2 us, and the slow link stays idle.
TEST(ByArrival, LeavesASlowLinkIdleRatherThanLate) {
  const auto link = [](std::uint32_t from, std::uint32_t to, int speed) {
    return Link{VertexId(from), VertexId(to), SimTime::zero(), gigabytes_per_second(speed)};
  };
  const Topology topology = support::graph(
      3, {link(0, 1, 60), link(1, 0, 60), link(1, 2, 60), link(2, 1, 60), link(0, 2, 20), link(2, 0, 20)});
  const Collective gather = support::collective(CollectiveKind::all_gather, 3, bytes(180'000));
  const auto gathered = gather_by_arrival({{topology, gather}});
  ASSERT_TRUE(gathered.ok());
  EXPECT_EQ(gathered->time, microseconds(2));
  EXPECT_EQ(gathered->schedule.sends(), 6U);
}

TEST(ByArrival, IsForWholeGathersOverLinksThatDiffer) {
  const Topology mesh = support::mesh(3, 3);
  EXPECT_NE(by_arrival_unsuitable({{mesh, support::of_megabytes(CollectiveKind::all_gather, 9)}}), "");
  const Topology unlike = support::random_connected_topology(3, 12, true);
  const auto npus = unlike.npus();
  EXPECT_EQ(by_arrival_unsuitable({{unlike, support::of_megabytes(CollectiveKind::all_gather, npus)}}), "");
  EXPECT_NE(by_arrival_unsuitable({{unlike, support::of_megabytes(CollectiveKind::broadcast, npus)}}), "");
  const auto two = support::collective(CollectiveKind::all_gather, npus, support::kMegabyte * 2, 1, "0,1");
  EXPECT_NE(by_arrival_unsuitable({{unlike, two}}), "");
}

}  // namespace
}  // namespace tenex
