// The number of chunks that links can deliver by a time, and the least time for a given number.
//
// A link whose hop takes `latency` and keeps it busy for `busy` has delivered at most 1 + floor((T - latency) / busy)
// chunks by T >= latency and none before. Under `transfer` that is floor(T / (alpha + beta*m)), under `serialization`
// floor((T - alpha) / (beta*m)): the floor counts of the project's physics in one formula. Where several chunks may
// share a send, they may share its alpha and its rounding. Then a link has delivered at most floor((T - alpha) *
// bandwidth) bytes by T under either occupancy: any number of sends with B bytes together, the last of which arrives by
// T, take at least the serialization time of B before its alpha. So it has delivered at most so many bytes over m
// chunks, rounded down. Bounds that follow chunks from hop to hop (relay, approach, pipeline) cut every send of several
// into sends of one chunk in a row, each beta*m rounded down after the one before it. These fit into the time for which
// the send keeps its link, arrive no later than it does, and start no earlier, so that all that it waits for has come.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Links of one class: their number, and the hop of one chunk over each.
struct LinkBundle {
  std::int64_t links = 0;
  HopTime hop;
};

/// The bundles of a set of links for one chunk size: `links_of_class[k]` links of class k. Classes without links are
/// left out. O(classes).
[[nodiscard]] std::vector<LinkBundle> bundles_of(const BoundProblem& problem,
                                                 std::span<const std::int64_t> links_of_class, Bytes size);

/// The least T at which the bundles together can have delivered `chunks`; zero for zero chunks, SimTime::max() where
/// there is no link. Exact, by binary search over picoseconds. O(bundles * 63).
[[nodiscard]] SimTime least_time(std::span<const LinkBundle> bundles, std::int64_t chunks);

/// The least T at which `links_of_class[k]` links of class k, for all k together, can have delivered `chunks` chunks of
/// `size`, by BoundProblem::delivered(). O(classes * 63).
[[nodiscard]] SimTime least_time(const BoundProblem& problem, std::span<const std::int64_t> links_of_class, Bytes size,
                                 std::int64_t chunks);

}  // namespace tenex
