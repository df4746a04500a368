// What the tests of pccl's engine `orbit` over switches expect of a schedule: valid to the full replay, to the orbit
// check and to a naive reading of the definition, in one time that is not below the bound.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "schedule/naive_oracle.hpp"
#include "support/verdicts.hpp"
#include "synthesis/pccl/orbit/orbit.hpp"
#include "synthesis/synthesis_support.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"

namespace tenex::support {

inline constexpr std::size_t kMostForOracle = 400;  ///< sends: it compares them in pairs, and sums in triples

/// The full replay, the orbit check and, if it is small, the definition find the schedule valid, in this time.
inline void expect_orbits_valid(const Instance& instance, const Schedule& schedule, SimTime time) {
  const Verdict verdict = expect_valid(instance, schedule, time);
  if (has_orbit_check(instance.topology, instance.collective, schedule)) {
    const Verdict by_orbit = verify_symmetric(instance, schedule);
    EXPECT_TRUE(by_orbit.valid()) << first_finding(by_orbit);
    EXPECT_EQ(by_orbit.collective_time, time);
    EXPECT_EQ(by_orbit.sends, verdict.sends);
    EXPECT_EQ(by_orbit.waste, 0U);
  }
  if (schedule.sends() > kMostForOracle) return;
  const auto answer = test::NaiveOracle(instance, schedule).answer();
  EXPECT_TRUE(answer.valid);
  EXPECT_EQ(answer.collective_time, time);
}

/// Synthesizes; the schedule is valid and not below the bound.
inline Synthesis orbit_checked(const SynthesisProblem& problem) {
  EXPECT_EQ(pccl_orbit_unsuitable(problem), std::nullopt);
  const Synthesis made = synthesize_pccl_orbit(problem).value();
  expect_orbits_valid(problem, made.schedule, made.time);
  if (problem.collective.kind() == CollectiveKind::all_reduce)
    expect_orbits_valid(problem, made.without_overlap, made.time_without_overlap);
  EXPECT_LE(made.time, made.time_without_overlap);
  EXPECT_GE(made.time, best_cheap_bound({problem, true}).time);
  return made;
}

inline SimTime orbit_time(CollectiveKind kind, const Topology& topology, std::int64_t chunks, Occupancy occupancy) {
  const Collective collective = of_megabytes(kind, topology.npus(), chunks);
  return orbit_checked({{topology, collective, occupancy}}).time;
}

}  // namespace tenex::support
