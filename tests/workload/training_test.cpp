// Training loops on layers small enough to follow on paper.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenex/workload/training.hpp"
#include "workload/models.hpp"

namespace tenex {
namespace {

using support::in_microseconds;
using support::kShape;
using support::layer;
using support::libra;
using support::mapping;
using support::of_layers;
using support::problem_of;
using support::sum;
using support::work;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<TrainingTime> run(const Workload& workload, TrainingLoop loop, std::string_view degrees = "2,2") {
  return training_time(workload, mapping(kShape, degrees), teraflops(1), libra(kShape, {gigabytes_per_second(1)}),
                       loop);
}

TEST(Training, WithoutOverlapEverythingAddsUp) {
  // 10 + 3 + 20 + 8 + 5 + 7 = 53 us.
  const auto time = run(of_layers({layer()}), TrainingLoop::no_overlap).value();
  EXPECT_THAT(in_microseconds(time.compute), ElementsAre(10, 20, 5));
  EXPECT_THAT(in_microseconds(time.exposed), ElementsAre(3, 8, 7));
  EXPECT_EQ(time.total(), microseconds(53));
  EXPECT_EQ(time.communication(), microseconds(18));
}

TEST(Training, RepetitionsCount) {
  EXPECT_EQ(run(of_layers({layer()}, 48), TrainingLoop::no_overlap)->total(), microseconds(48 * 53));
  EXPECT_EQ(run(of_layers({layer()}, 48), TrainingLoop::tp_dp_overlap)->total(), microseconds(48 * 45));
}

TEST(Training, TpDpOverlapTakesTheLaterOfTheTwo) {
  // LIBRA, IV-C: 10 + 3 + 20 + max(8, 5 + 7) = 45 us: the input gradient's 8 us are hidden.
  const auto time = run(of_layers({layer()}), TrainingLoop::tp_dp_overlap).value();
  EXPECT_EQ(time.total(), microseconds(45));
  EXPECT_THAT(in_microseconds(time.exposed), ElementsAre(3, 0, 7));
  // With 30 us of input gradients: 10 + 3 + 20 + max(30, 12) = 63. Of the 30 us, 5 are computed, 7 are a wait for both
  // gradients, and 18 are a wait for the input gradient alone.
  auto slow = layer();
  slow.at(Phase::input_gradient) = work(20, {sum(30, Scope::tensor)});
  const auto other = run(of_layers({slow}), TrainingLoop::tp_dp_overlap).value();
  EXPECT_EQ(other.total(), microseconds(63));
  EXPECT_THAT(in_microseconds(other.exposed), ElementsAre(3, 18, 7));
}

TEST(Training, AstraSimHidesWeightGradientsBehindWhatFollows) {
  // One layer: 20 input gradient; its 8 us run beside 5 us of weight gradient: 3 exposed. The 7 us of weights, sent at
  // 25, are ready at 32; the forward pass begins at 28 and waits 4: 20 + 5 + 3 + 4 + 10 + 3 = 45.
  const auto one = run(of_layers({layer()}), TrainingLoop::astra_sim).value();
  EXPECT_THAT(in_microseconds(one.exposed), ElementsAre(3, 3, 4));
  EXPECT_EQ(one.total(), microseconds(45));
  // Two layers. Back through the second: 0-20, 20-25, weights queued 25-32, inputs until 28. Through the first: 28-48,
  // 48-53, weights 53-60, inputs until 56. Forward through the first: waits 56-60, 60-70, 70-73; the second's weights
  // have been ready since 32: 73-83, 83-86.
  const auto two = run(of_layers({layer(), layer()}), TrainingLoop::astra_sim).value();
  EXPECT_THAT(in_microseconds(two.exposed), ElementsAre(6, 6, 4));
  EXPECT_EQ(two.total(), microseconds(86));
  EXPECT_EQ(run(of_layers({layer()}, 2), TrainingLoop::astra_sim)->total(), microseconds(86));
}

TEST(Training, WeightGradientsQueueBehindEachOther) {
  // Three layers that only synchronize: backward 1 us each, DP 10 us each, forward 2 us each. The messages are sent at
  // 1, 2, 3. The queue finishes the third layer's at 11, the second's at 21, the first's at 31. Forward from 3: waits
  // 28 for the first; 31-33; the others are ready: total 31 + 6 = 37.
  const Layer only{"dp", {work(2), work(0), work(1, {sum(10, Scope::data)})}};
  const auto time = run(of_layers({only, only, only}), TrainingLoop::astra_sim).value();
  EXPECT_EQ(time.total(), microseconds(37));
  EXPECT_THAT(in_microseconds(time.exposed), ElementsAre(0, 0, 28));
  EXPECT_EQ(run(of_layers({only, only, only}), TrainingLoop::no_overlap)->total(), microseconds(39));
}

TEST(Training, AGroupOfOneTakesNoTime) {
  // HP-(1,4): the tensor groups are single NPUs. DP over SW(2)_SW(2): max(2*1/2, 2*1/4) = 1 of S: still 7 us.
  const auto time = run(of_layers({layer()}), TrainingLoop::no_overlap, "1,4").value();
  EXPECT_THAT(in_microseconds(time.exposed), ElementsAre(0, 0, 7));
}

TEST(Training, AnotherRateScalesOnlyTheComputation) {
  const auto fast = training_time(of_layers({layer()}), mapping(kShape, "2,2"), teraflops(5),
                                  libra(kShape, {gigabytes_per_second(1)}), TrainingLoop::no_overlap)
                        .value();
  EXPECT_THAT(in_microseconds(fast.compute), ElementsAre(2, 4, 1));
  EXPECT_THAT(in_microseconds(fast.exposed), ElementsAre(3, 8, 7));
}

TEST(Training, PipelineFillsAndDrains) {
  // HP-(2,1,2) with 4 microbatches, one layer with TP only: a turn is 10 + 3 + 20 + 8 + 5 = 46 us (DP-1 takes no time).
  // 4 turns of work, 1 more to fill and drain: 184 + 46.
  auto staged = of_layers({layer()});
  staged.microbatches = 4;
  const auto time = run(staged, TrainingLoop::no_overlap, "2,1,2").value();
  EXPECT_THAT(in_microseconds(time.compute), ElementsAre(40, 80, 20));
  EXPECT_EQ(time.bubble, microseconds(46));
  EXPECT_EQ(time.total(), microseconds(230));
}

TEST(Training, WeightsAreSynchronizedOncePerIteration) {
  // HP-(1,2,2), 4 microbatches: a turn computes 35 us; 5 turns and one DP All-Reduce of 7.
  auto staged = of_layers({layer()});
  staged.microbatches = 4;
  for (const auto loop : {TrainingLoop::no_overlap, TrainingLoop::tp_dp_overlap, TrainingLoop::astra_sim}) {
    const auto time = run(staged, loop, "1,2,2").value();
    EXPECT_EQ(time.total(), microseconds(5 * 35 + 7)) << to_string(loop);
    EXPECT_EQ(time.bubble, microseconds(35));
  }
}

TEST(Training, OverlapNeverTakesLonger) {
  for (const std::int64_t tensor : {0, 4, 9, 40})
    for (const std::int64_t data : {0, 4, 9, 40}) {
      auto mixed = layer();
      if (tensor > 0) mixed.at(Phase::input_gradient).communications = {sum(tensor, Scope::tensor)};
      if (data > 0) mixed.at(Phase::weight_gradient).communications = {sum(data, Scope::data)};
      const auto workload = of_layers({mixed, layer(), mixed}, 3);
      const auto plain = run(workload, TrainingLoop::no_overlap)->total();
      const auto overlap = run(workload, TrainingLoop::tp_dp_overlap)->total();
      EXPECT_LE(overlap, plain);
      EXPECT_LE(run(workload, TrainingLoop::astra_sim)->total(), overlap);
    }
}

TEST(Training, ATimeBeyondInt64IsRefused) {
  Layer endless{"endless", {}};
  endless.at(Phase::forward).compute = flops(9'000'000'000'000'000'000);
  EXPECT_THAT(problem_of(training_time(of_layers({endless}, 1000), mapping(kShape, "2,2"), teraflops(1),
                                       libra(kShape, {gigabytes_per_second(1)}), TrainingLoop::no_overlap)),
              HasSubstr("more than 106 days"));
}

TEST(Training, LoopsAreKnownByName) {
  for (const std::string_view name : {"no_overlap", "tp_dp_overlap", "astra_sim"})
    EXPECT_EQ(to_string(*parse_training_loop(name)), name);
  EXPECT_THAT(problem_of(parse_training_loop("no_overlp")), HasSubstr("did you mean \"no_overlap\"?"));
}

TEST(Workload, ImpossibleLayersAreNamed) {
  auto workload = of_layers({layer()}, 0);
  workload.blocks[0].layers[0].at(Phase::forward).communications[0].size = bytes(0);
  const auto text = to_string(check_workload(workload));
  EXPECT_THAT(text, HasSubstr("repeat = 0"));
  EXPECT_THAT(text, HasSubstr("layer \"one\" of block \"layers\" has an all_reduce of 0 bytes"));
  EXPECT_THAT(to_string(check_workload(Workload{})), HasSubstr("without blocks"));
  EXPECT_TRUE(check_workload(of_layers({layer()})).empty());
}

}  // namespace
}  // namespace tenex
