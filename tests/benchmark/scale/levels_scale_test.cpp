// The exact engine on large meshes and grids whose dimensions differ in bandwidth.
#include <gtest/gtest.h>

#include <vector>

#include "support/topologies.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

/// Synthesizes on two threads and verifies; returns bound / time.
double gather_efficiency(std::string_view shape, const std::vector<int>& gbps, Occupancy occupancy) {
  std::vector<Bandwidth> bandwidth;
  for (const int each : gbps) bandwidth.push_back(gigabytes_per_second(each));
  const auto topology = support::shape(shape, {support::kAlpha}, bandwidth);
  const auto n = static_cast<std::int64_t>(topology.npus());
  const auto gather = support::collective(CollectiveKind::all_gather, topology.npus(), bytes(1'000'000 * n));
  const auto made = find_synthesizer("tacos")->synthesize({topology, gather, occupancy, {1, 1, "exact"}, 2}).value();
  const auto verdict = verify({topology, gather, occupancy}, made.schedule);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.collective_time, made.time);
  EXPECT_EQ(made.schedule.sends(), static_cast<std::uint64_t>(n * (n - 1)));
  const SimTime bound = best_cheap_bound({topology, gather, occupancy, true}).time;
  return static_cast<double>(bound.count()) / static_cast<double>(made.time.count());
}

TEST(LevelsScale, ComesWithinHalfAPercentOn10000NpusOfTwoBandwidths) {
  EXPECT_GE(gather_efficiency("mesh(100,100)", {200, 50}, Occupancy::transfer), 0.995);
  EXPECT_GE(gather_efficiency("mesh(100,100)", {100, 200}, Occupancy::serialization), 0.995);
}

TEST(LevelsScale, ComesWithinHalfAPercentOn4096NpusOfThreeBandwidths) {
  for (const auto occupancy : {Occupancy::transfer, Occupancy::serialization})
    EXPECT_GE(gather_efficiency("grid(16,16,16)", {200, 100, 50}, occupancy), 0.995);
}

}  // namespace
}  // namespace tenex
