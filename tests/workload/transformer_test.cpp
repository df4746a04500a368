// Generated transformers against sums by hand and the published sizes of GPT-3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenex/workload/training.hpp"
#include "tenex/workload/transformer.hpp"
#include "workload/models.hpp"

namespace tenex {
namespace {

using support::problem_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TransformerSpec gpt3() {
  TransformerSpec spec;
  spec.name = "gpt3";
  spec.layers = 96;
  spec.hidden = 12'288;
  spec.heads = 96;
  spec.sequence = 2'048;
  spec.vocabulary = 51'200;
  spec.batch = 16;
  return spec;
}

TransformerSpec with_experts() {
  TransformerSpec spec;
  spec.name = "moe";
  spec.layers = 24;
  spec.hidden = 1'024;
  spec.heads = 16;
  spec.sequence = 512;
  spec.batch = 8;
  spec.experts = {64, 2, 2};
  return spec;
}

const Layer& find_layer(const Workload& workload, std::string_view name) {
  for (const auto& block : workload.blocks)
    for (const auto& layer : block.layers)
      if (layer.name == name) return layer;
  throw InvariantError("no such layer");
}

TEST(Transformer, LayersDoTheWorkOfTheirProducts) {
  // b = 16, s = 2048, h = 12288, t = 16. Query, key and value: 2*16*2048*3*12288^2/16 = 1855425871872; scores and sums
  // 4*16*2048^2*12288/16 = 206158430208; up and down 2*16*2048*4*12288^2/16 = 2473901162496.
  const auto model = make_transformer(gpt3(), {16, 256}).value();
  EXPECT_EQ(find_layer(model, "query_key_value").at(Phase::forward).compute, flops(1'855'425'871'872));
  EXPECT_EQ(find_layer(model, "attention").at(Phase::forward).compute, flops(206'158'430'208));
  EXPECT_EQ(find_layer(model, "feed_forward_up").at(Phase::weight_gradient).compute, flops(2'473'901'162'496));
  // LIBRA's file has 37500 us for up and down at 60*2^40 FLOP/s.
  EXPECT_EQ(compute_time(flops(2'473'901'162'496), tebiflops(60)), microseconds(37'500));
}

TEST(Transformer, AnIterationDoesThePublishedWork) {
  // Narayanan et al.: 24 b s h^2 L (1 + s/(6h) + V/(12 h L)) forward, over t = 16: 712483534798848 in weight products,
  // 19791209299968 in attention, 2576980377600 in the logits. Backward twice that.
  const auto model = make_transformer(gpt3(), {16, 256}).value();
  EXPECT_EQ(total_compute(model, Phase::forward), flops(734'851'724'476'416));
  EXPECT_EQ(total_compute(model, Phase::input_gradient) + total_compute(model, Phase::weight_gradient),
            flops(2 * 734'851'724'476'416));
  // Only weight products have weight gradients.
  EXPECT_EQ(total_compute(model, Phase::weight_gradient), flops(712'483'534'798'848 + 2'576'980'377'600));
}

/// Llama 3 (Grattafiori et al., "The Llama 3 Herd of Models", 2024, table 3), with the vocabulary of its release.
TransformerSpec llama3(std::int64_t layers, std::int64_t hidden, std::int64_t heads, std::int64_t units) {
  TransformerSpec spec;
  spec.name = "llama3";
  spec.layers = layers;
  spec.hidden = hidden;
  spec.heads = heads;
  spec.kv_heads = 8;
  spec.feed_forward = units;
  spec.gated = true;
  spec.sequence = 8'192;
  spec.vocabulary = 128'256;
  return spec;
}

/// Weights whose gradients are reduced.
std::int64_t weights_of(const Workload& workload) {
  std::int64_t bytes = 0;
  for (const auto& block : workload.blocks)
    for (const auto& layer : block.layers)
      for (const auto& each : layer.at(Phase::weight_gradient).communications)
        bytes += each.size.count() * block.repeat;
  return bytes / 2;
}

TEST(Transformer, GroupedQueriesAndGatedUnitsHaveThePublishedNumbersOfWeights) {
  // A layer has 2 h^2 (query, output) + 2 h 1024 (keys, values of 8 heads of 128) + 3 h f. The models have norms of h
  // weights, two per layer and one at the end, and a second matrix of V h: the embedding, which a tied one is not.
  // 8B: 32 (2*4096^2 + 2*4096*1024 + 3*4096*14336) + 2*128256*4096 + 65*4096 = 8030261248, and so on.
  struct Row {
    TransformerSpec spec;
    std::int64_t published;
  };
  for (const auto& [spec, published] :
       {Row{llama3(32, 4'096, 32, 14'336), 8'030'261'248}, Row{llama3(80, 8'192, 64, 28'672), 70'553'706'496},
        Row{llama3(126, 16'384, 128, 53'248), 405'853'388'800}}) {
    const auto once = make_transformer(spec, {1, 1}).value();
    const auto norms = (2 * spec.layers + 1) * spec.hidden;
    EXPECT_EQ(weights_of(once) + spec.vocabulary * spec.hidden + norms, published) << spec.layers << " layers";
    EXPECT_EQ(weights_of(make_transformer(spec, {8, 1}).value()) * 8, weights_of(once)) << spec.layers << " layers";
  }
}

TEST(Transformer, GroupedQueriesAndGatedUnitsDoThePublishedWork) {
  // The report states 3.8e25 FLOPs for 15.6e12 tokens of 405B: 6 per weight and token. Products with weights alone:
  // the embedding is looked up, and score products have no weights.
  const auto model = make_transformer(llama3(126, 16'384, 128, 53'248), {1, 1}).value();
  double work = 0;
  for (const auto& block : model.blocks)
    for (const auto& layer : block.layers)
      if (layer.name != "attention")
        for (const auto& phase : layer.phases)
          work += static_cast<double>(phase.compute.count()) * static_cast<double>(block.repeat);
  EXPECT_NEAR(work / 8'192 * 15.6e12, 3.8e25, 0.05e25);
  // Scores of all 128 heads of queries: 4 s^2 h forward.
  EXPECT_EQ(find_layer(model, "attention").at(Phase::forward).compute, flops(4LL * 8'192 * 8'192 * 16'384));
}

TEST(Transformer, ExpertsMayHaveUnitsOfTheirOwn) {
  // h = 1024, 2 tokens each: up and gate 2 * 2 * b s * 2 h 512, down half of it; dense layers keep 4 h.
  auto spec = with_experts();
  spec.gated = true;
  spec.experts.feed_forward = 512;
  const auto model = make_transformer(spec, {1, 1}).value();
  const std::int64_t tokens = 8 * 512;
  EXPECT_EQ(find_layer(model, "expert_up").at(Phase::forward).compute, flops(2 * 2 * tokens * 2 * 1024 * 512));
  EXPECT_EQ(find_layer(model, "expert_down").at(Phase::forward).compute, flops(2 * 2 * tokens * 1024 * 512));
  EXPECT_EQ(find_layer(model, "feed_forward_up").at(Phase::forward).compute, flops(2 * tokens * 2 * 1024 * 4096));
}

TEST(Transformer, TensorGroupsAddActivationsTwicePerLayerAndPass) {
  // b s h v = 16*2048*12288*2 = 805306368 B (LIBRA's size); 2 per layer, 1 for the embedding or the logits: 193.
  const auto model = make_transformer(gpt3(), {16, 256}).value();
  EXPECT_THAT(find_layer(model, "attention_output").at(Phase::forward).communications,
              ElementsAre(Communication{TrafficKind::all_reduce, bytes(805'306'368), Scope::tensor}));
  EXPECT_EQ(total_bytes(model, Phase::forward, TrafficKind::all_reduce), bytes(193 * 805'306'368LL));
  EXPECT_EQ(total_bytes(model, Phase::input_gradient, TrafficKind::all_reduce), bytes(193 * 805'306'368LL));
}

TEST(Transformer, ZeroStagesDivideTheGradientsTraffic) {
  // Per layer 12 h^2 v / t = 12*12288^2*2/16 = 226492416 B (half of LIBRA's for two layers); the tied embedding
  // 51200*12288*2/16 = 78643200 B.
  constexpr std::int64_t kWeights = 96 * 226'492'416LL + 78'643'200;
  auto spec = gpt3();
  const auto traffic = [&](std::int64_t stage, Phase phase, TrafficKind kind) {
    spec.zero_stage = stage;
    return total_bytes(make_transformer(spec, {16, 256}).value(), phase, kind);
  };
  EXPECT_EQ(traffic(0, Phase::weight_gradient, TrafficKind::all_reduce), bytes(kWeights));
  for (const std::int64_t stage : {1, 2}) {
    EXPECT_EQ(traffic(stage, Phase::weight_gradient, TrafficKind::reduce_scatter), bytes(kWeights));
    EXPECT_EQ(traffic(stage, Phase::weight_gradient, TrafficKind::all_gather), bytes(kWeights));
    EXPECT_EQ(traffic(stage, Phase::weight_gradient, TrafficKind::all_reduce), bytes(0));
  }
  EXPECT_EQ(traffic(3, Phase::forward, TrafficKind::all_gather), bytes(kWeights));
  EXPECT_EQ(traffic(3, Phase::input_gradient, TrafficKind::all_gather), bytes(kWeights));
  EXPECT_EQ(traffic(3, Phase::weight_gradient, TrafficKind::reduce_scatter), bytes(kWeights));
  EXPECT_EQ(traffic(3, Phase::weight_gradient, TrafficKind::all_gather), bytes(0));
}

TEST(Transformer, AStageHasItsLayersAndABoundary) {
  // 4 stages of 24 layers, 8 microbatches of 2 sequences: 2*2048*12288*2 = 100663296 B over each boundary. The last
  // stage has the logits and no embedding.
  auto spec = gpt3();
  spec.microbatches = 8;
  const auto stage = make_transformer(spec, {16, 64, 4}).value();
  EXPECT_EQ(stage.microbatches, 8);
  ASSERT_EQ(stage.blocks.size(), 3U);
  EXPECT_EQ(stage.blocks[0].name, "boundary");
  EXPECT_EQ(stage.blocks[1].repeat, 24);
  EXPECT_EQ(stage.blocks[2].name, "logits");
  const Communication message{TrafficKind::point_to_point, bytes(100'663'296), Scope::pipeline};
  EXPECT_THAT(find_layer(stage, "stage_boundary").at(Phase::forward).communications, ElementsAre(message));
  EXPECT_THAT(find_layer(stage, "stage_boundary").at(Phase::input_gradient).communications, ElementsAre(message));
  EXPECT_THAT(find_layer(stage, "stage_boundary").at(Phase::weight_gradient).communications, IsEmpty());
  // Under sequence parallelism each of the 16 NPUs sends its part, and 3 virtual stages have 3 boundaries.
  spec.sequence_parallelism = true;
  spec.pipelining = {PipelineSchedule::interleaved, 3};
  const Communication part{TrafficKind::point_to_point, bytes(100'663'296 / 16), Scope::pipeline};
  EXPECT_THAT(
      find_layer(make_transformer(spec, {16, 64, 4}).value(), "stage_boundary").at(Phase::forward).communications,
      ElementsAre(part, part, part));
}

TEST(Transformer, RecomputationDoesForwardWorkAgain) {
  // `full` does a layer's forward pass and its two All-Reduces again, `selective` the scores. The logits are kept: 2
  // b s h V / t = 2*16*2048*12288*51200/16 = 2576980377600 FLOPs of the forward pass (see above); a layer's scores
  // 206158430208.
  auto spec = gpt3();
  const auto plain = make_transformer(spec, {16, 256}).value();
  spec.recomputation = Recomputation::full;
  const auto full = make_transformer(spec, {16, 256}).value();
  const auto forward = total_compute(plain, Phase::forward);
  EXPECT_EQ(total_compute(full, Phase::input_gradient) - total_compute(plain, Phase::input_gradient),
            forward - flops(2'576'980'377'600));
  EXPECT_EQ(total_bytes(full, Phase::input_gradient, TrafficKind::all_reduce),
            total_bytes(plain, Phase::input_gradient, TrafficKind::all_reduce) + bytes(2 * 96 * 805'306'368LL));
  EXPECT_EQ(total_compute(full, Phase::forward), forward);
  spec.recomputation = Recomputation::selective;
  const auto selective = make_transformer(spec, {16, 256}).value();
  EXPECT_EQ(total_compute(selective, Phase::input_gradient) - total_compute(plain, Phase::input_gradient),
            flops(96 * 206'158'430'208));
}

TEST(Transformer, SequenceParallelismSplitsAllReduces) {
  // Each All-Reduce becomes a Reduce-Scatter and an All-Gather of its size: LIBRA's formula gives them equal times.
  auto spec = gpt3();
  const auto plain = make_transformer(spec, {16, 256}).value();
  spec.sequence_parallelism = true;
  const auto split = make_transformer(spec, {16, 256}).value();
  const auto sum = total_bytes(plain, Phase::forward, TrafficKind::all_reduce);
  EXPECT_EQ(total_bytes(split, Phase::forward, TrafficKind::reduce_scatter), sum);
  EXPECT_EQ(total_bytes(split, Phase::forward, TrafficKind::all_gather), sum);
  EXPECT_EQ(total_bytes(split, Phase::forward, TrafficKind::all_reduce), bytes(0));
}

TEST(Transformer, GradientsInPartsAreReducedWithEveryMicrobatch) {
  auto spec = gpt3();
  spec.zero_stage = 2;
  spec.microbatches = 4;
  const auto model = make_transformer(spec, {16, 256}).value();
  for (const auto& each : find_layer(model, "feed_forward_up").at(Phase::weight_gradient).communications)
    EXPECT_EQ(once_per_iteration(Phase::weight_gradient, each), each.kind == TrafficKind::all_gather);
  spec.zero_stage = 1;
  const auto whole = make_transformer(spec, {16, 256}).value();
  for (const auto& each : find_layer(whole, "feed_forward_up").at(Phase::weight_gradient).communications)
    EXPECT_TRUE(once_per_iteration(Phase::weight_gradient, each));
}

TEST(Transformer, ExpertsExchangeTheirTokens) {
  // Every second of 24 layers has 64 experts over 16 NPUs, 2 per token, TP-2. All-to-All of k b s h v =
  // 2*8*512*1024*2 = 16777216 B before and after the experts; up: 2*2*8*512*4*1024^2/2 = 34359738368 FLOPs; 4 experts
  // of 4*1024^2 weights of 2 B over 2 NPUs: 16777216 B between replicas of the same experts.
  const auto model = make_transformer(with_experts(), {2, 32, 1, 16}).value();
  ASSERT_EQ(model.blocks.size(), 1U);
  EXPECT_EQ(model.blocks[0].repeat, 12);
  const Communication exchange{TrafficKind::all_to_all, bytes(16'777'216), Scope::expert};
  EXPECT_THAT(find_layer(model, "gate").at(Phase::forward).communications, ElementsAre(exchange));
  EXPECT_THAT(find_layer(model, "expert_down").at(Phase::forward).communications,
              ElementsAre(Communication{TrafficKind::all_reduce, bytes(16'777'216), Scope::tensor}, exchange));
  EXPECT_EQ(find_layer(model, "expert_up").at(Phase::forward).compute, flops(34'359'738'368));
  EXPECT_THAT(find_layer(model, "expert_up").at(Phase::weight_gradient).communications,
              ElementsAre(Communication{TrafficKind::all_reduce, bytes(16'777'216), Scope::expert_replicas}));
  EXPECT_EQ(total_bytes(model, Phase::forward, TrafficKind::all_to_all), bytes(12 * 2 * 16'777'216));
  EXPECT_EQ(total_bytes(model, Phase::input_gradient, TrafficKind::all_to_all), bytes(12 * 2 * 16'777'216));
}

TEST(Transformer, ExpertTimeFollowsTheExpertGroups) {
  // HP-(2,32,1,16) on SW(2)_SW(16)_SW(2): experts are dimension 2. 12 layers, 4 All-to-Alls each of 16777216*15/16 B at
  // 1 GB/s in dimension 2: 15728640000 ps each.
  auto spec = with_experts();
  const auto model = make_transformer(spec, {2, 32, 1, 16}).value();
  const auto mapped = support::mapping("SW(2)_SW(16)_SW(2)", "2,32,1,16");
  const auto time = [&](Bandwidth second) {
    return training_time(
               model, mapped, teraflops(234),
               support::libra("SW(2)_SW(16)_SW(2)", {gigabytes_per_second(1000), second, gigabytes_per_second(1000)}),
               TrainingLoop::no_overlap)
        ->exposed[static_cast<std::size_t>(Phase::forward)];
  };
  // Forward: 24 All-to-Alls; the rest (TP in dimension 1) does not depend on dimension 2.
  EXPECT_EQ(time(gigabytes_per_second(1)) - time(gigabytes_per_second(2)), picoseconds(24 * 7'864'320'000));
}

TEST(Transformer, DegreesThatDoNotDivideSayWhatWould) {
  const auto refused = [](const TransformerSpec& spec, const Parallelization& degrees) {
    return problem_of(make_transformer(spec, degrees));
  };
  EXPECT_EQ(refused(gpt3(), {64, 64}),
            "TP degree 64 does not divide 96 heads (each part is equally large) "
            "use 32, so that the degrees still multiply to 4096");
  // 48 and 96 divide the heads, too, but not 4,096 NPUs; they divide 64 * 72 = 4,608 (4,608 / 48 = 96).
  EXPECT_THAT(refused(gpt3(), {64, 72}), HasSubstr("use 48 or 96, so that the degrees still multiply to 4608"));
  EXPECT_THAT(refused(gpt3(), {16, 16, 5}), HasSubstr("number of stages 5 does not divide 96 layers"));
  EXPECT_THAT(refused(gpt3(), {16, 16, 1, 4}), HasSubstr("without experts"));
  EXPECT_THAT(refused(with_experts(), {2, 48, 1, 48}), HasSubstr("expert degree 48 does not divide 64 experts"));
  auto odd = gpt3();
  odd.microbatches = 3;
  EXPECT_THAT(refused(odd, {16, 16}), HasSubstr("number of microbatches 3 does not divide 16 sequences"));
  odd = gpt3();
  odd.zero_stage = 4;
  odd.layers = 0;
  EXPECT_THAT(refused(odd, {16, 16}), HasSubstr("ZeRO stage 4"));
  EXPECT_THAT(refused(odd, {16, 16}), HasSubstr("layers = 0"));
}

TEST(Transformer, TensorGroupsDivideHeadsOfKeysAndUnits) {
  auto spec = llama3(126, 16'384, 128, 53'248);
  EXPECT_EQ(spec.tensor_parts(), 8);
  EXPECT_THAT(problem_of(make_transformer(spec, {16, 1})), HasSubstr("TP degree 16 does not divide 8 key-value heads"));
  spec.kv_heads = 48;
  EXPECT_THAT(problem_of(make_transformer(spec, {8, 1})),
              HasSubstr("number of key-value heads 48 does not divide 128 heads"));
  spec.kv_heads = 0;
  spec.feed_forward = 53'250;
  EXPECT_THAT(problem_of(make_transformer(spec, {8, 1})),
              HasSubstr("TP degree 8 does not divide 53250 feed-forward units"));
}

TEST(Transformer, WorkBeyondInt64IsRefused) {
  auto huge = gpt3();
  huge.batch = 1'000'000'000'000;
  EXPECT_THAT(problem_of(make_transformer(huge, {16, 256})), HasSubstr("too large"));
}

}  // namespace
}  // namespace tenex
