// The work that estimates count: units, derived by hand from sizes. What a unit takes is no matter here.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/points.hpp"
#include "evaluate/training_points.hpp"
#include "tenex/base/work.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

using support::point;
using support::Words;

Cost cost_of(Words words) {
  words.emplace_back("size", "1MiB");
  return Estimator().cost(point(std::move(words)));
}

/// Checks the counts of these units, and that no other unit of simulation, verification or synthesis is counted, but
/// those that only decide.
void expect_counts(const Work& work, const std::map<WorkUnit, double>& expected) {
  for (const WorkPrice& price : work_prices()) {
    const auto found = expected.find(price.unit);
    if (found == expected.end() && (price.part == "rest" || price.part == "weight")) continue;
    EXPECT_DOUBLE_EQ(work.count(price.unit), found == expected.end() ? 0 : found->second) << price.name;
  }
}

TEST(CountedWork, OfARingIsAHopForEachSend) {
  // 4 chunks go to 3 others each: 12 sends, all of one hop. All 8 links are looked at for one NPU, as all are alike.
  // The search for a certificate takes its least, 2^16 link visits, for one method: a cut.
  expect_counts(cost_of({{"topology", "RI(4)"}, {"algorithm", "ring"}}).work, {{WorkUnit::recorded_hop, 12},
                                                                               {WorkUnit::verified_send, 12},
                                                                               {WorkUnit::hashed_send, 12},
                                                                               {WorkUnit::point, 1},
                                                                               {WorkUnit::link, 8},
                                                                               {WorkUnit::bound_visit, 8},
                                                                               {WorkUnit::certificate_visit, 65'536}});
}

TEST(CountedWork, OfAnAllReduceIsThatOfItsHalvesToo) {
  // Twice 12 sends, and as many again in halves, of which one NPU's stand for all: 24 / 4. Two methods have
  // certificates: cuts and strength.
  expect_counts(cost_of({{"topology", "RI(4)"}, {"algorithm", "ring"}, {"collective", "all_reduce"}}).work,
                {{WorkUnit::recorded_hop, 24},
                 {WorkUnit::simulated_hop, 6},
                 {WorkUnit::verified_sum, 24},
                 {WorkUnit::hashed_send, 24},
                 {WorkUnit::certificate_visit, 2 * 65'536}});
}

TEST(CountedWork, OfWhatDoesNotMoveWithTheShapeIsThatOfAllItsNpus) {
  // Too little memory to keep sends, so that they are timed alone. On a 4x4 torus an NPU is 1 hop far from its equal on
  // average along each dimension: 2 for any two of 16, 32/15 for two that differ. one_shot sends 16 * 15 messages, so
  // 512 hops, which no NPU stands for. direct sends twice as many, times them as a whole and as a half, and moves with
  // the shape: 2 * 1024 / 16.
  const auto timed = [](const char* algorithm) {
    return Estimator(1)
        .cost(point(
            {{"topology", "torus(4,4)"}, {"collective", "all_reduce"}, {"size", "4KiB"}, {"algorithm", algorithm}}))
        .work.count(WorkUnit::simulated_hop);
  };
  EXPECT_DOUBLE_EQ(timed("one_shot"), 512);
  EXPECT_DOUBLE_EQ(timed("direct"), 128);
}

TEST(CountedWork, OfDimensionsIsThatOfEachBlock) {
  // One slice for each of 64 NPUs. By blocks: a message over the link of two, three round the ring, three that halve
  // over the switch, of two hops each: 1 + 3 + 6 hops. By rings: seven over the switch, 1 + 3 + 14. A slice brings an
  // NPU 63 chunks: a half of 64 over the first dimension, 3/8 round the ring, 7/64 over the switch.
  const Words words{{"topology", "FC(2)_RI(4)_SW(8)"}, {"size", "1MiB"}};
  for (const auto& [algorithm, hops] : {std::pair{"hierarchical", 64 * 10.0}, std::pair{"blueconnect", 64 * 18.0}}) {
    auto named = words;
    named.emplace_back("algorithm", algorithm);
    const Work work = Estimator().cost(point(named)).work;
    EXPECT_DOUBLE_EQ(work.count(WorkUnit::recorded_hop), hops) << algorithm;
    EXPECT_NEAR(work.count(WorkUnit::verified_chunk), 64 * 63, 1e-6) << algorithm;
    EXPECT_EQ(static_cast<double>(support::row_of(point(named)).sends), hops) << algorithm;
  }
}

TEST(CountedWork, OfStraightMessagesFollowsTheirDistance) {
  // On a line of 3, pairs are 1, 2 and 1 hops apart: 4/3 on average, 8 hops for 6 messages.
  expect_counts(cost_of({{"topology", "LI(3)"}, {"algorithm", "direct"}, {"collective", "all_to_all"}}).work,
                {{WorkUnit::recorded_hop, 8}, {WorkUnit::verified_send, 8}, {WorkUnit::hashed_send, 8}});
}

TEST(CountedWork, OfAProgramWithoutCongestionIsItsMessages) {
  expect_counts(cost_of({{"topology", "LI(3)"}, {"algorithm", "direct"}, {"backend", "congestion_unaware"}}).work,
                {{WorkUnit::formula_message, 6}});
}

TEST(CountedWork, OfAllAlgorithmsIsATimingOfEachAndARunOfTheLightest) {
  // Five algorithms do a Broadcast among four: direct sends 3 messages of a hop each, the others are expected to send
  // more.
  const Words words{{"topology", "FC(4)"}, {"collective", "broadcast"}};
  const auto with = [&](const char* algorithm) {
    auto more = words;
    more.emplace_back("algorithm", algorithm);
    return cost_of(more).work;
  };
  double hops = 0;
  for (const auto* algorithm : {"direct", "binomial", "bine", "k_ary_tree", "chain"})
    hops += with(algorithm).count(WorkUnit::recorded_hop);
  const Work all = with("auto");
  EXPECT_DOUBLE_EQ(all.count(WorkUnit::simulated_hop), hops);
  EXPECT_DOUBLE_EQ(all.count(WorkUnit::recorded_hop), 3);
}

TEST(CountedWork, OfTheEventDrivenEngineIsSendsAndLooks) {
  // 12 sends; each of 8 links looks at each of 4 chunks.
  const Words words{{"topology", "mesh(2,2)"}, {"algorithm", "tacos"}, {"engine", "event_driven"}};
  expect_counts(cost_of(words).work, {{WorkUnit::event_send, 12},
                                      {WorkUnit::event_look, 32},
                                      {WorkUnit::event_send_kept, 12},
                                      {WorkUnit::verified_send, 12},
                                      {WorkUnit::hashed_send, 12},
                                      {WorkUnit::bound_visit, 32}});
  auto more = words;
  more.emplace_back("attempts", "5");
  EXPECT_DOUBLE_EQ(cost_of(more).work.count(WorkUnit::event_send), 60);
}

TEST(CountedWork, OfTheExactEngineIsDeliveriesReadLinkByLink) {
  expect_counts(cost_of({{"topology", "mesh(4,4)"}, {"algorithm", "tacos"}, {"engine", "exact"}}).work,
                {{WorkUnit::exact_delivery, 240}, {WorkUnit::send_by_link, 240}, {WorkUnit::hashed_cell, 240}});
}

TEST(CountedWork, OfUnwoundSwitchesIsAPlayOnThem) {
  // 4 * 3 sends go up to the switch and down from it.
  EXPECT_DOUBLE_EQ(cost_of({{"topology", "SW(4)"}, {"algorithm", "tacos"}}).work.count(WorkUnit::switched_hop), 24);
  EXPECT_DOUBLE_EQ(cost_of({{"topology", "RI(4)"}, {"algorithm", "tacos"}}).work.count(WorkUnit::switched_hop), 0);
}

TEST(CountedWork, OfASolverIsItsModel) {
  if (find_synthesizer("te_ccl") == nullptr) GTEST_SKIP() << "built without solvers";
  // 6 links, 3 chunks and 10 epochs.
  const Work work = cost_of({{"topology", "RI(3)"}, {"algorithm", "te_ccl"}}).work;
  EXPECT_DOUBLE_EQ(work.count(WorkUnit::te_ccl_column), 180);
  EXPECT_DOUBLE_EQ(work.count(WorkUnit::te_ccl_cell), 180 * 180);
}

TEST(CountedWork, OfANumberOfChunksIsThatOfAllThatAreTried) {
  // 1, 2, 4, ..., 512 chunks: 1,023 times the hops of one.
  const auto cost = cost_of({{"topology", "RI(4)"}, {"algorithm", "ring"}, {"chunks", "auto"}});
  EXPECT_DOUBLE_EQ(cost.work.count(WorkUnit::recorded_hop), 1023 * 12);
  EXPECT_GT(cost.weight, 1023 * 12 * (2e-7 + 2.5e-7));
}

TEST(CountedWork, OfTheBestIsThatOfItsTrials) {
  const Words words{{"topology", "RI(4)"}};
  const auto with = [&](const char* algorithm) {
    auto more = words;
    more.emplace_back("algorithm", algorithm);
    return cost_of(more);
  };
  const auto best = with("best");
  double weight = 0;
  for (const auto* algorithm : {"ring", "direct", "tacos", "pccl", "trees"}) weight += with(algorithm).weight;
  EXPECT_GE(best.weight, weight);
  for (const auto* algorithm : {"ring", "direct"})
    EXPECT_GT(best.work.count(WorkUnit::recorded_hop), with(algorithm).work.count(WorkUnit::recorded_hop));
}

TEST(CountedWork, OfAFormulaIsOne) {
  const auto given = support::training_point(
      {{"workload", "gpt3"}, {"hp", "2,4"}, {"topology", "RI(8)"}, {"npu_bandwidth", "50GB/s"}});
  const Work work = Estimator().cost(given).work;
  EXPECT_DOUBLE_EQ(work.count(WorkUnit::formula), 1);
  expect_counts(work, {});
}

}  // namespace
}  // namespace tenex
