// Scaling: the same sends with all times multiplied by one ratio.
//
// If every send takes the same time h and keeps its link busy as long, the starts are k * h, and comparisons of sums of
// such times do not depend on h, so neither does any k. The schedule for a hop of h2 is therefore that for a hop of h1
// with its starts multiplied by h2 / h1, exactly.
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

  /// `time` must be a multiple of `from`, not negative, and the product must fit; otherwise the result is undefined.
  /// O(1).
  [[nodiscard]] SimTime operator()(SimTime time) const {
    return SimTime::of(static_cast<std::int64_t>((static_cast<std::uint64_t>(time.count()) >> shift_) * factor_));
  }

 private:
  int shift_;
  std::uint64_t factor_;
};

/// The schedule whose sends start at k * `to` where those of `schedule` start at k * `from`. Expects: starts that are
/// multiples of `from`, and products that fit (TimeScale). Ensures: as many sends. Returns `schedule` itself if `from`
/// equals `to`; a new symmetric schedule if `schedule` is symmetric, O(orbits log orbits); otherwise a view, O(1),
/// which costs a pass over the starts of each segment or tile that is read.
[[nodiscard]] Schedule scaled(const Schedule& schedule, SimTime from, SimTime to);

}  // namespace tenex
