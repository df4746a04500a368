// What a point of a collective will take: seconds and bytes, from sizes alone.
#pragma once

#include <cstddef>
#include <string>

#include "tenex/collective/collective.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// What a point is expected to cost, from its sizes alone. Used for plans, leases and wide/deep.
struct Estimate {
  double seconds = 0;  ///< on one thread
  std::size_t bytes = 0;
  bool threaded = false;  ///< more threads make it faster about as many times
};

/// What a textbook algorithm on a shape takes, its topology included. O(dimensions + length of the groups' text).
[[nodiscard]] Estimate estimate_program(const DesignPoint& point, std::size_t memory_limit_bytes);
/// A guess at what a synthesis takes on a topology too large to be built for an estimate: what an event-driven engine
/// would take. O(dimensions).
[[nodiscard]] Estimate guess_synthesis(const DesignPoint& point);

/// What the point takes under this limit, its topology included. Beyond the limit where even the least does not fit.
[[nodiscard]] Estimate estimate_built(const DesignPoint& point, const Topology& topology, const Collective& collective,
                                      std::size_t memory_limit_bytes);

/// What a point takes on one thread, and whether its timed stream is kept for the verifier. Neither depends on how many
/// threads there are, so rows do not.
struct PointPlan {
  Estimate estimate;
  bool records = true;
  std::string left_out;              ///< why not, with the bytes it would take
  std::size_t bytes_of_sharing = 0;  ///< further, where a simulation is shared by threads
  std::size_t bytes_per_thread = 0;  ///< and for each thread but the first
};
/// `time_only`: a program's stream is not to be kept.
[[nodiscard]] PointPlan plan_built(const DesignPoint& point, const Topology& topology, const Collective& collective,
                                   std::size_t memory_limit_bytes, bool time_only = false);

/// How many of `threads` the limit leaves memory for, the plan's own aside; 1 at least.
[[nodiscard]] int affordable_threads(const PointPlan& plan, int threads, std::size_t memory_limit_bytes);

/// What the limit leaves to a synthesizer: all but the point's topology and the check of its schedule.
[[nodiscard]] std::size_t left_for_synthesis(const DesignPoint& point, const Topology& topology,
                                             const Collective& collective, std::size_t memory_limit_bytes);

}  // namespace tenex
