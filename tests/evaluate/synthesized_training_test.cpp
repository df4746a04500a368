// Whole training points whose collectives are synthesized or simulated on the real topology.
#include <gtest/gtest.h>

#include <string>

#include "evaluate/training_points.hpp"

namespace tenex {
namespace {

using support::Files;
using support::phase_text;
using support::training_row;
using support::with;
using support::Words;
using support::workload_text;

const Files kGathers{{"gathers.toml", workload_text(phase_text("input_gradient", "all_gather", "2000B", "tensor") +
                                                    phase_text("weight_gradient", "all_gather", "4000B", "data"))}};

const Files kExchange{{"exchange.toml", workload_text(phase_text("input_gradient", "all_to_all", "1MB", "tensor"))}};

// On mesh(4,4) a chunk of 62,500 B takes 1.25 us per hop, and arrives 0.5 us later: 1.4 slots, rounded up to 2 until
// the plan is re-timed. The rows are those of their own settings, whatever the cache has seen.
TEST(SynthesizedTraining, ImprovesPlansAsAskedWhateverWasEvaluatedBefore) {
  const auto point = [](const char* improve) {
    return support::training_point({{"workload", "exchange.toml"},
                                    {"topology", "mesh(4,4)"},
                                    {"alpha", "0.5us"},
                                    {"bandwidth", "50GB/s"},
                                    {"hp", "16,1"},
                                    {"algorithm", "pccl"},
                                    {"engine", "paths"},
                                    {"improve", improve},
                                    {"collective_time", "synthesized"}},
                                   kExchange);
  };
  Cache cache;
  const auto plain = evaluate(point("none"), cache, {}).row;
  const auto better = evaluate(point("all"), cache, {}).row;
  ASSERT_EQ(plain.status, PointStatus::ok) << plain.reason;
  EXPECT_LT(better.training_time_ps, plain.training_time_ps);
  EXPECT_EQ(better.training_time_ps, support::row_of(point("all")).training_time_ps);
}

// The file is for TP-1, so TP-2 halves the bytes that replicas exchange. SW(4): TP pairs 0-1 and 2-3, DP pairs 0-2 and
// 1-3. A gather moves 1000 bytes into the switch and out of it, at 2 GB/s 500 ns each: 1 us.
const Words kSwitch{{"workload", "gathers.toml"},
                    {"topology", "SW(4)"},
                    {"alpha", "0ns"},
                    {"npu_bandwidth", "2GB/s"},
                    {"hp", "2,2"},
                    {"algorithm", "direct"},
                    {"chunks", "1"},
                    {"collective_time", "synthesized"}};

TEST(SynthesizedTraining, AddsUpVerifiedCollectives) {
  const auto row = training_row(kSwitch, kGathers);
  EXPECT_EQ(row.training_time_ps, 2'000'000);
  EXPECT_EQ(row.input_gradient_exposed_ps, 1'000'000);
  EXPECT_EQ(row.weight_gradient_exposed_ps, 1'000'000);
  EXPECT_EQ(row.verified, Verified::yes);
  EXPECT_EQ(row.bound_name, "collectives");
  EXPECT_LE(row.bound_ps, row.training_time_ps);
}

TEST(SynthesizedTraining, LetsOverlappedStreamsShareTheirLinksOrNot) {
  const auto overlapped = with(kSwitch, "training_loop", "tp_dp_overlap");
  EXPECT_EQ(training_row(overlapped, kGathers).training_time_ps, 1'000'000);
  // Into the switch TP 0-500 ns, DP 500-1000; out of it TP 500-1000, DP 1000-1500.
  const auto shared = training_row(with(overlapped, "contention", "links"), kGathers);
  EXPECT_EQ(shared.training_time_ps, 1'500'000);
  EXPECT_EQ(shared.verified, Verified::yes);
}

// The switch passes bytes on while they arrive: a gather takes 500 ns. Side by side: into the switch and out of it TP
// 0-500 ns, DP 500-1000.
TEST(SynthesizedTraining, MeetsSwitchesThatPassChunksOnWhileTheyArrive) {
  const auto early = with(kSwitch, "forwarding", "virtual_cut_through");
  const auto row = training_row(early, kGathers);
  EXPECT_EQ(row.training_time_ps, 1'000'000);
  EXPECT_EQ(row.verified, Verified::yes);
  EXPECT_LE(row.bound_ps, row.training_time_ps);
  const auto shared = with(with(early, "training_loop", "tp_dp_overlap"), "contention", "links");
  EXPECT_EQ(training_row(shared, kGathers).training_time_ps, 1'000'000);
}

// tacos takes the switch for a ring, and is played on the switch by its rule. A chunk of a TP pair needs up to 3 hops
// of the ring, one of a DP pair 2. A hop takes 1 us where the switch stores and 500 ns where it passes bytes on.
TEST(SynthesizedTraining, PlaysUnwoundSchedulesOnSwitchesThatPassChunksOnWhileTheyArrive) {
  const auto tacos = with(kSwitch, "algorithm", "tacos");
  EXPECT_EQ(training_row(tacos, kGathers).training_time_ps, 5'000'000);
  EXPECT_EQ(training_row(with(tacos, "forwarding", "virtual_cut_through"), kGathers).training_time_ps, 2'500'000);
}

TEST(SynthesizedTraining, TrainsGpt3WithContentionNoFasterThanWithout) {
  Words words{{"workload", "gpt3"},
              {"topology", "RI(4)_RI(4)_FC(2)"},
              {"alpha", "500ns"},
              {"npu_bandwidth", "100GB/s"},
              {"hp", "8,4"},
              {"chunks", "2"},
              {"collective_time", "synthesized"},
              {"training_loop", "tp_dp_overlap"}};
  for (const std::string algorithm : {"tacos", "auto"}) {
    words = with(words, "algorithm", algorithm);
    const auto alone = training_row(words);
    const auto shared = training_row(with(words, "contention", "links"));
    EXPECT_GE(shared.training_time_ps, alone.training_time_ps);
    EXPECT_EQ(shared.verified, Verified::yes);
    EXPECT_EQ(shared.bound_ps, alone.bound_ps);
  }
}

TEST(SynthesizedTraining, GivesEqualRowsForAnyThreadsAndAnyCache) {
  const auto words = with(with(kSwitch, "training_loop", "tp_dp_overlap"), "contention", "links");
  const auto point = support::training_point(words, kGathers);
  Cache small(0);
  Cache large;
  EvaluateOptions several;
  several.threads = 3;
  const auto first = evaluate(point, large, {}).row;
  for (const auto& row :
       {evaluate(point, small, {}).row, evaluate(point, large, {}).row, evaluate(point, large, several).row}) {
    for (std::size_t column = 0; column < metric_columns().size(); ++column) {
      if (metric_columns()[column].measured) continue;
      const auto expected = metric_value(first, column);
      const auto actual = metric_value(row, column);
      if (const auto* real = std::get_if<double>(&expected); real != nullptr && *real != *real) continue;
      EXPECT_EQ(actual, expected) << metric_columns()[column].name;
    }
  }
}

}  // namespace
}  // namespace tenex
