// Re-timing: the same sends in the same per-link order, each as soon as it can start.
//
// A send may start when its source holds what it claims (all deliveries of the chunk that had arrived at the source by
// the planned start; for a reduction, every one of them) and its link has finished the sends planned before it. By
// induction over planned time the result is never later than the plan. This is what lets a chunk's gather begin when
// its own reduction is complete.
//
// Schedules of billions of sends have no room for lists. Whether they can gain at all is found out by following a few
// of their sends (has_tight_chain); where they can, their new times are kept by link, as runs of sends back to back
// (retime_in_trees).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

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

/// Whether sends follow one another without a pause from time zero to the schedule's last arrival, each waiting for the
/// one before it: because it is behind it on the same link, or carries what that one brings. Exactly then no re-timing
/// ends sooner (of schedules that copy nothing twice and whose partial sums travel in trees). nullopt: not found out
/// (switches, messages, no link-major access, or the search became too long). O(links) memory; milliseconds for 40,000
/// NPUs where there is a chain, seconds at most where there is none.
[[nodiscard]] std::optional<bool> has_tight_chain(const Topology& topology, const Collective& collective,
                                                  Occupancy occupancy, const Schedule& schedule);

/// A schedule and its last arrival.
struct Retimed {
  Schedule schedule;
  SimTime time;
};

/// Re-timing of a large All-Reduce whose partial sums travel in trees, each NPU sending each chunk's once (what
/// reversed() and then_gather() make of a gather without waste), without a list: a view of `schedule` with new times.
/// nullopt: switches, messages, chunks of several sizes, no link-major access, an NPU that sends a sum twice, or more
/// than `memory_limit_bytes` beside the schedule. O(sends) time on `threads` threads, the same result for any number.
[[nodiscard]] std::optional<Retimed> retime_in_trees(const Topology& topology, const Collective& collective,
                                                     Occupancy occupancy, const Schedule& schedule, int threads,
                                                     std::size_t memory_limit_bytes);

/// Bytes that retime_in_trees() usually takes beside the schedule: a time for every NPU and chunk, places and runs.
/// More where many sends wait at irregular distances. O(links).
[[nodiscard]] std::size_t retime_in_trees_bytes(const Topology& topology, const Collective& collective,
                                                Occupancy occupancy);

}  // namespace tenex
