// A point-to-point message between neighbours of a scope (pipeline stages).
//
// Idea. All NPUs of a stage send to their partners in the next one at the same time. On a product of dimensions these
// messages have the same displacement everywhere, so in dimension order they move in step and no two want a link at
// once: each takes what its path takes, alpha + beta*m for every hop. Stages follow one another through the dimensions
// like digits; the boundary where a digit carries over has a path of its own, and the slowest sets the pace.
// (Boundaries of different kinds at once are taken to pass one another.)
#pragma once

#include "tenex/topology/topology.hpp"
#include "tenex/workload/parallelization.hpp"

namespace tenex {

/// The time over the slowest boundary between neighbours of a group, on the product of the dimensions that `span`
/// crosses (in its order). O(shares * (links + hops)).
[[nodiscard]] SimTime message_time(const Topology& topology, const GroupSpan& span, Bytes size);

/// No message can cross the slowest boundary sooner. O(shares * links log NPUs).
[[nodiscard]] SimTime least_message_time(const Topology& topology, const GroupSpan& span, Bytes size);

}  // namespace tenex
