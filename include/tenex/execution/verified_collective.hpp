// One collective: planned, run and verified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

class SharedSchedules;

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
};

/// Runs the point's algorithm or synthesizer on the point's topology for the given groups (the point's own are not
/// read). `keep_schedule`: return the verified stream. `shared`: schedules of other paces. Errors: those of the
/// collective, of check_time_range(), of the plan (resource) and of the algorithm. An invalid schedule is a broken
/// invariant (InvariantError).
[[nodiscard]] Result<VerifiedCollective> time_collective(const DesignPoint& point, const Topology& topology,
                                                         std::vector<ProcessGroup> groups,
                                                         const ExecutionOptions& options, bool keep_schedule,
                                                         SharedSchedules& shared);

/// Verifies a schedule; fills `verified`, `left_out` and `verification_seconds` of `result`. Throws InvariantError
/// unless it is valid (or its sums could not be checked) and ends at `time`.
void verify_collective(VerifiedCollective& result, const Topology& topology, const Collective& collective,
                       Occupancy occupancy, const Schedule& schedule, SimTime time, const ExecutionOptions& options);

}  // namespace tenex
