// The memory of an NPU against the tables of the papers that its formulas come from.
#include "tenex/training/npu_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evaluate/training_points.hpp"
#include "tenex/workload/workload_model.hpp"

namespace tenex {
namespace {

using support::Files;
using support::training_point;
using support::training_row;
using support::with;
using support::Words;

TransformerSpec transformer(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t sequence,
                            std::int64_t batch) {
  TransformerSpec spec;
  spec.name = "test";
  spec.layers = layers;
  spec.hidden = hidden;
  spec.heads = heads;
  spec.sequence = sequence;
  spec.batch = batch;
  return spec;
}

NpuMemory memory_of(const WorkloadModel& model, const Parallelization& degrees, const IterationChoices& choices = {}) {
  return npu_memory(make_workload(model, degrees, choices).value(), chosen_transformer(model, degrees, choices).value(),
                    degrees);
}

std::int64_t states(const NpuMemory& memory) { return memory.weights + memory.gradients + memory.optimizer; }

TEST(NpuMemory, IsThatOfTheZeroPapersFigure1) {
  // Rajbhandari et al., figure 1: 7.5e9 parameters, 64 replicas, K = 12, mixed precision. 16 B each: 120 GB. Stage 1:
  // 4 + 12/64 B = 31.4 GB; 2: 2 + 14/64 B = 16.6 GB; 3: 16/64 B = 1.9 GB. 12 h^2 L = 7.5e9 with h = 5000, L = 25.
  const auto spec = transformer(25, 5'000, 50, 128, 1);
  const auto gigabytes = [&](std::int64_t stage) {
    IterationChoices choices;
    choices.zero_stage = stage;
    return static_cast<double>(states(memory_of(spec, {1, 64}, choices))) / 1e9;
  };
  EXPECT_DOUBLE_EQ(gigabytes(0), 120);
  EXPECT_NEAR(gigabytes(1), 31.4, 0.05);
  EXPECT_NEAR(gigabytes(2), 16.6, 0.05);
  EXPECT_NEAR(gigabytes(3), 1.9, 0.05);
}

TEST(NpuMemory, IsThatOfTheZeroPapersTable1) {
  // Table 1 of the same paper, GB per device of 7.5B, 128B and 1T parameters over 1 to 1,024 replicas.
  struct Row {
    double parameters;
    std::int64_t replicas;
    double stage_1;
    double stage_2;
    double stage_3;
  };
  const Row table[] = {{7.5, 1, 120, 120, 120},      {7.5, 4, 52.5, 41.3, 30},      {7.5, 16, 35.6, 21.6, 7.5},
                       {7.5, 256, 30.4, 15.4, 0.47}, {7.5, 1024, 30.1, 15.1, 0.12}, {128, 4, 896, 704, 512},
                       {128, 64, 536, 284, 32},      {128, 1024, 513, 257, 2},      {1000, 16, 4750, 2875, 1000},
                       {1000, 64, 4187, 2218, 250},  {1000, 1024, 4011, 2013, 15.6}};
  for (const auto& row : table) {
    // A layer of h = 1000 has 12e6 parameters.
    const auto layers = static_cast<std::int64_t>(row.parameters * 1e9 / 12e6 + 0.5);
    const auto spec = transformer(layers, 1'000, 10, 128, 1);
    const double scale = row.parameters * 1e9 / (static_cast<double>(layers) * 12e6);
    const double expected[] = {row.stage_1, row.stage_2, row.stage_3};
    for (std::int64_t stage = 1; stage <= 3; ++stage) {
      IterationChoices choices;
      choices.zero_stage = stage;
      const auto gigabytes = static_cast<double>(states(memory_of(spec, {1, row.replicas}, choices))) / 1e9 * scale;
      const auto printed = expected[stage - 1];
      EXPECT_NEAR(gigabytes, printed, std::max(0.006, 0.003 * printed))
          << row.parameters << "B over " << row.replicas << ", stage " << stage;
    }
  }
}

TEST(NpuMemory, HasTheActivationsOfMegatronsTable2) {
  // Korthikanti et al., table 2, for GPT-3 (a = 96, s = 2048, h = 12288, L = 96), b = 1, t = 8. s b h = 25165824 B;
  // 5 a s / h = 80. None: 10 + 24/8 + 80/8 = 23; sequence parallelism (34 + 80)/8 = 14.25; selective 10 + 3 = 13;
  // both 34/8 = 4.25; full 2, each times s b h and 96 layers.
  const auto spec = transformer(96, 12'288, 96, 2'048, 1);
  const auto factor = [&](bool sequence, Recomputation recomputation) {
    IterationChoices choices;
    choices.sequence_parallelism = sequence;
    choices.recomputation = recomputation;
    return static_cast<double>(memory_of(spec, {8, 1}, choices).activations) / (96.0 * 25'165'824);
  };
  EXPECT_DOUBLE_EQ(factor(false, Recomputation::none), 23);
  EXPECT_DOUBLE_EQ(factor(true, Recomputation::none), 14.25);
  EXPECT_DOUBLE_EQ(factor(false, Recomputation::selective), 13);
  EXPECT_DOUBLE_EQ(factor(true, Recomputation::selective), 4.25);
  EXPECT_DOUBLE_EQ(factor(false, Recomputation::full), 2);
  // Without parallelism a layer has s b h (34 + 5 a s / h); section 5: selective recomputation saves 70 % for GPT-3.
  IterationChoices selective;
  selective.recomputation = Recomputation::selective;
  const auto all = memory_of(spec, {1, 1}).activations;
  EXPECT_DOUBLE_EQ(static_cast<double>(all) / (96.0 * 25'165'824), 114);
  EXPECT_NEAR(1 - static_cast<double>(memory_of(spec, {1, 1}, selective).activations) / static_cast<double>(all), 0.70,
              0.005);
  // And 65 % for MT-NLG 530B (a = 128, s = 2048, h = 20480).
  const auto large = transformer(105, 20'480, 128, 2'048, 1);
  EXPECT_NEAR(1 - static_cast<double>(memory_of(large, {1, 1}, selective).activations) /
                      static_cast<double>(memory_of(large, {1, 1}).activations),
              0.65, 0.005);
}

TEST(NpuMemory, HasTheLastStagesLogitsOfMegatronsSection43) {
  // Without stages, the same paper adds 4 s b h / t (1 + v/h) for the last layer norm, the logits' input and the
  // logits, and s b h for the embedding's dropout, over t: with h = 1024, v = 4096, b s h = 524288, t = 4:
  // 4 * 524288 / 4 * 5 = 2621440, and 131072.
  auto spec = transformer(1, 1'024, 16, 512, 1);
  IterationChoices choices;
  choices.sequence_parallelism = true;
  const auto without = memory_of(spec, {4, 1}, choices).activations;
  spec.vocabulary = 4'096;
  EXPECT_EQ(memory_of(spec, {4, 1}, choices).activations - without, 2'621'440 + 131'072);
}

TEST(NpuMemory, OfLlama3FitsIntoItsNpusWithoutRecomputation) {
  // Grattafiori et al., "The Llama 3 Herd of Models", 2024, tables 3 and 4: 405B on 8,192 H100s of 80 GB, TP 8, 16
  // stages, 64 replicas, 32 sequences of 8,192 tokens each, and no recomputation (section 3.3.2). Its 126 layers,
  // embedding and logits are 128 parts for 16 stages; here 128 layers. v = 2, s b h = 134217728, f/h = 3.25, g/a =
  // 1/16, no dropout: a layer keeps s b h / 8 (4 + 2 * 2.125 + 4 + 2 * 3 * 3.25) + 4 b a s / 8 = 533200896 B. Stage 0
  // keeps 16 microbatches of 8 layers: 68249714688 B.
  auto spec = transformer(128, 16'384, 128, 8'192, 32);
  spec.kv_heads = 8;
  spec.feed_forward = 53'248;
  spec.gated = true;
  spec.dropout = false;
  spec.vocabulary = 128'256;
  spec.microbatches = 32;
  IterationChoices choices;
  choices.zero_stage = 2;
  choices.sequence_parallelism = true;
  choices.flash_attention = true;
  const auto memory = memory_of(spec, {8, 64, 16}, choices);
  EXPECT_EQ(memory.activations, 68'249'714'688);
  // 8 layers of 3187671040 weights and 128256 * 16384 of the logits, over 8, in 2 bytes; optimizer 12 over 64 replicas.
  EXPECT_EQ(memory.weights, (8 * 3'187'671'040 + 128'256 * 16'384LL) / 8 * 2);
  EXPECT_EQ(memory.optimizer, memory.weights * 6 / 64);
  EXPECT_GT(memory.total(), 70e9);
  EXPECT_LT(memory.total(), 80e9);
}

TEST(NpuMemory, KeepsWhatThePipelinesScheduleKeeps) {
  // 8 layers on 4 stages, 8 microbatches of one sequence: b s h (34 + 5 a s / h) = 65536 * (34 + 5*4*64/1024) =
  // 2310144 B per layer, of 2 layers per stage. gpipe keeps 8, 1f1b 4, ZB-H2 7 microbatches; interleaved with V = 2
  // keeps 4*2 + 3 = 11 parts of one layer.
  const auto spec = [] {
    auto dimensions = transformer(8, 1'024, 4, 64, 8);
    dimensions.microbatches = 8;
    return dimensions;
  }();
  const auto layers = [&](PipelineSchedule schedule, std::int64_t parts = 1) {
    IterationChoices choices;
    choices.pipelining = {schedule, parts};
    return static_cast<double>(memory_of(spec, {1, 1, 4}, choices).activations) / 2'310'144.0;
  };
  EXPECT_DOUBLE_EQ(layers(PipelineSchedule::gpipe), 16);
  EXPECT_DOUBLE_EQ(layers(PipelineSchedule::one_forward_one_backward), 8);
  EXPECT_DOUBLE_EQ(layers(PipelineSchedule::zb_h1), 8);
  EXPECT_DOUBLE_EQ(layers(PipelineSchedule::zero_bubble), 14);
  EXPECT_DOUBLE_EQ(layers(PipelineSchedule::interleaved, 2), 11);
}

TEST(NpuMemory, OfATableIsThatOfItsGradients) {
  // One All-Reduce of 1 MB of 2-byte gradients between replicas: 1 MB of weights, 1 of gradients, 6 of optimizer states
  // (16 B for 2, as in ZeRO). Activations are unknown.
  Workload table;
  table.blocks.push_back({"", 1, {Layer{"only", {}}}});
  table.blocks[0].layers[0].at(Phase::weight_gradient).communications = {
      {TrafficKind::all_reduce, bytes(1'000'000), Scope::data}};
  EXPECT_EQ(npu_memory(table, std::nullopt, {1, 4}), (NpuMemory{1'000'000, 1'000'000, 6'000'000, -1, -1}));
  EXPECT_EQ(npu_memory(table, std::nullopt, {1, 4}).total(), 8'000'000);
  table.blocks[0].layers[0].at(Phase::weight_gradient).communications[0].scope = Scope::world;
  EXPECT_EQ(npu_memory(table, std::nullopt, {1, 4}).total(), -1);
}

// 8 layers, h = 1024: 12 h^2 = 12582912 weights each.
const Files kModel{{"model.toml",
                    "schema = 1\nkind = \"workload\"\nname = \"model\"\nsource = \"a test\"\n[transformer]\n"
                    "layers = 8\nhidden = 1024\nheads = 16\nsequence = 512\nbatch = 16\n"}};
const Words kMemoryWords{{"workload", "model.toml"},
                         {"topology", "RI(4)_SW(4)"},
                         {"hp", "1,16"},
                         {"compute", "100TFLOPS"},
                         {"npu_bandwidth", "100GB/s"}};

TEST(NpuMemory, StandsInRowsWithItsParts) {
  const auto row = training_row(kMemoryWords, kModel);
  EXPECT_EQ(row.weight_memory_bytes, 8 * 12'582'912 * 2);
  EXPECT_EQ(row.gradient_memory_bytes, row.weight_memory_bytes);
  EXPECT_EQ(row.optimizer_memory_bytes, 6 * row.weight_memory_bytes);
  // 16 sequences at once: 8 layers of 16*512*1024 * (34 + 5*16*512/1024) B.
  EXPECT_EQ(row.activation_memory_bytes, 8 * 16 * 512 * 1024LL * 74);
  EXPECT_EQ(row.memory_per_npu_bytes, row.weight_memory_bytes + row.gradient_memory_bytes + row.optimizer_memory_bytes +
                                          row.activation_memory_bytes + row.buffer_memory_bytes);
  EXPECT_EQ(row.chosen_microbatches, 1);
  const auto halves = training_row(with(kMemoryWords, "microbatches", "2"), kModel);
  EXPECT_EQ(halves.activation_memory_bytes * 2, row.activation_memory_bytes);
  EXPECT_EQ(halves.chosen_microbatches, 2);
}

TEST(NpuMemory, ThatDoesNotFitEndsTheRowWithTheBytesAndARemedy) {
  const auto words = with(kMemoryWords, "npu_memory", "2GB");
  const auto point = training_point(words, kModel);
  const auto row = support::row_of(point, {});
  EXPECT_EQ(row.status, PointStatus::over_npu_memory);
  EXPECT_EQ(row.training_time_ps, -1);
  EXPECT_GT(row.memory_per_npu_bytes, 2'000'000'000);
  EXPECT_THAT(row.reason,
              testing::HasSubstr("takes 6.58GB of an NPU, which has 2GB (201MB weights, 201MB gradients, 1.21GB "));
  EXPECT_THAT(row.reason, testing::HasSubstr("the fastest change that fits is "));
  // The named remedy is one that fits: it is applied, and no slower than any other single change that fits.
  const auto at = row.reason.find("fits is ");
  const auto text = row.reason.substr(at + 8, row.reason.find(" (", at) - at - 8);
  const auto key = text.substr(0, text.find(" = "));
  auto value = text.substr(text.find(" = ") + 3);
  std::erase(value, '"');
  const auto remedied = support::row_of(training_point(with(words, key, value), kModel), {});
  EXPECT_EQ(remedied.status, PointStatus::ok) << row.reason;
  EXPECT_LE(remedied.memory_per_npu_bytes, 2'000'000'000);
  for (const auto& [other, choice] : Words{{"hp", "2,8"},
                                           {"hp", "4,4"},
                                           {"hp", "16,1"},
                                           {"hp", "1,4,4"},
                                           {"hp", "1,2,8"},
                                           {"zero_stage", "3"},
                                           {"recomputation", "selective"},
                                           {"recomputation", "full"},
                                           {"microbatches", "4"},
                                           {"microbatches", "8"},
                                           {"microbatches", "16"},
                                           {"flash_attention", "true"}}) {
    const auto tried = support::row_of(training_point(with(words, other, choice), kModel), {});
    if (tried.status == PointStatus::ok) {
      EXPECT_LE(remedied.training_time_ps, tried.training_time_ps) << other << " = " << choice;
    }
  }
}

TEST(NpuMemory, ANamedNpuHasARateAndAPeak) {
  auto words = with(kMemoryWords, "npu_memory", "a100_80gb");
  std::erase_if(words, [](const auto& word) { return word.first == "compute"; });
  const auto row = training_row(words, kModel);
  EXPECT_DOUBLE_EQ(row.mfu_rate_flop_per_s, 312e12);
  // The same at the measured rate of its matrix products, of which 271.2/312 is the utilization of the peak.
  const auto stated = training_row(with(kMemoryWords, "compute", "271.2TFLOPS"), kModel);
  EXPECT_EQ(row.training_time_ps, stated.training_time_ps);
  EXPECT_DOUBLE_EQ(row.model_flop_utilization, stated.model_flop_utilization * 271.2 / 312);
  EXPECT_THAT(support::training_refusal(with(kMemoryWords, "npu_memory", "a100"), kModel),
              testing::AllOf(testing::HasSubstr("unknown NPU \"a100\""), testing::HasSubstr("a100_80gb")));
}

TEST(NpuMemory, MicrobatchesAreAsManyAsTheBatchAllowsUpToFourPerStage) {
  // 16 sequences of a replica: 4 stages take 16 in one each, 2 stages 8 of two; 16 replicas without stages take one.
  EXPECT_EQ(training_row(with(kMemoryWords, "hp", "1,4,4"), kModel).chosen_microbatches, 16);
  EXPECT_EQ(training_row(with(kMemoryWords, "hp", "1,8,2"), kModel).chosen_microbatches, 8);
  EXPECT_EQ(training_row(with(kMemoryWords, "hp", "1,16"), kModel).chosen_microbatches, 1);
  const auto stated = training_row(with(with(kMemoryWords, "hp", "1,4,4"), "microbatches", "4"), kModel);
  EXPECT_EQ(stated.chosen_microbatches, 4);
  EXPECT_THAT(support::training_refusal(with(with(kMemoryWords, "hp", "1,4,4"), "microbatches", "3"), kModel),
              testing::HasSubstr("number of microbatches 3 does not divide 16 sequences of a replica"));
}

}  // namespace
}  // namespace tenex
