// One collective: planned, run and verified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/timed_stream.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {

struct PreparedPoint;
struct ExecutionCache;

/// Runs the point's algorithm or synthesizer as planned: on as many threads as the limit leaves memory for. The
/// stream's `left_out` includes the plan's. Errors: those of the algorithm.
[[nodiscard]] Result<TimedStream> run_collective(const PreparedPoint& prepared, const PointPlan& plan,
                                                 const ExecutionOptions& options, ExecutionCache& cache);

/// The verifier's answer about a schedule for which a time is claimed.
struct StreamCheck {
  Verdict verdict;
  std::string error;     ///< why the schedule is invalid or takes another time; empty if neither
  std::string left_out;  ///< why it is not verified; empty if it is
  double seconds = 0;
};

/// Verifies a schedule that `who` (an algorithm) claims to take `time`. The check may use `memory_limit_bytes` and
/// `threads`.
[[nodiscard]] StreamCheck check_stream(const Instance& instance, const Schedule& schedule, SimTime time,
                                       std::string_view who, const VerifyOptions& options);
/// What the limit leaves for the check of a planned run: exact sums may take what the plan does not.
[[nodiscard]] VerifyOptions checking_options(const PointPlan& plan, const ExecutionOptions& options);

/// The results of a collective that was run.
struct VerifiedCollective {
  std::shared_ptr<const Collective> collective;
  Schedule schedule;      ///< if keep_schedule and there is one
  SimTime time;           ///< last useful arrival
  bool verified = false;  ///< replayed by the verifier
  std::string left_out;   ///< why it is not verified, or what was left out of the synthesis
  std::int64_t memory_planned_bytes = 0;
  double synthesis_seconds = 0;
  double simulation_seconds = 0;
  double verification_seconds = 0;

  /// Takes the verifier's answer. Throws InvariantError if it is an error.
  void take(const StreamCheck& check);
};

/// Runs the point's algorithm or synthesizer on its network for the given groups (the point's own are not
/// read). `keep_schedule`: return the verified stream. Errors: those of the collective, of check_time_range(), of the
/// plan (resource) and of the algorithm. An invalid schedule is a broken invariant (InvariantError).
[[nodiscard]] Result<VerifiedCollective> time_collective(const DesignPoint& point,
                                                         std::shared_ptr<const PointTopology> network,
                                                         std::vector<ProcessGroup> groups,
                                                         const ExecutionOptions& options, bool keep_schedule,
                                                         ExecutionCache& cache);

}  // namespace tenex
