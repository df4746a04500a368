// Tables restated for other degrees, GNMT, and the choice of the kind of model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tenex/workload/workload_model.hpp"
#include "workload/models.hpp"

namespace tenex {
namespace {

using support::all_reduce;
using support::of_layers;
using support::problem_of;
using support::work;
using ::testing::HasSubstr;

/// For TP-16: 160 us of work, 1000 B of activations, 480 B of gradients.
Workload table() {
  auto workload = of_layers({{"one",
                              {work(160), work(160, {all_reduce(bytes(1000), Scope::tensor)}),
                               work(160, {all_reduce(bytes(480), Scope::data)})}}});
  workload.tensor = 16;
  return workload;
}

const Layer& only(const Workload& workload) { return workload.blocks[0].layers[0]; }
std::int64_t activations(const Workload& workload) {
  return only(workload).at(Phase::input_gradient).communications[0].size.count();
}
std::int64_t gradients(const Workload& workload) {
  return only(workload).at(Phase::weight_gradient).communications[0].size.count();
}

TEST(Restate, KeepsATableForItsOwnTensorDegree) {
  for (const auto rule : {BatchRule::replica, BatchRule::machine})
    EXPECT_EQ(restate(table(), {16, 256}, rule).value(), table());
}

TEST(Restate, AReplicaThatKeepsItsBatchSharesItsWork) {
  // TP-32 in place of TP-16: half the work and half the weights of each NPU, the same activations.
  const auto half = restate(table(), {32, 128}).value();
  EXPECT_EQ(half.tensor, 32);
  EXPECT_EQ(only(half).at(Phase::forward).compute, flops(80'000'000));
  EXPECT_EQ(activations(half), 1000);
  EXPECT_EQ(gradients(half), 240);
}

TEST(Restate, AMachineThatKeepsItsBatchGivesReplicasMore) {
  // TP-32: half as many replicas, each with twice the batch: the work of an NPU stays the same, activations double,
  // weights halve.
  const auto wide = restate(table(), {32, 128}, BatchRule::machine).value();
  EXPECT_EQ(only(wide).at(Phase::forward).compute, flops(160'000'000));
  EXPECT_EQ(activations(wide), 2000);
  EXPECT_EQ(gradients(wide), 240);
  // TP-12: 1000 * 12/16 = 750, 480 * 16/12 = 640.
  const auto narrow = restate(table(), {12, 12}, BatchRule::machine).value();
  EXPECT_EQ(activations(narrow), 750);
  EXPECT_EQ(gradients(narrow), 640);
}

TEST(Restate, RoundsUpToWholeBytes) {
  // 480 * 16/7 = 1097.14..
  EXPECT_EQ(gradients(restate(table(), {7, 7}).value()), 1098);
}

TEST(Restate, RefusesWhatTheTableDoesNotKnow) {
  auto data_only = of_layers({{"one", {work(1), work(1), work(1, {all_reduce(bytes(8), Scope::data)})}}});
  EXPECT_THAT(problem_of(restate(data_only, {2, 8})), HasSubstr("have no tensor-parallel communication) use TP-1"));
  EXPECT_THAT(problem_of(restate(table(), {16, 4, 2})), HasSubstr("2 pipeline stages"));
  EXPECT_THAT(problem_of(restate(table(), {16, 4, 1, 2})), HasSubstr("have no experts"));
}

TEST(Restate, CommunicationBetweenAllIsTheSameUnderAnyDegrees) {
  const auto dlrm = of_layers({{"one", {work(1), work(1), work(1, {all_reduce(bytes(8), Scope::world)})}}});
  EXPECT_EQ(restate(dlrm, {1024, 4}).value(), dlrm);
}

TEST(Gnmt, HasThePublishedWeights) {
  // LSTM layers of 4*1024*(1024+1024) = 8388608 weights (encoder 1 both ways, 3 to 8) and of 4*1024*(2048+1024) =
  // 12582912 (encoder 2, decoder): 8*8388608 + 9*12582912 = 180355072. Attention 2*1024^2 = 2097152, softmax and two
  // embeddings 32000*1024 each: 280756224 weights, where Shazeer et al. (2017) count 278 million. Two bytes each.
  const auto model = make_gnmt({}).value();
  EXPECT_EQ(total_bytes(model, Phase::weight_gradient, TrafficKind::all_reduce), bytes(2 * 280'756'224));
  EXPECT_EQ(count_layers(model), 9 + 8 + 4);
}

TEST(Gnmt, DoesTwoFlopsPerWeightAndToken) {
  // 215220224 weights in products (without the embeddings), 128 * 50 tokens: 12800 * 215220224 = 2754818867200; the
  // attention's pairs 4*128*50*50*1024 = 1310720000.
  const auto model = make_gnmt({}).value();
  EXPECT_EQ(total_compute(model, Phase::forward), flops(2'754'818'867'200 + 1'310'720'000));
  EXPECT_EQ(total_compute(model, Phase::input_gradient), flops(2'754'818'867'200 + 2 * 1'310'720'000LL));
  EXPECT_EQ(total_compute(model, Phase::weight_gradient), flops(2'754'818'867'200));
}

TEST(Gnmt, ImpossibleDimensionsAreRefused) {
  GnmtSpec spec;
  spec.encoder_layers = 1;
  spec.hidden = 0;
  const auto text = problem_of(make_gnmt(spec));
  EXPECT_THAT(text, HasSubstr("encoder_layers = 1"));
  EXPECT_THAT(text, HasSubstr("hidden = 0"));
}

TEST(WorkloadModel, BecomesAWorkloadUnderDegrees) {
  EXPECT_EQ(make_workload(table(), {16, 2})->name, "test");
  TransformerSpec spec;
  spec.name = "small";
  spec.heads = 4;
  spec.hidden = 64;
  EXPECT_EQ(make_workload(spec, {2, 2})->tensor, 2);
  EXPECT_EQ(make_workload(GnmtSpec{}, {1, 64})->name, "gnmt");
  EXPECT_THAT(problem_of(make_workload(GnmtSpec{}, {2, 32})), HasSubstr("use HP-(1,64)"));
}

TEST(WorkloadModel, AMachinesBatchIsSharedByTheReplicasOfAGeneratedModel) {
  // 64 sequences. BatchRule::replica: each NPU works on 64. BatchRule::machine: 4 replicas take 16 each, so a quarter
  // of the work and of the activations; weight gradients do not depend on the batch.
  TransformerSpec spec;
  spec.layers = 2;
  spec.hidden = 64;
  spec.heads = 4;
  spec.sequence = 8;
  spec.batch = 64;
  const Parallelization degrees{2, 4};
  const auto own = make_workload(spec, degrees, {BatchRule::replica}).value();
  const auto shared = make_workload(spec, degrees, {BatchRule::machine}).value();
  for (const auto phase : {Phase::forward, Phase::input_gradient}) {
    EXPECT_EQ(total_compute(own, phase).count(), 4 * total_compute(shared, phase).count());
    EXPECT_EQ(total_bytes(own, phase, TrafficKind::all_reduce),
              4 * total_bytes(shared, phase, TrafficKind::all_reduce));
  }
  EXPECT_EQ(total_bytes(own, Phase::weight_gradient, TrafficKind::all_reduce),
            total_bytes(shared, Phase::weight_gradient, TrafficKind::all_reduce));
  spec.batch = 16;
  EXPECT_EQ(shared, make_workload(spec, degrees, {BatchRule::replica}).value());
  spec.batch = 6;
  EXPECT_THAT(problem_of(make_workload(spec, degrees, {BatchRule::machine})),
              HasSubstr("use 2 replicas"));  // of those that divide 6, 2 * 4 NPUs can have 1 and 2
  // GNMT: 128 sentence pairs over 64 NPUs are 2 per NPU.
  GnmtSpec pairs;
  const auto two_each = make_workload(pairs, {1, 64}, {BatchRule::machine}).value();
  pairs.batch = 2;
  EXPECT_EQ(two_each, make_workload(pairs, {1, 64}, {BatchRule::replica}).value());
  EXPECT_FALSE(make_workload(GnmtSpec{}, {1, 256}, {BatchRule::machine}).ok());
}

TEST(WorkloadModel, AGlobalBatchTakesThePlaceOfTheModels) {
  TransformerSpec spec;
  spec.name = "small";
  spec.layers = 2;
  spec.hidden = 64;
  spec.heads = 4;
  spec.sequence = 8;
  spec.batch = 16;
  const auto eight_each = make_workload(spec, {2, 4}, {BatchRule::replica, 32}).value();
  spec.batch = 8;
  EXPECT_EQ(eight_each, make_workload(spec, {2, 4}).value());
  EXPECT_EQ(eight_each, make_workload(spec, {2, 4}, {BatchRule::machine, 32}).value()) << "whatever the rule";
  EXPECT_EQ(problem_of(make_workload(spec, {2, 4}, {BatchRule::replica, 30})),
            "30 sequences of workload \"small\" for 4 replicas (global_batch is the whole machine's, and replicas take "
            "equally many whole sequences) use 2 replicas, or a global_batch that is a multiple of 4");
  // 2 is the one divisor of 30 but 1 that divides the 8 NPUs, too. Of 15 there is none.
  EXPECT_THAT(problem_of(make_workload(spec, {2, 4}, {BatchRule::replica, 15})),
              HasSubstr(" use 1 replica, or a global"));
  GnmtSpec pairs;
  pairs.batch = 2;
  EXPECT_EQ(make_workload(GnmtSpec{}, {1, 64}, {BatchRule::replica, 128}).value(),
            make_workload(pairs, {1, 64}).value());
  EXPECT_FALSE(states_batch(table()));
  EXPECT_TRUE(states_batch(spec));
}

TEST(WorkloadModel, TheMachinesBatchHasItsSequencesTokensAndModelFlops) {
  // A layer does 24 s h^2 + 4 s^2 h = 24*8*64^2 + 4*64*64 = 802,816 FLOPs forward per sequence, and three times that in
  // all; two layers 4,816,896. Logits of 100 words: 3 * 2 s h V = 307,200 more.
  TransformerSpec spec;
  spec.layers = 2;
  spec.hidden = 64;
  spec.heads = 4;
  spec.sequence = 8;
  spec.batch = 16;
  const auto expect = [&](const Parallelization& degrees, BatchRule rule, std::int64_t global, double samples,
                          double flops) {
    const auto batch = machine_batch(spec, degrees, {rule, global}).value();
    EXPECT_EQ(batch.samples, samples) << to_string(degrees);
    EXPECT_EQ(batch.tokens, 8 * samples) << to_string(degrees);
    EXPECT_EQ(batch.flops, flops * samples) << to_string(degrees);
  };
  expect({2, 4}, BatchRule::replica, 0, 64, 4'816'896);
  expect({2, 4}, BatchRule::machine, 0, 16, 4'816'896);
  expect({1, 8}, BatchRule::replica, 0, 128, 4'816'896);
  expect({1, 8}, BatchRule::replica, 32, 32, 4'816'896);
  spec.vocabulary = 100;
  spec.microbatches = 4;
  expect({2, 2, 2}, BatchRule::replica, 64, 64, 5'124'096);  // no stage counts the logits twice
  // 64 NPUs with 128 pairs of 50 source and 50 target tokens each.
  const auto pairs = machine_batch(GnmtSpec{}, {1, 64}).value();
  EXPECT_EQ(pairs.samples, 128 * 64);
  EXPECT_EQ(pairs.tokens, 128 * 64 * 100);
  // The table's NPU does 3 * 160e6 FLOPs; under TP-32 half of that.
  const auto layers = machine_batch(table(), {32, 4}).value();
  EXPECT_TRUE(std::isnan(layers.samples));
  EXPECT_TRUE(std::isnan(layers.tokens));
  EXPECT_EQ(layers.flops, 128 * 3 * 80e6);
}

TEST(WorkloadModel, BatchRulesAreKnownByName) {
  for (const auto rule : {BatchRule::replica, BatchRule::machine}) EXPECT_EQ(*parse_batch_rule(to_string(rule)), rule);
  EXPECT_FALSE(parse_batch_rule("global").ok());
}

}  // namespace
}  // namespace tenex
