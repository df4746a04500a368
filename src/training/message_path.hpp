// A point-to-point message between neighbours of a scope (pipeline stages).
//
// Idea. All NPUs of a stage send to their partners in the next one at the same time. On a product of dimensions these
// messages have the same displacement everywhere. So in dimension order they move in step and no two need a link at
// once: each takes alpha + beta*m for every hop of its path. Stages are numbered through the dimensions like digits of
// a number. A boundary at which a digit carries over has another path than the others, and the slowest boundary sets
// the pace. (Messages over different kinds of boundaries are assumed not to meet.)
#pragma once

#include "tenex/topology/topology.hpp"
#include "tenex/workload/parallelization.hpp"

namespace tenex {

/// The time over the slowest boundary between neighbours of a group, on the product of the dimensions that `span`
/// crosses (in its order). O(shares * (links + hops)).
[[nodiscard]] SimTime message_time(const Topology& topology, const GroupSpan& span, Bytes size);

/// A lower bound: no message can cross the slowest boundary sooner. O(shares * links log NPUs).
[[nodiscard]] SimTime least_message_time(const Topology& topology, const GroupSpan& span, Bytes size);

}  // namespace tenex
