// The matching algorithm of TACOS as its paper prints it (Algorithm 1 of "TACOS: Topology-Aware Collective Algorithm
// Synthesizer", section IV-D) marks a delivery as a holding inside its loop, so a chunk can be forwarded in the very
// step in which it arrives. The verifier must reject such schedules, and accept those of the same algorithm with
// holdings frozen at the step's start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "schedule/schedule_factories.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

enum class Holdings { as_printed, frozen };

struct PrintedSynthesis {
  std::vector<Send> sends;
  std::size_t forwarded_in_the_same_step = 0;
};

/// Algorithms 1 and 2 on homogeneous links: one step lasts `step`, each link carries one chunk per step.
PrintedSynthesis match_step_by_step(const Topology& topology, const Collective& collective, SimTime step,
                                    std::uint64_t seed, Holdings holdings) {
  const auto npus = static_cast<std::uint32_t>(topology.npus());
  const auto chunks = static_cast<std::uint32_t>(collective.chunks());
  std::vector precond(npus, std::vector<bool>(chunks));
  for (std::uint32_t d = 0; d < npus; ++d)
    for (std::uint32_t c = 0; c < chunks; ++c) precond[d][c] = collective.holds_at_start(NpuId(d), ChunkId(c));
  Random random(seed);
  PrintedSynthesis result;
  for (SimTime now;; now += step) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> unsatisfied;
    for (std::uint32_t d = 0; d < npus; ++d)
      for (std::uint32_t c = 0; c < chunks; ++c)
        if (collective.must_hold(NpuId(d), ChunkId(c)) && !precond[d][c]) unsatisfied.emplace_back(d, c);
    if (unsatisfied.empty()) return result;
    random.shuffle(std::span(unsatisfied));
    const auto at_step_start = precond;
    std::vector<bool> matched(topology.links());
    for (const auto& [d, c] : unsatisfied) {
      std::vector<LinkId> candidates;
      for (const LinkId link : topology.in_links(VertexId(d))) {
        const auto s = topology.source(link).index();
        const bool held = holdings == Holdings::frozen ? at_step_start[s][c] : precond[s][c];
        if (!matched[link.index()] && held) candidates.push_back(link);
      }
      if (candidates.empty()) continue;
      const LinkId chosen = candidates[random.below(static_cast<std::uint32_t>(candidates.size()))];
      if (!at_step_start[topology.source(chosen).index()][c]) ++result.forwarded_in_the_same_step;
      precond[d][c] = true;
      matched[chosen.index()] = true;
      result.sends.push_back({now, chosen, ChunkId(c), Stage::copy});
    }
  }
}

class PrintedAlgorithm : public ::testing::TestWithParam<const char*> {
 protected:
  const Topology topology_ = support::shape(GetParam());
  const Collective collective_ = support::collective(CollectiveKind::all_gather, topology_.npus(),
                                                     bytes(1000 * static_cast<std::int64_t>(topology_.npus())), 1);
  const SimTime step_ = hop_time(topology_.classes()[0], collective_.chunk_sizes()[0], Occupancy::transfer).latency;

  Verdict check(const PrintedSynthesis& synthesis) const {
    return verify({topology_, collective_, Occupancy::transfer}, make_list_schedule(synthesis.sends),
                  {.max_findings = 100'000});
  }
};

TEST_P(PrintedAlgorithm, IsRejectedForEverySendOfAChunkThatArrivesInTheSameStep) {
  std::size_t forwarding = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PrintedSynthesis synthesis = match_step_by_step(topology_, collective_, step_, seed, Holdings::as_printed);
    const Verdict verdict = check(synthesis);
    EXPECT_EQ(verdict.violations, synthesis.forwarded_in_the_same_step);
    for (const auto& finding : verdict.findings) EXPECT_EQ(finding.violation, Violation::source_lacks_chunk);
    forwarding += synthesis.forwarded_in_the_same_step > 0 ? 1 : 0;
  }
  EXPECT_GE(forwarding, 15U);  // most of the schedules have the flaw
}

TEST_P(PrintedAlgorithm, IsAcceptedWithHoldingsFrozenAtTheStepsStart) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PrintedSynthesis synthesis = match_step_by_step(topology_, collective_, step_, seed, Holdings::frozen);
    EXPECT_EQ(synthesis.forwarded_in_the_same_step, 0U);
    const Verdict verdict = check(synthesis);
    EXPECT_TRUE(verdict.valid());
    EXPECT_EQ(verdict.waste, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, PrintedAlgorithm, ::testing::Values("RI(4)", "RI(8)", "mesh(3,3)", "mesh(5,4)"),
                         [](const auto& info) { return std::string("shape") + std::to_string(info.index); });

}  // namespace
}  // namespace tenex
