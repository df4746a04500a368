// Work progress: which part of a study's work is done and how long the rest takes, from the first second on.
//
// Work is counted in thread-seconds: how long points occupy how many threads. What ended points occupied is measured.
// What is left is expected: the estimates (evaluate.hpp) times a factor per kind of point (cost_model.hpp). The factor
// is 1 before anything is known, and what is learned enters by weight: learned^w, w = E / (E + P), where E is the
// expected work behind what was learned and P a fiftieth of the expected work of the whole run. A first small point
// that takes a hundred times what was expected of it therefore changes little, and a run of which a tenth is done
// follows its measurements.
//
// A running point counts as done for the time that it has run, up to nine tenths of its whole. One that runs longer
// than expected is taken to need a ninth of its time so far again, and its kind learns from it before it ends. So a
// fraction of 1 and a time of 0 are never said of work that goes on, and the time left grows with the delay.
//
// Plain values without a clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tenex/coordinator/cost_model.hpp"

namespace tenex {

/// A point that runs now.
struct PointAtWork {
  std::uint32_t kind = 0;
  double expected = 0;    ///< seconds of one thread, as estimated
  bool threaded = false;  ///< more threads make it faster about as many times
  int threads = 1;        ///< that it occupies
  double elapsed = 0;     ///< seconds since it began
};

/// What is expected of the points of a run that have not ended, by kind. Not thread-safe.
class ExpectedWork {
 public:
  /// A point that is to be evaluated: `seconds` of one thread as estimated, on `threads` threads at once that it keeps
  /// from others (1 where it shares a rank or makes use of them all). O(1).
  void add(std::uint32_t kind, double seconds, int threads = 1);
  /// Points of a kind that have ended, or are given up. O(1).
  void end(std::uint32_t kind, double seconds);

  /// Of all points that were added, in seconds of one thread.
  [[nodiscard]] double total() const { return total_; }

  struct Sums {
    double left = 0;      ///< seconds of one thread
    double added = 0;     ///< likewise, of all points of the kind
    double occupied = 0;  ///< thread-seconds of these
  };
  [[nodiscard]] const std::unordered_map<std::uint32_t, Sums>& kinds() const { return kinds_; }

 private:
  std::unordered_map<std::uint32_t, Sums> kinds_;
  double total_ = 0;
};

/// All that is known at one moment.
struct WorkAtHand {
  const ExpectedWork* expected = nullptr;  ///< of the points that have not ended, running ones included
  LearnedCosts costs;                      ///< of the points that have ended
  double occupied = 0;                     ///< thread-seconds of ended points, those of earlier runs included
  std::vector<PointAtWork> running;
  /// The longest point that waits: no number of threads beside its own makes the run shorter than it.
  PointAtWork longest_waiting;
  int threads = 1;        ///< of all ranks
  bool draining = false;  ///< no further point begins
};

struct WorkOutlook {
  double fraction = 0;      ///< of the work, in [0, 1); 1 where nothing is left
  double seconds_left = 0;  ///< of the run
  /// Seconds that each running point is expected to take yet, as in WorkAtHand::running.
  std::vector<double> running_left;
};

/// O(kinds + running points).
[[nodiscard]] WorkOutlook look_ahead(const WorkAtHand& work);

}  // namespace tenex
