// Re-timing: the same sends in the same per-link order, each as soon as it can start.
//
// A send may start when its source holds what it claims (all deliveries of the chunk that had arrived at the source by
// the planned start; for a reduction, every one of them) and its link has finished the sends planned before it. By
// induction over planned time the result is never later than the given schedule. Re-timing thus lets a chunk's gather
// begin when its own reduction is complete.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// As-soon-as-possible replay of `schedule`. Expects: a valid schedule (under `transfer` it may be replayed under
/// either occupancy), but sends of a link may overlap, and take turns then; no sums where bandwidth varies. Ensures: as
/// many sends; where none overlap, no later an end. O(sends) memory, O(sends log sends) time.
[[nodiscard]] Schedule retime(const Instance& instance, const Schedule& schedule);

/// Bytes that retime() takes beside a valid schedule of so many sends: for each 50 without switches, where sums travel
/// in trees, and 100 over switches.
[[nodiscard]] std::size_t retime_bytes(const Topology& topology, std::uint64_t sends);

}  // namespace tenex
