// Iterations collapsed into a function of the bandwidths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenex/workload/iteration_terms.hpp"
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

constexpr std::string_view kShape = "RI(4)_FC(8)_RI(4)_SW(32)";

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

TEST(IterationTerms, LayersCollapseByGroup) {
  // TP terms: 3 + 1 All-Reduces count twice, 1 All-Gather once: 9 * 805306368 B, of which dimension 1 moves 3/4 and
  // dimension 2 3/16. DP: 2 * 452984832 B, dimensions 2 (2 of 8), 3, 4: 1/2, 3/8, 31/256. Compute: 660 us.
  const auto terms =
      collapse_iteration(gpt3_like(1), mapping(kShape, "16,256"), teraflops(1), {}, TrainingLoop::no_overlap).value();
  EXPECT_EQ(terms.sum.constant, microseconds(660));
  ASSERT_THAT(terms.sum.terms, SizeIs(2));
  EXPECT_THAT(terms.overlaps, SizeIs(0));
  EXPECT_THAT(terms.sum.terms[0].bytes, ElementsAre(5'435'817'984.0, 1'358'954'496.0, 0.0, 0.0));
  EXPECT_THAT(terms.sum.terms[1].bytes, ElementsAre(0.0, 452'984'832.0, 339'738'624.0, 109'707'264.0));
}

TEST(IterationTerms, DoNotGrowWithDepth) {
  const auto once =
      collapse_iteration(gpt3_like(1), mapping(kShape, "16,256"), teraflops(1), {}, TrainingLoop::no_overlap);
  const auto deep =
      collapse_iteration(gpt3_like(48), mapping(kShape, "16,256"), teraflops(1), {}, TrainingLoop::no_overlap);
  EXPECT_EQ(deep->sum.terms.size(), once->sum.terms.size());
  EXPECT_EQ(deep->sum.terms[0].bytes[0], 48 * once->sum.terms[0].bytes[0]);
  EXPECT_EQ(deep->sum.constant, 48 * once->sum.constant);
}

/// The function at given bandwidths against the loop with its rounding to picoseconds.
void expect_same_time(const Workload& workload, std::string_view degrees, const LibraModel& model, TrainingLoop loop) {
  const std::vector<Bandwidth> bandwidth{gigabytes_per_second(310), gigabytes_per_second(77), gigabytes_per_second(41),
                                         gigabytes_per_second(5)};
  const std::vector<double> numbers{310e9, 77e9, 41e9, 5e9};
  const auto laid = mapping(kShape, degrees);
  const auto exact = training_time(workload, laid, teraflops(234), libra(kShape, bandwidth, model), loop).value();
  const auto terms = collapse_iteration(workload, laid, teraflops(234), model, loop).value();
  // The loop rounds each communication up by less than 1 ps: under 1000 communications, in about 1e12 ps.
  EXPECT_THAT(picoseconds_at(terms, numbers), DoubleNear(static_cast<double>(exact.total().count()), 2000.0));
}

TEST(IterationTerms, GiveTheLoopsTime) {
  const LibraModel in_network{false, {false, false, false, true}};
  for (const auto loop : {TrainingLoop::no_overlap, TrainingLoop::tp_dp_overlap})
    for (const auto& model : {LibraModel{}, LibraModel{true, {}}, in_network})
      for (const auto* degrees : {"16,256", "128,32", "1,4096", "64,64", "16,64,4"})
        expect_same_time(gpt3_like(48), degrees, model, loop);
}

TEST(IterationTerms, CountTurnsOfAPipeline) {
  auto staged = gpt3_like(12);
  staged.microbatches = 4;
  for (const auto loop : {TrainingLoop::no_overlap, TrainingLoop::tp_dp_overlap})
    expect_same_time(staged, "16,64,4", {}, loop);
}

TEST(IterationTerms, EqualOverlapsAreOne) {
  // Three layers, all with input-gradient communication. The three differ; their repetitions are equal.
  const auto terms =
      collapse_iteration(gpt3_like(48), mapping(kShape, "16,256"), teraflops(1), {}, TrainingLoop::tp_dp_overlap)
          .value();
  ASSERT_THAT(terms.overlaps, SizeIs(3));
  EXPECT_EQ(terms.overlaps[0].weight, 48);
}

TEST(IterationTerms, ALoopOfWaitsHasNone) {
  EXPECT_THAT(problem_of(collapse_iteration(gpt3_like(1), mapping(kShape, "16,256"), teraflops(1), {},
                                            TrainingLoop::astra_sim)),
              HasSubstr("astra_sim has no closed form"));
}

}  // namespace
}  // namespace tenex
