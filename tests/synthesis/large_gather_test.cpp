// `auto` for large gathers: never worse than the coarse engine, never worse than the exact one.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/topologies.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

Synthesis with_engine(const Topology& topology, const Collective& collective, std::string_view engine,
                      int threads = 1) {
  return find_synthesizer("tacos")
      ->synthesize({topology, collective, Occupancy::transfer, {1, 1, std::string(engine)}, threads})
      .value();
}

TEST(LargeGathers, AreAsFastAsTheBetterOfCoarseAndExact) {
  // 24 x 24 = 576 NPUs: 576 * 575 = 331,200 deliveries, above the 200,000 from which the step engines are worth it.
  const auto topology = support::mesh(24, 24);
  const auto gather = support::collective(CollectiveKind::all_gather, 576, mebibytes(576));
  const auto chosen = with_engine(topology, gather, kAutomaticEngine);
  const auto coarse = with_engine(topology, gather, "coarse");
  const auto exact = with_engine(topology, gather, "exact");
  EXPECT_EQ(chosen.time, std::min(coarse.time, exact.time));
  EXPECT_EQ(chosen.engine, coarse.time <= exact.time ? "coarse" : "exact");
  EXPECT_TRUE(verify({topology, gather, Occupancy::transfer}, chosen.schedule).valid());
  EXPECT_EQ(schedule_hash(chosen.schedule), schedule_hash(with_engine(topology, gather, kAutomaticEngine, 4).schedule));
}

TEST(LargeGathers, AllReduceSaysWhichEngineItIsMadeOf) {
  const auto topology = support::mesh(24, 24);
  const auto all_reduce = support::collective(CollectiveKind::all_reduce, 576, mebibytes(576));
  const auto made = with_engine(topology, all_reduce, kAutomaticEngine);
  EXPECT_TRUE(made.engine == "coarse" || made.engine == "exact") << made.engine;
  EXPECT_TRUE(verify({topology, all_reduce, Occupancy::transfer}, made.schedule).valid());
}

TEST(LargeGathers, TryTheNextEngineEvenIfTheFirstTookMoreThanPlanned) {
  // A fat tree unwound to one ring of 686 NPUs (470,000 deliveries) has links of three latencies. The exact engine
  // takes them in steps of the longest, at about half the rate and with twice the rows that it was planned with, so
  // that its schedule leaves less memory than planned. The event-driven engine meets the bound of the ring.
  const auto ring = unwind_switches(support::shape("fat_tree(14)"), 1).value();
  const auto gather = support::collective(CollectiveKind::all_gather, 686, mebibytes(686));
  SynthesisProblem problem{{ring, gather, Occupancy::serialization}};
  const Synthesizer& tacos = *find_synthesizer("tacos");
  problem.memory_limit_bytes = tacos.estimate_bytes(problem);
  const auto made = tacos.synthesize(problem).value();
  EXPECT_EQ(made.engine, "event_driven");
  EXPECT_EQ(made.time, best_cheap_bound({ring, gather, Occupancy::serialization, true}).time);
  EXPECT_EQ(made.left_out, "");
}

TEST(SmallGathers, StayWithTheEventDrivenEngine) {
  const auto topology = support::mesh(4, 4);
  const auto gather = support::collective(CollectiveKind::all_gather, 16, mebibytes(16));
  EXPECT_EQ(with_engine(topology, gather, kAutomaticEngine).engine, "event_driven");
}

}  // namespace
}  // namespace tenex
