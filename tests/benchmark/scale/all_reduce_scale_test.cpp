// The All-Reduce of the papers' headline, 40,000 NPUs: one gather, its mirror image as the reduction, every send of
// both checked.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "support/topologies.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

TEST(AllReduceScale, IsVerifiedSendBySendOnA200x200Mesh) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration span) { return std::chrono::duration<double>(span).count(); };
  const auto topology = support::mesh(200, 200);
  const auto collective = support::collective(CollectiveKind::all_reduce, 40'000, mebibytes(40'000));
  const auto begin = Clock::now();
  const auto made =
      find_synthesizer("tacos")->synthesize({topology, collective, Occupancy::transfer, {1, 1, "exact"}, 2}).value();
  const auto middle = Clock::now();
  VerifyOptions options;
  options.threads = 2;
  const Verdict verdict = verify({topology, collective, Occupancy::transfer}, made.without_overlap, options);
  const auto end = Clock::now();
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.sends, 3'199'920'000U);  // 40,000 chunks, to and from 39,999 others
  EXPECT_EQ(verdict.waste, 0U);
  EXPECT_EQ(verdict.reduction_check, "in_tree");
  EXPECT_EQ(verdict.collective_time, made.time_without_overlap);
  // A corner sends 39,999 partial sums over two links, 20,000 steps, and receives as many chunks afterwards.
  const SimTime step = hop_time(topology.classes()[0], collective.chunk_sizes()[0], Occupancy::transfer).busy;
  EXPECT_EQ(made.time_without_overlap, step * 40'000);
  EXPECT_EQ(made.overlap_method, "no_gain");
  std::printf("%.1f s to synthesize, %.1f s to verify, %.3f GB held\n", seconds(middle - begin), seconds(end - middle),
              static_cast<double>(made.without_overlap.memory_bytes()) / 1e9);
}

}  // namespace
}  // namespace tenex
