// A million NPUs: an All-Gather and an All-Reduce on a 100x100x100 torus, synthesized and verified by orbit.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/topologies.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(SymmetricScale, GathersOnAMillionNpusAtTheBound) {
  const Topology torus = support::shape("torus(100,100,100)");
  const Collective gather = support::collective(CollectiveKind::all_gather, torus.npus(), bytes(100'000'000'000));
  const auto begin = std::chrono::steady_clock::now();
  const SynthesisProblem problem{torus, gather, Occupancy::transfer, {1, 1, "symmetric"}};
  const Synthesis made = find_synthesizer("tacos")->synthesize(problem).value();
  RecordProperty("synthesis_seconds", std::to_string(seconds_since(begin)));
  const Verdict verdict = verify_symmetric({torus, gather, Occupancy::transfer}, made.schedule);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.sends, 999'999'000'000U);
  EXPECT_EQ(made.time, best_cheap_bound({torus, gather, Occupancy::transfer, true}).time);
}

TEST(SymmetricScale, AllReducesOnAMillionNpus) {
  const Topology torus = support::shape("torus(100,100,100)");
  const Collective all = support::collective(CollectiveKind::all_reduce, torus.npus(), bytes(100'000'000'000));
  const SynthesisProblem problem{torus, all, Occupancy::serialization, {1, 1, "symmetric"}};
  const Synthesis made = find_synthesizer("tacos")->synthesize(problem).value();
  const Verdict verdict = verify_symmetric({torus, all, Occupancy::serialization}, made.schedule);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.sends, 1'999'998'000'000U);
  EXPECT_EQ(verdict.reduction_check, "in_tree");
  const SimTime bound = best_cheap_bound({torus, all, Occupancy::serialization, true}).time;
  EXPECT_GE(static_cast<double>(bound.count()), 0.9999 * static_cast<double>(made.time.count()));
}

}  // namespace
}  // namespace tenex
