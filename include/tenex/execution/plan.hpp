// Plans of collective points: the expected seconds and bytes, from sizes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/work.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex {

struct PreparedPoint;

/// The expected cost of a point, from its sizes alone. Used for plans, leases, and the choice between many points with
/// one thread each and one point with many threads.
struct Estimate {
  double seconds = 0;  ///< on one thread
  std::size_t bytes = 0;
  bool threaded = false;  ///< the time falls about in proportion to the threads
};

/// What a point takes, counted from its sizes.
struct Cost {
  Work work;          ///< what is told
  double weight = 0;  ///< what decides, in seconds that never change (Work::weight()). Part of the physics.
  std::size_t bytes = 0;
  bool threaded = false;
  Work shared = {};  ///< the part of the work that the first of the points does that differ from it in pace alone
  [[nodiscard]] Estimate estimate() const { return {work.seconds(), bytes, threaded}; }
};

/// The cost of a textbook algorithm on a shape, its topology included. O(dimensions + length of the groups' text).
[[nodiscard]] Cost cost_of_program(const DesignPoint& point, std::size_t memory_limit_bytes);
/// Guesses the cost of a synthesis on a topology too large to be built for an estimate: the cost of an event-driven
/// engine. O(dimensions).
[[nodiscard]] Cost guess_synthesis(const DesignPoint& point);

/// The memory of a point on one thread, and whether its timed stream is kept for the verifier. Neither depends on the
/// number of threads, so rows do not either.
struct PointPlan {
  std::size_t bytes = 0;
  bool records = true;
  /// Of the algorithms that the point tries: those that are too slow, as expected, to be the fastest. Their sends are
  /// not planned for, so they are not kept if one of them is.
  std::vector<const Algorithm*> unexpected;
  std::string left_out;              ///< why the stream is not kept, with the bytes that it would take
  std::size_t bytes_of_sharing = 0;  ///< more bytes if several threads share a simulation
  std::size_t bytes_per_thread = 0;  ///< more bytes for each thread but the first
  /// The bytes that the limit leaves to a synthesizer: all but those of the point's topology and of the check of its
  /// schedule.
  std::size_t left_for_synthesis = 0;
  /// The link visits that the search for each of the point's bounds with certificates may take: a quarter of the sends
  /// that its algorithm has to make at least (those of one NPU, if it stands for all), within [2^16, 2^25], rounded
  /// down to a power of two, so that points with about as many sends share certificates. The largest number for `bounds
  /// = "full"`. Part of the physics: a change of it changes results.
  std::uint64_t bound_work = 0;
};
/// The plan under this limit, the topology included. Its bytes exceed the limit if even the least plan does not fit.
/// `time_only`: a program's stream is not to be kept. O(links), and the synthesizer's estimate of its bytes.
[[nodiscard]] PointPlan plan_point(const PreparedPoint& prepared, std::size_t memory_limit_bytes,
                                   bool time_only = false);
/// The cost of the point's run as plan_point() plans it under this limit. As plan_point().
[[nodiscard]] Cost cost_of_point(const PreparedPoint& prepared, std::size_t memory_limit_bytes);

/// PointPlan::bound_work by itself.
[[nodiscard]] std::uint64_t bound_work(const PreparedPoint& prepared);

}  // namespace tenex
