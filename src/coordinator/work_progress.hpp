// Work progress: the fraction of a study's work that is done and the time left, from the first second on.
//
// Work is counted in thread-seconds: the time for which a point occupies its threads, times their number. It is
// measured for points that ended. It is expected for the others: the estimates (evaluate.hpp) times a factor per kind
// of point (cost_model.hpp). The factor is 1 before anything is known. A learned factor enters by its weight, as
// learned^w with w = E / (E + P), where E is the expected work behind the learned factor and P a fiftieth of the
// expected work of the whole run. So a first small point that takes a hundred times its estimate changes little, and a
// run of which a tenth is done follows its measurements.
//
// A running point counts as done for the time that it has run, up to nine tenths of its expected time. If it runs
// longer than expected, its time left is taken to be a ninth of its time so far, and its kind learns from it before it
// ends. So unfinished work never has the fraction 1 or the time left 0, and the time left grows with the delay.
//
// All of this is computed from plain values without a clock.
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
  bool threaded = false;  ///< its time is about inversely proportional to the number of threads
  int threads = 1;        ///< that it occupies
  double elapsed = 0;     ///< seconds since it began
};

/// The expected work of the points of a run that have not ended, by kind. Not thread-safe.
class ExpectedWork {
 public:
  /// Adds a point that is to be evaluated. `seconds`: its estimate on one thread. `threads`: the number that it
  /// occupies although it does not use them (1 if it shares its rank with other points or uses all its threads). O(1).
  void add(std::uint32_t kind, double seconds, int threads = 1);
  /// Removes points of a kind that ended or were given up. O(1).
  void end(std::uint32_t kind, double seconds);

  /// The sum over all points that were added, in seconds of one thread.
  [[nodiscard]] double total() const { return total_; }

  struct Sums {
    double left = 0;      ///< seconds of one thread
    double added = 0;     ///< seconds of one thread, over all points of the kind
    double occupied = 0;  ///< thread-seconds of all points of the kind
  };
  [[nodiscard]] const std::unordered_map<std::uint32_t, Sums>& kinds() const { return kinds_; }

 private:
  std::unordered_map<std::uint32_t, Sums> kinds_;
  double total_ = 0;
};

/// Everything that is known at one moment.
struct WorkAtHand {
  const ExpectedWork* expected = nullptr;  ///< of the points that have not ended, running ones included
  LearnedCosts costs;                      ///< of the points that have ended
  double occupied = 0;                     ///< thread-seconds of ended points, with those of earlier runs
  std::vector<PointAtWork> running;
  /// The longest waiting point: the run takes at least as long as this point on its own rank's threads.
  PointAtWork longest_waiting;
  int threads = 1;        ///< of all ranks
  bool draining = false;  ///< no further point begins
};

struct WorkOutlook {
  double fraction = 0;      ///< of the work, in [0, 1); 1 where nothing is left
  double seconds_left = 0;  ///< of the run
  /// Expected time left of each running point in seconds, in the order of WorkAtHand::running.
  std::vector<double> running_left;
};

/// O(kinds + running points).
[[nodiscard]] WorkOutlook look_ahead(const WorkAtHand& work);

}  // namespace tenex
