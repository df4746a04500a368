// The search for parallelizations against the rows of its options, one by one.
#include "tenex/training/hp_search.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluate/cache.hpp"
#include "evaluate/training_points.hpp"
#include "support/draws.hpp"
#include "tenex/evaluate/parallelizations.hpp"

namespace tenex {
namespace {

using support::Files;
using support::training_point;
using support::with;
using support::Words;

// 12 h^2 = 12582912 weights in each of 8 layers: 1.6 GB of states with 16 B each.
const Files kSearchedModel{{"model.toml",
                            "schema = 1\nkind = \"workload\"\nname = \"model\"\nsource = \"a test\"\n[transformer]\n"
                            "layers = 8\nhidden = 1024\nheads = 16\nsequence = 512\nbatch = 16\nvocabulary = 1024\n"}};
const Words kSearchedWords{{"workload", "model.toml"}, {"topology", "RI(4)_SW(4)"}, {"hp", "1,16"},
                           {"compute", "100TFLOPS"},   {"global_batch", "64"},      {"npu_bandwidth", "100GB/s,25GB/s"},
                           {"npu_memory", "1GB"}};

Evaluation row_with(const DesignPoint& point, const HpOption& option, Cache& cache) {
  auto one = with_option(point, option);
  seal(one);
  return evaluate(one, cache, {}).row;
}

std::string option_text(const HpOption& option) {
  return to_string(option.hp) + " " + std::string(to_string(option.order)) + " zero " +
         std::to_string(option.zero_stage) + " " + std::string(to_string(option.recomputation)) + " M " +
         std::to_string(option.microbatches) + " " + std::string(to_string(option.pipelining.schedule)) + " V " +
         std::to_string(option.pipelining.virtual_stages);
}

TEST(HpSearch, FindsWhatTheRowsOfAllOptionsSay) {
  const auto point = training_point(kSearchedWords, kSearchedModel);
  Cache cache;
  const auto options = hp_options(point, {}, cache.impl().training).value();
  const auto found = search_parallelizations(point, {}, 20, 2, cache).value();
  EXPECT_EQ(found.considered, options.size());
  // Every 31st option is evaluated in full in CI, all of them under `long`.
  const std::size_t step = support::long_run() ? 1 : 31;
  std::size_t fitting = 0;
  for (std::size_t i = 0; i < options.size(); i += step) {
    const auto row = row_with(point, options[i], cache);
    ASSERT_TRUE(row.status == PointStatus::ok || row.status == PointStatus::over_npu_memory)
        << option_text(options[i]) << ": " << row.reason;
    if (row.status != PointStatus::ok) {
      EXPECT_GT(row.memory_per_npu_bytes, 1'000'000'000);
      continue;
    }
    ++fitting;
    EXPECT_LE(row.memory_per_npu_bytes, 1'000'000'000);
    // No row beats the first answer, and none is before the whole front.
    EXPECT_GE(row.training_time_ps, found.fastest.front().time.total().count()) << option_text(options[i]);
    EXPECT_TRUE(std::ranges::any_of(found.front, [&](const HpAnswer& answer) {
      return answer.time.total().count() <= row.training_time_ps && answer.memory.total() <= row.memory_per_npu_bytes;
    })) << option_text(options[i]);
  }
  EXPECT_GT(fitting, 0U);
  if (step == 1) {
    EXPECT_EQ(found.fitting, fitting);
  }
  for (const auto& list : {found.fastest, found.front})
    for (const auto& answer : list) {
      const auto row = row_with(point, answer.option, cache);
      EXPECT_EQ(row.training_time_ps, answer.time.total().count()) << option_text(answer.option);
      EXPECT_EQ(row.memory_per_npu_bytes, answer.memory.total()) << option_text(answer.option);
      EXPECT_EQ(row.bubble_ps, answer.time.bubble.count()) << option_text(answer.option);
      EXPECT_NEAR(row.model_flop_utilization, answer.model_flop_utilization, 1e-9) << option_text(answer.option);
      EXPECT_NEAR(row.tokens_per_s / answer.tokens_per_s, 1, 1e-9) << option_text(answer.option);
    }
}

TEST(HpSearch, DoesNotDependOnItsThreads) {
  const auto point = training_point(kSearchedWords, kSearchedModel);
  Cache cache;
  const auto one = search_parallelizations(point, {}, 50, 1, cache).value();
  const auto three = search_parallelizations(point, {}, 50, 3, cache).value();
  ASSERT_EQ(one.fastest.size(), three.fastest.size());
  for (std::size_t i = 0; i < one.fastest.size(); ++i) EXPECT_EQ(one.fastest[i].option, three.fastest[i].option);
  ASSERT_EQ(one.front.size(), three.front.size());
  for (std::size_t i = 0; i < one.front.size(); ++i) EXPECT_EQ(one.front[i].option, three.front[i].option);
}

TEST(HpSearch, KeepsWhatTheUserChose) {
  const auto point =
      training_point(with(with(kSearchedWords, "recomputation", "full"), "zero_stage", "1"), kSearchedModel);
  Cache cache;
  HpPins pins;
  pins.recomputation = pins.zero_stage = pins.order = true;
  for (const auto& option : hp_options(point, pins, cache.impl().training).value()) {
    EXPECT_EQ(option.recomputation, Recomputation::full);
    EXPECT_EQ(option.zero_stage, 1);
    EXPECT_EQ(option.order, HpOrder::tensor_data_pipeline);
  }
  pins.hp = true;
  for (const auto& option : hp_options(point, pins, cache.impl().training).value())
    EXPECT_EQ(option.hp, (Parallelization{1, 16}));
}

TEST(HpSearch, RefusesWhatItCannotSearch) {
  Cache cache;
  const auto table =
      training_point({{"workload", "gpt3"}, {"topology", "RI(4)_FC(4)"}, {"hp", "4,4"}, {"npu_bandwidth", "100GB/s"}});
  EXPECT_THAT(to_string(search_parallelizations(table, {}, 10, 1, cache).errors()),
              testing::HasSubstr("it is not made from a transformer's dimensions"));
}

TEST(HpSearch, OfAModelOf175BOnSixteenThousandNpusAgreesWithRows) {
  // The twin: rows of options drawn from all, 1,000 of them under `long`.
  const Words words{{"workload", "gpt3_generated"}, {"topology", "SW(8)_SW(2048)"},      {"hp", "1,16384"},
                    {"global_batch", "16384"},      {"npu_bandwidth", "450GB/s,50GB/s"}, {"npu_memory", "h100_80gb"}};
  const auto point = training_point(words);
  Cache cache;
  const auto options = hp_options(point, {}, cache.impl().training).value();
  EXPECT_GE(options.size(), 100'000U);
  std::mt19937 random(support::first_seed(5));
  std::uniform_int_distribution<std::size_t> any(0, options.size() - 1);
  for (int i = 0; i < support::draws(10, 1'000); ++i) {
    const auto& option = options[any(random)];
    // A search with everything given has one option: its answer is the row's.
    const auto one = with_option(point, option);
    const HpPins pins{true, true, true, true, true, true, true};
    const auto row = row_with(point, option, cache);
    const auto found = search_parallelizations(one, pins, 1, 1, cache).value();
    ASSERT_EQ(found.considered, 1U) << option_text(option);
    ASSERT_EQ(found.fitting, row.status == PointStatus::ok ? 1U : 0U) << option_text(option) << row.reason;
    EXPECT_EQ(found.least_memory, row.memory_per_npu_bytes) << option_text(option);
    if (found.fastest.empty()) continue;
    EXPECT_EQ(found.fastest.front().time.total().count(), row.training_time_ps) << option_text(option);
  }
}

}  // namespace
}  // namespace tenex
