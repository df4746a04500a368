// Iterations collapsed into a function of the bandwidths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenex/workload/time_model.hpp"
#include "workload/models.hpp"

namespace tenex {
namespace {

using support::libra;
using support::mapping;
using support::of_layers;
using support::problem_of;
using support::work;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::string_view kLongShape = "RI(4)_FC(8)_RI(4)_SW(32)";

/// Two transformer layers' worth of GPT-3: 8 TP All-Reduces of 768 MiB, 2 All-Gathers of them, one DP All-Reduce.
Workload gpt3_like(std::int64_t repeat) {
  const Communication tensor{TrafficKind::all_reduce, bytes(805'306'368), Scope::tensor};
  const Communication gather{TrafficKind::all_gather, bytes(805'306'368), Scope::tensor};
  const Communication data{TrafficKind::all_reduce, bytes(452'984'832), Scope::data};
  return of_layers({{"first", {work(100, {tensor}), work(100, {tensor}), work(100, {data})}},
                    {"second", {work(100, {tensor}), work(100, {gather}), work(100)}},
                    {"third", {work(10), work(20, {tensor}), work(30)}}},
                   repeat);
}

TEST(CollapseIteration, MakesATermPerGroup) {
  // TP terms: 3 + 1 All-Reduces count twice, 1 All-Gather once: 9 * 805306368 B, of which dimension 1 moves 3/4 and
  // dimension 2 3/16. DP: 2 * 452984832 B, dimensions 2 (2 of 8), 3, 4: 1/2, 3/8, 31/256. Compute: 660 us.
  const auto model =
      collapse_iteration(gpt3_like(1), mapping(kLongShape, "16,256"), teraflops(1), {}, TrainingLoop::no_overlap)
          .value();
  EXPECT_EQ(model.constant, 660e-6);
  ASSERT_THAT(model.terms, SizeIs(2));
  EXPECT_THAT(model.overlaps, SizeIs(0));
  EXPECT_THAT(model.terms[0].volumes, ElementsAre(5'435'817'984.0, 1'358'954'496.0, 0.0, 0.0));
  EXPECT_THAT(model.terms[1].volumes, ElementsAre(0.0, 452'984'832.0, 339'738'624.0, 109'707'264.0));
}

TEST(CollapseIteration, DoesNotGrowWithDepth) {
  const auto once =
      collapse_iteration(gpt3_like(1), mapping(kLongShape, "16,256"), teraflops(1), {}, TrainingLoop::no_overlap);
  const auto deep =
      collapse_iteration(gpt3_like(48), mapping(kLongShape, "16,256"), teraflops(1), {}, TrainingLoop::no_overlap);
  EXPECT_EQ(deep->terms.size(), once->terms.size());
  EXPECT_EQ(deep->terms[0].volumes[0], 48 * once->terms[0].volumes[0]);
  EXPECT_EQ(deep->constant, 31680e-6);  // 48 * 660 us
}

/// The function at given bandwidths against the loop with its rounding to picoseconds.
void expect_same_time(const Workload& workload, std::string_view degrees, const LibraModel& volumes,
                      TrainingLoop loop) {
  const std::vector<Bandwidth> bandwidth{gigabytes_per_second(310), gigabytes_per_second(77), gigabytes_per_second(41),
                                         gigabytes_per_second(5)};
  const std::vector<double> numbers{310e9, 77e9, 41e9, 5e9};
  const auto laid = mapping(kLongShape, degrees);
  const auto exact = training_time(workload, laid, teraflops(234), libra(kLongShape, bandwidth, volumes), loop).value();
  const auto model = collapse_iteration(workload, laid, teraflops(234), volumes, loop).value();
  // The loop rounds each communication up by less than 1 ps: under 1000 communications, in about 1e12 ps.
  EXPECT_THAT(time_at(model, numbers) * 1e12, DoubleNear(static_cast<double>(exact.total().count()), 2000.0));
}

TEST(CollapseIteration, GivesTheLoopsTime) {
  const LibraModel in_network{false, {false, false, false, true}};
  for (const auto loop : {TrainingLoop::no_overlap, TrainingLoop::tp_dp_overlap})
    for (const auto& model : {LibraModel{}, LibraModel{true, {}}, in_network})
      for (const auto* degrees : {"16,256", "128,32", "1,4096", "64,64", "16,64,4"})
        expect_same_time(gpt3_like(48), degrees, model, loop);
}

TEST(CollapseIteration, CountsTurnsOfAPipeline) {
  auto staged = gpt3_like(12);
  staged.microbatches = 4;
  for (const auto loop : {TrainingLoop::no_overlap, TrainingLoop::tp_dp_overlap})
    expect_same_time(staged, "16,64,4", {}, loop);
}

TEST(CollapseIteration, MakesEqualOverlapsOne) {
  // Three layers, all with input-gradient communication. The three differ; their repetitions are equal.
  const auto model =
      collapse_iteration(gpt3_like(48), mapping(kLongShape, "16,256"), teraflops(1), {}, TrainingLoop::tp_dp_overlap)
          .value();
  ASSERT_THAT(model.overlaps, SizeIs(3));
  EXPECT_EQ(model.overlaps[0].weight, 48);
  // The third layer: an All-Reduce of 805306368 B over dimension 1 (2 * 3/4) and dimension 2 (2 * 3/16), against 30 us.
  EXPECT_EQ(model.overlaps[2].first, (TimeSum{0, {{1, {1'207'959'552.0, 301'989'888.0, 0, 0}}}}));
  EXPECT_EQ(model.overlaps[2].second, (TimeSum{30e-6, {}}));
}

TEST(CollapseIteration, RefusesALoopOfWaits) {
  EXPECT_THAT(problem_of(collapse_iteration(gpt3_like(1), mapping(kLongShape, "16,256"), teraflops(1), {},
                                            TrainingLoop::astra_sim)),
              HasSubstr("astra_sim has no closed form"));
}

}  // namespace
}  // namespace tenex
