// Estimates of training points from the communications of their workloads, and points refused before any work.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "evaluate/training_points.hpp"
#include "support/draws.hpp"

namespace tenex {
namespace {

using support::phase_text;
using support::training_point;
using support::with;
using support::Words;
using support::workload_text;

Words big(const std::string& algorithm) {
  return {{"workload", "msft_1t"},
          {"batch_rule", "machine"},
          {"compute", "234TFLOPS"},
          {"training_loop", "tp_dp_overlap"},
          {"collective_time", "synthesized"},
          {"contention", "links"},
          {"chunks", "1"},
          {"alpha", "0.5us"},
          {"total_bandwidth", "500GB/s"},
          {"scheme", "equal"},
          {"topology", "FC(8)_RI(16)_SW(320)"},
          {"hp", "64,640"},
          {"algorithm", algorithm}};
}

// DP-640 spans two of RI(16), 8 apart, and SW(320): 8 groups of 640 in a copy, 8 copies. Over all ordered pairs of a
// group, equal ones included, half are 8 hops apart on the ring, and 319 of 320 are 2 hops apart through the switch:
// 640*640*(4 + 2*319/320) hops per pass and group, 2 passes, 8 groups: 39,280,640. Sorting holds every send twice, in
// the 8 copies and in the list of one: 39,280,640 * 9 * 64 bytes (a Send has 32) = 22.6 GB, in a quarter of the limit.
constexpr double kBytesOfBig = 4 * 39'280'640.0 * 9 * 2 * 32;

TEST(EstimateOfTraining, AsksForTheLimitThatTheSendsOfAllCopiesNeed) {
  for (const auto* algorithm : {"auto", "direct"}) {
    const auto cost = estimate(training_point(big(algorithm)), std::size_t{8'000'000'000});
    EXPECT_NEAR(static_cast<double>(cost.bytes), kBytesOfBig, 1e-3 * kBytesOfBig) << algorithm;
  }
}

TEST(EstimateOfTraining, GrowsWithContentionAndWithChunks) {
  const auto words = with(with(big("tacos"), "topology", "FC(4)_RI(8)_SW(8)"), "hp", "16,16");
  const auto shared = estimate(training_point(words));
  const auto alone = estimate(training_point(with(words, "contention", "none")));
  const auto more = estimate(training_point(with(words, "chunks", "4")));
  EXPECT_GT(shared.seconds, alone.seconds);
  EXPECT_GE(shared.bytes, alone.bytes);
  EXPECT_GT(more.seconds, shared.seconds);
  EXPECT_GT(more.bytes, shared.bytes);
}

TEST(EstimateOfTraining, CountsWhatTheWorkloadCommunicates) {
  const auto tensor = phase_text("forward", "all_gather", "1MiB", "tensor");
  const auto data = phase_text("weight_gradient", "all_gather", "1MiB", "data");
  const support::Files files{{"one.toml", workload_text(tensor)}, {"two.toml", workload_text(tensor + data)}};
  const Words words{{"topology", "SW(64)"},  {"alpha", "0ns"}, {"npu_bandwidth", "2GB/s"},        {"hp", "8,8"},
                    {"algorithm", "direct"}, {"chunks", "1"},  {"collective_time", "synthesized"}};
  const auto one = estimate(training_point(with(words, "workload", "one.toml"), files));
  const auto two = estimate(training_point(with(words, "workload", "two.toml"), files));
  // Both scopes have 8 groups of 8 through one switch, so they cost the same beside the formula.
  EXPECT_NEAR(two.seconds - one.seconds, one.seconds - seconds_of(WorkUnit::formula), 1e-9);
}

TEST(RefusalBeforeWork, NamesTheLimitAndSynthesizesNothing) {
  EvaluateOptions options;
  options.memory_limit_bytes = 8'000'000'000;
  const auto row = support::row_of(training_point(big("direct")), options);
  EXPECT_EQ(row.status, PointStatus::out_of_memory);
  EXPECT_NE(row.reason.find("need a limit of at least"), std::string::npos) << row.reason;
  EXPECT_NE(row.reason.find("9050259"), std::string::npos) << row.reason;  // one send fewer by rounding
  EXPECT_EQ(row.synthesis_seconds + row.simulation_seconds + row.verification_seconds, 0);
}

TEST(RefusalBeforeWork, LeavesAllPointsThatFit) {
  // With a limit of twice its planned bytes, a replay fits its half of the limit. A point that is ok there must not be
  // refused, so the fewest sends may not need more than the replay.
  std::vector<const char*> topologies{"RI(8)_RI(8)_SW(4)"};
  if (support::long_run()) topologies.insert(topologies.end(), {"FC(4)_RI(8)_SW(8)", "RI(4)_LI(8)_SW(8)"});
  for (const auto* topology : topologies)
    for (const auto* algorithm : {"tacos", "ring_unidirectional"}) {
      const auto point = training_point(with(with(big(algorithm), "topology", topology), "hp", "16,16"));
      EvaluateOptions options;
      options.memory_limit_bytes = 2'000'000'000;
      const auto roomy = support::row_of(point, options);
      ASSERT_EQ(roomy.status, PointStatus::ok) << topology << algorithm << roomy.reason;
      bool fitted = false;
      for (std::size_t limit = 1'000'000'000; limit > 1'000'000; limit /= 2) {
        options.memory_limit_bytes = limit;
        const auto row = support::row_of(point, options);
        const bool early = row.reason.find("need a limit of at least") != std::string::npos;
        fitted = fitted || row.status == PointStatus::ok;
        if (!early) continue;
        // Refused early only if a quarter of the limit is less than the bytes that the replay planned.
        EXPECT_GT(4 * roomy.memory_planned_bytes, static_cast<std::int64_t>(limit)) << topology << algorithm;
        break;
      }
      EXPECT_TRUE(fitted) << topology << algorithm;
    }
}

}  // namespace
}  // namespace tenex
