// Reversal, All-Reduce and re-timing of symmetric schedules, orbit by orbit: O(sends / npus).
//
// The general forms are in views.hpp and retime.hpp and mean the same. Here the reversal of an All-Gather is on the
// topology itself, not on its reverse: a link and its reverse are alike (a direction and its opposite share a class),
// so a send of a chunk from s to r at [t, t + latency) becomes a send of a partial sum from r to s, over the link in
// the opposite direction, at [T - t - latency, T - t).
#pragma once

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/symmetric_schedule.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

/// The time reversal of a symmetric All-Gather (valid, free of waste): a symmetric Reduce-Scatter on the same topology.
/// O(orbits). All functions here throw InvariantError for a schedule that is not symmetric.
[[nodiscard]] Schedule reversed_symmetric(const Instance& instance, const Schedule& schedule);

/// `reduction` followed by `gather`, which starts at `gather_begins`: the All-Reduce without overlap. O(orbits).
[[nodiscard]] Schedule then_gather_symmetric(const Schedule& reduction, const Schedule& gather, SimTime gather_begins);

/// Starts every orbit as soon as its source holds what it sends and its link has finished the sends planned before it.
/// For Reduce-Scatter and All-Reduce whose reductions are in-trees, and for All-Gather. Never later than the plan.
/// O(orbits).
[[nodiscard]] Schedule retime_symmetric(const Instance& instance, const Schedule& schedule);

/// The last arrival of a symmetric schedule, without expanding it. O(orbits).
[[nodiscard]] SimTime last_arrival_symmetric(const Instance& instance, const Schedule& schedule);

}  // namespace tenex
