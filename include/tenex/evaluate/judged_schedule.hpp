// Another tool's schedule on a network of tenex: its time by the simulator, the verifier's answer, and the bound.
#pragma once

#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/exchange/foreign_schedule.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {

struct JudgedSchedule {
  ScheduleFile file;  ///< the sends as the simulator times them
  SimTime time;       ///< last useful arrival
  /// Of tenex's verifier on these sends. `invalid` of a valid schedule: its sums pass NPUs in other pieces than they
  /// left, which tenex's messages do not, so that the time is not verified.
  Verdict verdict;
  SimTime bound;  ///< of all schedules of the collective
  std::string bound_name = {};
};

/// Adds to `schedule.wrong` the transfers for which the topology has no link, nor a way over switches alone that its
/// messages take. O(pairs).
void check_links(ForeignSchedule& schedule, const Topology& topology);

/// Simulates a valid schedule on the point's network for the point's size, occupancy and routes: every transfer is
/// injected when those that it comes after have arrived, and passes switches alone where any way does. The point's
/// collective, chunks and algorithm are not read.
/// Errors (input): a network of another number of NPUs, a transfer without a link, a size that has fewer bytes than
/// chunks; those of building the network and of the simulator. O(hops + verification).
[[nodiscard]] Result<JudgedSchedule> judge_schedule(ForeignSchedule& schedule, const DesignPoint& point,
                                                    const ExecutionOptions& options);

}  // namespace tenex
