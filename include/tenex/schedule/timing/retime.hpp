// Re-timing: the same sends in the same per-link order, each as soon as it can start.
//
// A send may start when its source holds what it claims (all deliveries of the chunk that had arrived at the source by
// the planned start; for a reduction, every one of them) and its link has finished the sends planned before it. By
// induction over planned time the result is never later than the given schedule. Re-timing thus lets a chunk's gather
// begin when its own reduction is complete.
//
// Schedules of billions of sends are too large for lists. has_tight_chain() follows a few of their sends to find out
// whether re-timing can gain anything. If it can, retime_in_trees() keeps the new times by link, as runs of sends at
// equal distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// As-soon-as-possible replay of `schedule`. Expects: a valid schedule (under `transfer` it may be replayed under
/// either occupancy), but sends of a link may overlap, and take turns then; no sums where bandwidth varies. Ensures: as
/// many sends; where none overlap, no later an end. O(sends) memory, O(sends log sends) time.
[[nodiscard]] Schedule retime(const Instance& instance, const Schedule& schedule);

/// A lower bound on the time of every re-timing (retime) of `reduction` followed by `gather` (then_gather). It follows
/// from two links whose sends keep their order: one completes a chunk at the end of the reduction; on the other the
/// gather of that chunk begins and the whole gather ends. Zero if no such links are found. For topologies without
/// switches. Ensures: no more than the time without overlap. O(links) memory; one pass over all sends, or over few of
/// them if the schedules offer link-major access.
[[nodiscard]] SimTime retiming_limit(const Instance& instance, const Schedule& reduction, const Schedule& gather);

/// Returns true if there is a chain of sends without a pause from time zero to the schedule's last arrival, in which
/// each send waits for the one before it: because that one precedes it on the same link, or delivers what it carries.
/// Re-timing cannot end sooner exactly if there is such a chain (for schedules that copy nothing twice and whose
/// partial sums travel in trees). nullopt: not decided (switches, messages, no link-major access, or the search became
/// too long). O(links) memory; for 40,000 NPUs milliseconds if there is a chain, otherwise at most seconds.
[[nodiscard]] std::optional<bool> has_tight_chain(const Instance& instance, const Schedule& schedule);

/// A schedule and its last arrival.
struct Retimed {
  Schedule schedule;
  SimTime time;
};

/// Re-times a large All-Reduce whose partial sums travel in trees, each NPU sending each chunk's sum once (as
/// reversed() and then_gather() make it from a gather without waste). Builds no list: the result is a view of
/// `schedule` with new times. nullopt: switches, messages, chunks of several sizes, no link-major access, an NPU that
/// sends a sum twice, or more than `memory_limit_bytes` beside the schedule. O(sends) time on `threads` threads; the
/// result does not depend on their number. Ensures: as many sends, no later an end, and the time of the result.
[[nodiscard]] std::optional<Retimed> retime_in_trees(const Instance& instance, const Schedule& schedule, int threads,
                                                     std::size_t memory_limit_bytes);

/// Bytes that retime_in_trees() usually takes beside the schedule: a time for every NPU and chunk, positions and runs.
/// It takes more if many sends wait at irregular distances. O(links).
[[nodiscard]] std::size_t retime_in_trees_bytes(const Instance& instance);

}  // namespace tenex
