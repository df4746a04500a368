// Internal to evaluate: what a textbook algorithm and a synthesizer have in common once they have run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// A timed stream of sends (or, for the congestion-unaware backend, times alone) and how it came about.
struct TimedStream {
  Schedule schedule;
  bool has_schedule = true;
  SimTime finish;
  std::uint64_t sends = 0;
  std::int64_t with_overlap_ps = -1;
  std::int64_t without_overlap_ps = -1;
  std::string engine;
  std::vector<LinkLoad> link_loads;
  double synthesis_seconds = 0;
  double simulation_seconds = 0;
};

/// Simulates the point's textbook algorithm.
[[nodiscard]] Result<TimedStream> run_program(const DesignPoint& point, const Topology& topology,
                                              const Collective& collective, bool link_loads);
/// The two halves of an All-Reduce as one stream: the gather's sends shifted by the reduction's finish, its messages
/// numbered after the reduction's. Errors (resource): more messages than 32-bit ids number. O(sends).
[[nodiscard]] Result<Schedule> concatenate(const Simulation& reduction, const Simulation& gather);
/// Runs the point's synthesizer.
[[nodiscard]] Result<TimedStream> run_synthesizer(const DesignPoint& point, const Topology& topology,
                                                  const Collective& collective, int threads, bool link_loads);

}  // namespace tenex
