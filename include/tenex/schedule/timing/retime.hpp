// Re-timing: the same sends in the same per-link order, each as soon as it can start.
//
// A send may start when its source holds what it claims (all deliveries of the chunk that had arrived at the source by
// the planned start; for a reduction, every one of them) and its link has finished the sends planned before it. By
// induction over planned time the result is never later than the given schedule. Re-timing thus lets a chunk's gather
// begin when its own reduction is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

/// As-soon-as-possible replay of `schedule`. Expects: a valid schedule (under `transfer` it may be replayed under
/// either occupancy), but sends of a link may overlap, and take turns then; no sums where bandwidth varies. Ensures: as
/// many sends; where none overlap, no later an end. With virtual cut-through it is retime_early(). O(sends) memory,
/// O(sends log sends) time.
[[nodiscard]] Schedule retime(const Instance& instance, const Schedule& schedule);

/// The same on a network with virtual cut-through (tenex/topology/hand_over.hpp), for a schedule that may have been
/// planned for switches that store and forward. Without `overlap` no final value of an All-Reduce leaves before all
/// sums are complete. The schedule itself where sums of a chunk leave a switch one after another. Expects: a valid
/// schedule for these start delays. Ensures: no later an end. O(sends log sends) time.
[[nodiscard]] Schedule retime_early(const Instance& instance, const Schedule& schedule,
                                    std::span<const StartDelay> start_delays, bool overlap);
/// Bytes that retime_early() takes beside a schedule of so many sends.
[[nodiscard]] std::size_t retime_early_bytes(std::uint64_t sends);

/// Bytes that retime() takes beside a valid schedule of so many sends, without messages, whose sums travel in trees:
/// for each 38 and a table of NPUs and chunks where one pass does, 160 over switches. (Measured: 34 to 38, 150.)
[[nodiscard]] std::size_t retime_bytes(const Instance& instance, std::uint64_t sends);

}  // namespace tenex
