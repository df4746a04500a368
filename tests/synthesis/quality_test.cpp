// How near TACOS comes to the bound on larger shapes. The efficiencies are floors under what is measured, so that a
// change that loses quality is noticed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "synthesis/synthesis_support.hpp"

namespace tenex {
namespace {

using support::of_megabytes;

double gather_efficiency(const Topology& topology, Occupancy occupancy, std::int64_t chunks, std::uint32_t attempts) {
  const Collective gather = of_megabytes(CollectiveKind::all_gather, topology.npus(), chunks);
  const auto made = support::tacos(topology, gather, occupancy, attempts);
  return support::efficiency(topology, gather, occupancy, made.time);
}

TEST(TacosQuality, MeetsTheBoundOnMeshesAndGrids) {
  EXPECT_EQ(gather_efficiency(support::mesh(10, 10), Occupancy::transfer, 1, 1), 1.0);
  EXPECT_EQ(gather_efficiency(support::mesh(9, 7), Occupancy::transfer, 3, 1), 1.0);
  EXPECT_EQ(gather_efficiency(support::shape("grid(5,5,5)"), Occupancy::transfer, 1, 1), 1.0);
  // The last chunk into a corner waits for alpha on more than one hop; the bound counts alpha once.
  EXPECT_GE(gather_efficiency(support::mesh(10, 10), Occupancy::serialization, 1, 1), 0.999);
}

TEST(TacosQuality, MeetsTheBoundOnA32x32Mesh) {
  EXPECT_EQ(gather_efficiency(support::mesh(32, 32), Occupancy::transfer, 1, 1), 1.0);
}

TEST(TacosQuality, ComesWithin2PercentOnTori) {
  EXPECT_GE(gather_efficiency(support::torus(16, 16), Occupancy::transfer, 1, 4), 0.98);
  EXPECT_GE(gather_efficiency(support::shape("torus(8,8,8)"), Occupancy::transfer, 1, 1), 0.98);
}

TEST(TacosQuality, UsesSlowDimensionsForWhatFastOnesCannotBring) {
  const auto product = [](std::string_view shape, std::vector<Bandwidth> bandwidth) {
    return support::shape(shape, {support::kAlpha}, std::move(bandwidth));
  };
  const auto gbps = gigabytes_per_second;
  for (const Occupancy occupancy : {Occupancy::transfer, Occupancy::serialization}) {
    SCOPED_TRACE(std::string(to_string(occupancy)));
    EXPECT_GE(gather_efficiency(product("mesh(16,16)", {gbps(200), gbps(50)}), occupancy, 1, 2), 0.97);
    EXPECT_GE(gather_efficiency(product("torus(16,16)", {gbps(200), gbps(50)}), occupancy, 1, 2), 0.95);
    EXPECT_GE(gather_efficiency(product("torus(16,16)", {gbps(50), gbps(200)}), occupancy, 2, 2), 0.97);
    EXPECT_GE(gather_efficiency(product("RI(4)_FC(8)_RI(4)", {gbps(200), gbps(100), gbps(50)}), occupancy, 1, 2), 0.9);
  }
}

}  // namespace
}  // namespace tenex
