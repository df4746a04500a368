// Views of schedules: reversal in time, and All-Reduce as a reduction followed by a gather.
//
// Reduce-Scatter is an All-Gather on the reversed topology, reversed in time (TACOS, section IV-E): a send over link l
// at [start, arrival) becomes one over l's reverse at [T - arrival, T - start). Waste must be pruned first, because a
// delivery that nobody needs would count a contribution twice.
//
// If all sends take equally long and belong to no messages, reversal keeps segments and tiles whole, and the views read
// them from the underlying schedule, however large it is. Reading a segment or a tile of a view costs a pass over its
// columns.
#pragma once

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Drops sends that deliver a chunk to a vertex that already has it, or to one that neither needs nor forwards it.
/// Expects: a valid schedule of a collective that only copies. Ensures: no more sends, and no later an end. O(sends).
[[nodiscard]] Schedule prune_waste(const Instance& instance, const Schedule& schedule);

/// Whether reversed() returns a view for schedules without messages: all sends take equally long. O(classes).
[[nodiscard]] bool reverses_as_view(const Instance& instance);

/// The time reversal. Expects: a schedule that is valid for `collective` (All-Gather or Broadcast) on
/// `topology.reversed()` and free of waste, and no bandwidth that varies. Ensures: as many sends, and no later an end.
/// The result is valid for Reduce-Scatter (or Reduce) on `topology` (link ids are the same on both).
/// Starts are T - arrival where T is the last arrival; stages become `reduce`. A view in O(1) memory if all sends take
/// equally long and carry no messages, otherwise a list, O(sends log sends).
[[nodiscard]] Schedule reversed(const Instance& instance, const Schedule& schedule);

/// The same sends under other names: link l becomes links[l], chunk c becomes chunks[c] (empty: stays c). Expects:
/// permutations. The result is valid if the renaming keeps the durations of sends and the conditions of the collective.
/// A view in O(links + chunks) memory if sends carry no messages, otherwise a list.
[[nodiscard]] Schedule relabelled(const Schedule& schedule, std::vector<LinkId> links,
                                  std::vector<ChunkId> chunks = {});

/// `reduction` (Reduce-Scatter) followed by `gather` (All-Gather), shifted to start when the reduction has finished:
/// the All-Reduce without overlap. A view of both, O(1) memory beyond the parts. Expects: chunk ids of both collectives
/// that agree (Collective::as). Ensures: the sends and the time of both together.
[[nodiscard]] Schedule then_gather(const Instance& instance, const Schedule& reduction, const Schedule& gather);

}  // namespace tenex
