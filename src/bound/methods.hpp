// The bounds that the registry lists, one file each.
#pragma once

#include <optional>

#include "bound/demand.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// The in-links of every NPU can deliver what it must receive, or its out-links can carry what must leave it (floor
/// count).
template <Direction direction>
[[nodiscard]] std::optional<SimTime> port_bound(const BoundProblem& problem);
/// All links together can carry all sends that must happen (floor count).
[[nodiscard]] std::optional<SimTime> link_total_bound(const BoundProblem& problem);
/// The farthest pair of NPUs between which a chunk or a contribution must travel.
[[nodiscard]] std::optional<SimTime> eccentricity_bound(const BoundProblem& problem);
/// Several chunks pass an NPU's ports one after another and travel the farthest distance after (or before) that.
[[nodiscard]] std::optional<SimTime> pipeline_bound(const BoundProblem& problem);
/// All-Gather, Reduce-Scatter: the in-links of every NPU can deliver its demand, where a neighbour must receive before
/// it relays.
[[nodiscard]] std::optional<SimTime> relay_bound(const BoundProblem& problem);
/// All-Gather, Reduce-Scatter: the in-links of every NPU can deliver its demand, where distant chunks reach them late.
[[nodiscard]] std::optional<SimTime> approach_bound(const BoundProblem& problem);
/// All-to-All: the links of every dimension (or all links) can carry the distances between all pairs.
[[nodiscard]] std::optional<SimTime> volume_distance_bound(const BoundProblem& problem);
/// All-to-All on products with lines: the links in the middle of the lines can carry what crosses the middle.
[[nodiscard]] std::optional<SimTime> middle_cut_bound(const BoundProblem& problem);
/// All-Reduce: the links that leave boxes of NPUs, which faster links or the switches above them join, carry two
/// crossings of each chunk per box.
[[nodiscard]] std::optional<SimTime> boxes_bound(const BoundProblem& problem);
/// What must leave NPUs that start late needs its time from then on.
[[nodiscard]] std::optional<SimTime> late_start_bound(const BoundProblem& problem);
/// Every NPU's links deliver the contributions that it needs (or spread what it has), of which early (late) sends carry
/// few.
[[nodiscard]] std::optional<SimTime> hops_bound(const BoundProblem& problem);
/// The links that enter a set of vertices deliver what must, between the ways to them and on from them.
[[nodiscard]] std::optional<SimTime> entry_bound(const BoundProblem& problem);
/// All-Reduce without overlap: bound of the reduction plus bound of the gather.
[[nodiscard]] std::optional<SimTime> sum_of_parts_bound(const BoundProblem& problem);

}  // namespace tenex
