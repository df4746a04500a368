// Training points under simulated multi-rail collectives: examples by hand, parts of dimensions, messages, sharing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "evaluate/training_points.hpp"

namespace tenex {
namespace {

using support::Files;
using support::phase_text;
using support::training_point;
using support::training_row;
using support::with;
using support::Words;
using support::workload_text;

const Files kPipelineFiles{
    {"sum.toml", workload_text(phase_text("weight_gradient", "all_reduce", "8000B", "data"))},
    {"shards.toml", workload_text(phase_text("weight_gradient", "all_reduce", "8000B", "data"), "tensor = 2\n")},
    {"gather.toml", workload_text(phase_text("forward", "all_gather", "4000B", "tensor"), "tensor = 4\n")},
    {"exchange.toml", workload_text(phase_text("forward", "all_to_all", "4000B", "world"))},
    {"stages.toml", workload_text(phase_text("forward", "point_to_point", "1000B", "pipeline"))},
    {"byte.toml", workload_text(phase_text("weight_gradient", "all_reduce", "1B", "data"))},
    {"large.toml", workload_text(phase_text("weight_gradient", "all_reduce", "1GB", "data"))}};
const Words kPair{{"workload", "sum.toml"},   {"topology", "RI(2)"},           {"hp", "1,2"},
                  {"npu_bandwidth", "1GB/s"}, {"collective_time", "pipeline"}, {"alpha", "1us"}};
/// LIBRA's formula does not use latency.
const Words kPairByFormula{{"workload", "sum.toml"},
                           {"topology", "RI(2)"},
                           {"hp", "1,2"},
                           {"npu_bandwidth", "1GB/s"},
                           {"collective_time", "libra"}};

TEST(Pipeline, FillsAndDrains) {
  // Two NPUs, 4 chunks of 1000 B each way: 1 us each, 1 us of latency. Reductions are sent in [0, 4) us and arrive at
  // 2, 3, 4, 5; gathers follow in [4, 8) us, the last arrives at 9 us. LIBRA: 8 us.
  const auto row = training_row(with(kPair, "chunks", "4"), kPipelineFiles);
  EXPECT_EQ(row.training_time_ps, 9'000'000);
  EXPECT_EQ(row.weight_gradient_exposed_ps, 9'000'000);
  EXPECT_EQ(row.verified, Verified::yes);
  // One chunk of 4000 B: sent until 4 us, there at 5, gathered until 9, there at 10 us.
  EXPECT_EQ(training_row(with(kPair, "chunks", "1"), kPipelineFiles).training_time_ps, 10'000'000);
  EXPECT_EQ(training_row(kPairByFormula, kPipelineFiles).training_time_ps, 8'000'000);
}

TEST(Pipeline, OfOneDimensionIsTheSameUnderThemis) {
  const auto row = training_row(with(with(kPair, "chunks", "4"), "collective_time", "themis"), kPipelineFiles);
  EXPECT_EQ(row.training_time_ps, 9'000'000);
}

TEST(Pipeline, UsesTheLinksThatAGroupHas) {
  // 4 of FC(8) at 7 GB/s per NPU: 1 GB/s to each; 1000 B to three others at once take 1 us and the latency.
  const Words words{{"workload", "gather.toml"}, {"topology", "FC(8)"},           {"hp", "4,2"},
                    {"npu_bandwidth", "7GB/s"},  {"collective_time", "pipeline"}, {"alpha", "500ns"}};
  EXPECT_EQ(training_row(words, kPipelineFiles).training_time_ps, 1'500'000);
}

TEST(Pipeline, ExchangesUnderBothOrders) {
  // 4 on FC at 3 GB/s per NPU: 1000 B to each of three others, one link each: 1 us.
  const Words words{{"workload", "exchange.toml"}, {"topology", "FC(4)"},           {"hp", "1,4"},
                    {"npu_bandwidth", "3GB/s"},    {"collective_time", "pipeline"}, {"alpha", "0us"}};
  EXPECT_EQ(training_row(words, kPipelineFiles).training_time_ps, 1'000'000);
  EXPECT_EQ(training_row(with(words, "collective_time", "themis"), kPipelineFiles).training_time_ps, 1'000'000);
}

TEST(Pipeline, SendsMessagesOverOneLinkPerDimension) {
  // 4 stages on a ring at 2 GB/s per NPU, 1 GB/s per link: 1000 B take 1 us and 1 us of latency; 4 stages take 3 turns
  // more.
  const Words words{{"workload", "stages.toml"}, {"topology", "RI(4)"},           {"hp", "1,1,4"},
                    {"npu_bandwidth", "2GB/s"},  {"collective_time", "pipeline"}, {"alpha", "1us"}};
  const auto row = training_row(words, kPipelineFiles);
  EXPECT_EQ(row.forward_exposed_ps, 2'000'000);
  EXPECT_EQ(row.bubble_ps, 6'000'000);
  EXPECT_EQ(row.training_time_ps, 8'000'000);
  // On a switch at 1 GB/s in 2 pieces of 500 B: 0.5 + 1 us for the first piece over the first link, 0.5 us more for the
  // last piece, and 1 + 0.5 us for it over the second link.
  const auto switched = training_row(
      with(with(with(words, "topology", "SW(4)"), "npu_bandwidth", "1GB/s"), "chunks", "2"), kPipelineFiles);
  EXPECT_EQ(switched.forward_exposed_ps, 3'500'000);
}

TEST(Pipeline, ClimbsTheSwitchesOfADimension) {
  // As above on SW(4,2), where the longest way has four links: 1.5 us over each for the last piece, 0.5 us after the
  // first. Half of the bandwidth goes up on SW(4,2:2): 1 us for a piece and 1 us of latency, 4 * 2 + 1 us.
  const Words words{
      {"workload", "stages.toml"},     {"topology", "SW(4,2)"}, {"hp", "1,1,4"}, {"npu_bandwidth", "1GB/s"},
      {"collective_time", "pipeline"}, {"alpha", "1us"},        {"chunks", "2"}};
  EXPECT_EQ(training_row(words, kPipelineFiles).forward_exposed_ps, 6'500'000);
  EXPECT_EQ(training_row(with(words, "topology", "SW(4,2:2)"), kPipelineFiles).forward_exposed_ps, 9'000'000);
}

TEST(Pipeline, GivesAGroupAcrossLeavesItsShareOfTheWayUp) {
  // Two replicas on two leaves of SW(4,2:2): half of the bandwidth and twice the latency of a switch of their own.
  Words words{{"workload", "shards.toml"},     {"topology", "SW(4,2:2)"}, {"hp", "2,2"},  {"npu_bandwidth", "2GB/s"},
              {"collective_time", "pipeline"}, {"alpha", "1us"},          {"chunks", "4"}};
  const auto across = training_row(words, kPipelineFiles);
  words = with(with(with(words, "workload", "sum.toml"), "topology", "SW(2)"), "hp", "1,2");
  words = with(words, "npu_bandwidth", "1GB/s");
  const auto alone = training_row(with(words, "alpha", "2us"), kPipelineFiles);
  EXPECT_GT(alone.training_time_ps, 0);
  EXPECT_EQ(across.training_time_ps, alone.training_time_ps);
}

TEST(Pipeline, PadsWhatIsLessThanAByteForEachNpu) {
  // 1 B among 4 is padded to 4 B: one chunk of one byte each. On FC(4) at 3 GB/s: 1 ns each way and 2 of latency.
  const Words words{{"workload", "byte.toml"},  {"topology", "FC(4)"},           {"hp", "1,4"},    {"chunks", "64"},
                    {"npu_bandwidth", "3GB/s"}, {"collective_time", "pipeline"}, {"alpha", "10ns"}};
  EXPECT_EQ(training_row(words, kPipelineFiles).training_time_ps, 22'000);
}

TEST(Pipeline, IsBoundedByItsCollectives) {
  const auto row = training_row(with(kPair, "chunks", "4"), kPipelineFiles);
  EXPECT_EQ(row.bound_name, "collectives");
  EXPECT_GT(row.bound_ps, 0);
  EXPECT_LE(row.bound_ps, row.training_time_ps);
}

TEST(Pipeline, IsNoFasterThanItsFormulaWhereAGroupHasWholeDimensions) {
  // The parts that LIBRA leaves out (latency, fill and drain) only add time.
  for (const auto* model : {"pipeline", "themis"}) {
    Words words{{"workload", "large.toml"},
                {"topology", "RI(4)_FC(4)_SW(2)"},
                {"hp", "1,32"},
                {"npu_bandwidth", "400GB/s, 200GB/s, 100GB/s"},
                {"collective_time", "libra"}};
    const auto formula = training_row(words, kPipelineFiles);
    words = with(with(with(words, "collective_time", model), "alpha", "0.5us"), "chunks", "8");
    const auto simulated = training_row(words, kPipelineFiles);
    EXPECT_EQ(simulated.verified, Verified::yes);
    if (std::string(model) == "pipeline") {
      EXPECT_GE(simulated.training_time_ps, formula.training_time_ps);
    }
    // The total bandwidth gives a bound for any order of dimensions.
    EXPECT_GE(simulated.training_time_ps, formula.bound_ps);
  }
}

TEST(Pipeline, SharesItsCollectivesBetweenPointsAndStaysTheSame) {
  const auto point = training_point(with(kPair, "chunks", "4"), kPipelineFiles);
  const auto alone = support::row_of(point);
  Cache cache;
  EvaluateOptions threads;
  threads.threads = 2;
  for (int turn = 0; turn < 3; ++turn) {
    const auto row = evaluate(point, cache, threads).row;
    EXPECT_EQ(row.training_time_ps, alone.training_time_ps);
    EXPECT_EQ(row.verified, alone.verified);
    EXPECT_EQ(row.reason, alone.reason);
    EXPECT_EQ(row.bound_ps, alone.bound_ps);
    EXPECT_EQ(row.memory_planned_bytes, alone.memory_planned_bytes);
  }
}

TEST(Pipeline, SaysWhenItDoesNotFit) {
  EvaluateOptions little;
  little.memory_limit_bytes = 1000;
  const auto row = support::row_of(training_point(with(kPair, "chunks", "4"), kPipelineFiles), little);
  EXPECT_EQ(row.status, PointStatus::out_of_memory);
  EXPECT_NE(row.reason, "");
  EXPECT_EQ(row.training_time_ps, -1);
}

TEST(Pipeline, TimesWithoutVerifyingWhereOnlyTheTimeIsAskedFor) {
  EvaluateOptions quick;
  quick.time_only = true;
  const auto row = training_row(with(kPair, "chunks", "4"), kPipelineFiles, quick);
  EXPECT_EQ(row.training_time_ps, 9'000'000);
  EXPECT_EQ(row.verified, Verified::skipped);
  EXPECT_NE(row.reason, "");
}

TEST(TrainingEstimate, GrowsWithWhatIsSimulated) {
  const auto small = estimate(training_point(with(kPair, "chunks", "4"), kPipelineFiles));
  const auto formula = estimate(training_point(kPairByFormula, kPipelineFiles));
  const Words many{{"workload", "sum.toml"},
                   {"topology", "RI(4)_FC(8)_RI(4)_SW(32)"},
                   {"hp", "1,4096"},
                   {"npu_bandwidth", "10GB/s"},
                   {"collective_time", "pipeline"},
                   {"alpha", "1us"},
                   {"chunks", "8"}};
  const auto large = estimate(training_point(many, kPipelineFiles));
  EXPECT_GT(formula.seconds, 0);
  EXPECT_GT(small.seconds, formula.seconds);
  EXPECT_GT(large.seconds, 100 * small.seconds);
  EXPECT_GT(large.bytes, small.bytes);
}

}  // namespace
}  // namespace tenex
