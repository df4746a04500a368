// Re-timing: the same sends in the same per-link order, each as soon as it can start.
//
// A send may start when its source holds what it claims (all deliveries of the chunk that had arrived at the source by
// the planned start; for a reduction, every one of them) and its link has finished the sends planned before it. By
// induction over planned time the result is never later than the plan. This is what lets a chunk's gather begin when
// its own reduction is complete.
#pragma once

#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// As-soon-as-possible replay of `schedule`. `schedule` must be valid (under `transfer` it may be replayed under either
/// occupancy). O(sends) memory, O(sends log sends) time.
[[nodiscard]] Schedule retime(const Topology& topology, const Collective& collective, Occupancy occupancy,
                              const Schedule& schedule);

/// A time below which no re-timing (retime) of `reduction` followed by `gather` (then_gather) can come, because of two
/// links whose sends keep their order: one that completes a chunk at the end of the reduction, and one on which the
/// gather of that chunk begins and the whole gather ends. Zero where no such links are found. For topologies without
/// switches. O(links) memory; a pass over all sends, or over few of them where the schedules offer link-major access.
[[nodiscard]] SimTime retiming_limit(const Topology& topology, const Collective& collective, Occupancy occupancy,
                                     const Schedule& reduction, const Schedule& gather);

}  // namespace tenex
