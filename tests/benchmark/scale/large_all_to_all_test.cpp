// All-to-Alls of tens of millions of pairs: computed as they are read, and verified pair by pair, in a few megabytes.
#include <gtest/gtest.h>

#include <cstdint>

#include "support/topologies.hpp"
#include "synthesis/pccl/grid/grid.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

// 2048 NPUs have a chunk for each of the other 2048, over the 64 links that cross the middle: 65,536 steps. All pairs
// together make 2 * 4096 * 64 * (64^2 - 1) / 3 = 715,653,120 hops.
TEST(LargeAllToAll, OfAMeshOf4096IsAtTheBoundAndVerified) {
  const Topology mesh = support::mesh(64, 64);
  const auto collective = support::collective(CollectiveKind::all_to_all, 4096, bytes(4096 * 100'000));
  const SynthesisProblem problem{{mesh, collective, Occupancy::transfer}};
  const auto made = grid_all_to_all(problem).value();
  EXPECT_EQ(made.schedule.sends(), 715'653'120U);
  EXPECT_EQ(made.time, nanoseconds(2500) * 65'536);
  EXPECT_EQ(best_cheap_bound({problem}).time, made.time);
  EXPECT_LT(made.schedule.memory_bytes(), std::size_t{4} << 20);
  VerifyOptions options;
  options.threads = 2;
  const Verdict verdict = verify(problem, made.schedule, options);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.sends, made.schedule.sends());
  EXPECT_EQ(verdict.collective_time, made.time);
}

}  // namespace
}  // namespace tenex
