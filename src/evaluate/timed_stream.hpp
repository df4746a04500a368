// Internal to evaluate: what a textbook algorithm and a synthesizer have in common once they have run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

class SharedSchedules;

/// A timed stream of sends (or times alone) and how it came about.
struct TimedStream {
  Schedule schedule;
  bool has_schedule = true;
  bool physical = true;  ///< times that bounds hold for: all but the congestion-unaware backend's
  SimTime finish;
  std::uint64_t sends = 0;
  std::int64_t with_overlap_ps = -1;
  std::int64_t without_overlap_ps = -1;
  std::string overlap_method;  ///< as in Synthesis
  std::string left_out;        ///< likewise
  std::string engine;
  std::string simulation_engine;  ///< of a program's simulation; empty for synthesizers
  std::string destination_order;  ///< of the program; empty for synthesizers
  std::string chosen_algorithm;   ///< of `auto`; else empty
  std::int64_t candidates = -1;   ///< of `auto`: how many were simulated
  bool single_chunks = true;      ///< every send carries one chunk
  std::vector<LinkLoad> link_loads;
  Utilization utilization;
  std::vector<Delivery> arrivals;
  double synthesis_seconds = 0;
  double simulation_seconds = 0;
};

/// Simulates the point's textbook algorithm, or the best of all candidates for `auto` (the first of the table among
/// equals). `record`: keep the stream for the verifier.
[[nodiscard]] Result<TimedStream> run_program(const DesignPoint& point, const Topology& topology,
                                              const Collective& collective, const EvaluateOptions& options,
                                              bool record);
/// The two halves of an All-Reduce as one stream: the gather's sends shifted by the reduction's finish, its messages
/// and payloads numbered after the reduction's. Errors (resource): more messages or payloads than 32-bit ids number.
/// O(sends).
[[nodiscard]] Result<Schedule> concatenate(const Collective& collective, const Simulation& reduction,
                                           const Simulation& gather);
/// Busy time of all links over the time of a schedule that ends at `finish`. O(sends + bins covered).
[[nodiscard]] Utilization utilization_of(const Topology& topology, const Collective& collective, Occupancy occupancy,
                                         const Schedule& schedule, SimTime finish, std::uint32_t bins);
/// Runs the point's synthesizer, which may take `memory_limit_bytes`, or scales what it made at another pace.
[[nodiscard]] Result<TimedStream> run_synthesizer(const DesignPoint& point, const Topology& topology,
                                                  const Collective& collective, const EvaluateOptions& asked,
                                                  std::size_t memory_limit_bytes, SharedSchedules& shared);

}  // namespace tenex
