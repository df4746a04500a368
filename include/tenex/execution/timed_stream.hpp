// The common result of textbook algorithms and synthesizers: a timed stream of sends.
#pragma once

#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/schedule/run_metrics.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

struct PointPlan;
struct PreparedPoint;
struct ExecutionCache;

/// A timed stream of sends (or times alone), and what its run reports.
struct TimedStream : RunMetrics {
  Schedule schedule;
  bool has_schedule = true;
  bool physical = true;  ///< bounds hold for its times: all but the congestion-unaware backend's
  SimTime finish;
  std::string left_out;       ///< as in Synthesis
  SimTime rate_time;          ///< as in Synthesis
  bool single_chunks = true;  ///< every send carries one chunk
  std::vector<LinkLoad> link_loads;
  Utilization utilization;
  std::vector<Delivery> arrivals;
};

/// Simulates the point's textbook algorithm, or the best of all candidates for `auto` (the first of the table among
/// equals). Keeps the stream for the verifier if the plan says so.
[[nodiscard]] Result<TimedStream> run_program(const PreparedPoint& prepared, const ExecutionOptions& options,
                                              const PointPlan& plan, ExecutionCache& cache);
/// Runs the point's synthesizer, which may take `memory_limit_bytes`, or scales a schedule that it made at another
/// pace.
[[nodiscard]] Result<TimedStream> run_synthesizer(const PreparedPoint& prepared, const ExecutionOptions& asked,
                                                  std::size_t memory_limit_bytes, ExecutionCache& cache);

}  // namespace tenex
