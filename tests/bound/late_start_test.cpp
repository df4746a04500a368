// Bounds from NPUs that start late, against numbers derived by hand. Chunks of 1 MB, links of 50 GB/s without alpha: 20
// us per chunk and link.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bound/graphs.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;

Collective late_megabytes(CollectiveKind kind, std::size_t npus, std::int64_t chunks) {
  return support::collective(kind, npus, bytes(1'000'000) * (chunks * static_cast<std::int64_t>(npus)), chunks);
}

std::optional<SimTime> late_start(const Topology& topology, const Collective& collective,
                                  const std::vector<StartDelay>& delays) {
  const auto method = std::ranges::find(bound_methods(), "late_start", &BoundMethod::name);
  return method->compute({{topology, collective, Occupancy::serialization}, true, true, delays});
}

TEST(LateStart, IsTheWayFromALateNpu) {
  // Ring of 6: three hops from NPU 1 to NPU 4.
  const auto ring = support::ring(6, SimTime::zero());
  EXPECT_EQ(late_start(ring, late_megabytes(all_gather, 6, 1), {{NpuId(1), microseconds(100)}}), microseconds(160));
  EXPECT_EQ(late_start(ring, late_megabytes(all_gather, 6, 1), {}), std::nullopt);
}

TEST(LateStart, IsWhatMustLeaveLateNpus) {
  // The end of a line sends 5 chunks over one link from 100 us on. Two at the end have 10 chunks from 90 us on.
  const auto line = support::line(4, SimTime::zero());
  const auto gather = late_megabytes(all_gather, 4, 5);
  EXPECT_EQ(late_start(line, gather, {{NpuId(0), microseconds(100)}}), microseconds(200));
  EXPECT_EQ(late_start(line, gather, {{NpuId(1), microseconds(90)}, {NpuId(0), microseconds(100)}}), microseconds(290));
  // Contributions to all 20 sums leave the end of the line, and the last one goes on over two links.
  EXPECT_EQ(late_start(line, late_megabytes(all_reduce, 4, 5), {{NpuId(0), microseconds(100)}}), microseconds(540));
}

TEST(LateStart, IsABroadcastOfAllSums) {
  // The middle of a line of 3 has two links out, for 6 results: 60 us. But each end needs all 6 over one link, after
  // the middle has started: 120 us.
  const auto line = support::line(3, SimTime::zero());
  EXPECT_EQ(late_start(line, late_megabytes(all_reduce, 3, 2), {{NpuId(1), microseconds(100)}}), microseconds(220));
  // An All-Gather needs only the 2 chunks of the late NPU after that. (Counted as leaving over its two links.)
  EXPECT_EQ(late_start(line, late_megabytes(all_gather, 3, 2), {{NpuId(1), microseconds(100)}}), microseconds(120));
  // Of two late NPUs the later one counts, and an end of the line has to send 6 results over one link anyway.
  EXPECT_EQ(
      late_start(line, late_megabytes(all_reduce, 3, 2), {{NpuId(0), microseconds(50)}, {NpuId(1), microseconds(90)}}),
      microseconds(210));
}

TEST(LateStart, DoesNotConcernAnNpuThatHasNothingToSend) {
  const auto line = support::line(4, SimTime::zero());
  const auto broadcast = support::collective(CollectiveKind::broadcast, 4, bytes(1'000'000), 1);
  EXPECT_EQ(late_start(line, broadcast, {{NpuId(3), microseconds(100)}}), SimTime::zero());
  EXPECT_EQ(late_start(line, broadcast, {{NpuId(0), microseconds(100)}}), microseconds(160));
  const auto reduce = support::collective(CollectiveKind::reduce, 4, bytes(1'000'000), 1);
  EXPECT_EQ(late_start(line, reduce, {{NpuId(3), microseconds(100)}}), microseconds(160));
}

}  // namespace
}  // namespace tenex
