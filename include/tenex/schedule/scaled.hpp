// A schedule at another pace: the same sends, all times multiplied by one ratio.
//
// Where every send takes the same time h and keeps its link as long, what follows from comparing sums of such times
// does not change when h does: the starts are k * h with k that stay. So the schedule for a hop of h2 is that for a hop
// of h1 with its starts multiplied by h2 / h1, exactly.
#pragma once

#include <cstdint>

#include "tenex/base/quantity.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Multiplies times by `to` / `from` without a division: k * from becomes k * to.
class TimeScale {
 public:
  /// Both positive (InvariantError otherwise).
  TimeScale(SimTime from, SimTime to);

  /// `time` is a multiple of `from`, not negative, and the product fits; anything else makes no sense. O(1).
  [[nodiscard]] SimTime operator()(SimTime time) const {
    return SimTime::of(static_cast<std::int64_t>((static_cast<std::uint64_t>(time.count()) >> shift_) * factor_));
  }

 private:
  int shift_;
  std::uint64_t factor_;
};

/// The schedule whose sends start at k * `to` where those of `schedule` start at k * `from`. All starts are multiples
/// of `from`, and fit (TimeScale). The schedule itself where the two are equal; a symmetric schedule of its own where
/// `schedule` is symmetric, O(orbits log orbits); else a view, O(1), which costs a pass over the starts of whatever is
/// read.
[[nodiscard]] Schedule scaled(const Schedule& schedule, SimTime from, SimTime to);

}  // namespace tenex
