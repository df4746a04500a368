// The free times of one link.
//
// Encoding: gaps, sorted and disjoint; the last one has no end. Gaps that are too short for any send are dropped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tenex {

/// All times are picoseconds. A new link is free from zero on.
class FreeGaps {
 public:
  using Time = std::int64_t;
  static constexpr Time kNoEnd = std::numeric_limits<Time>::max();
  static constexpr Time kNone = std::numeric_limits<Time>::min() / 2;  ///< sooner than any offset
  struct Gap {
    Time begin;
    Time end;
  };

  FreeGaps() : gaps_{{0, kNoEnd}} {}
  /// Replaces all gaps by others, encoded as above.
  void assign(std::span<const Gap> gaps) { gaps_.assign(gaps.begin(), gaps.end()); }

  /// The earliest time, not before `time`, from which on the link is free for `busy`. O(log gaps + gaps that are too
  /// short).
  [[nodiscard]] Time first(Time time, Time busy) const {
    auto gap = std::upper_bound(gaps_.begin(), gaps_.end(), time, [](Time t, const Gap& g) { return t < g.end; });
    while (std::max(time, gap->begin) + busy > gap->end) ++gap;
    return std::max(time, gap->begin);
  }
  /// The latest such time, not after `time`; kNone if there is none.
  [[nodiscard]] Time last(Time time, Time busy) const {
    auto gap = std::upper_bound(gaps_.begin(), gaps_.end(), time, [](Time t, const Gap& g) { return t < g.begin; });
    while (gap != gaps_.begin()) {
      --gap;
      const Time latest = std::min(time, gap->end - busy);
      if (latest >= gap->begin) return latest;
    }
    return kNone;
  }
  /// Takes a free interval. What is left of its gap stays if it is at least `least` long. O(gaps).
  void take(Time begin, Time end, Time least) {
    const auto gap =
        std::upper_bound(gaps_.begin(), gaps_.end(), begin, [](Time t, const Gap& g) { return t < g.end; });
    const Gap before{gap->begin, begin};
    const Gap after{end, gap->end};
    const bool keeps_before = before.end - before.begin >= least;
    const bool keeps_after = after.end - after.begin >= least;
    if (keeps_before && keeps_after) {
      *gap = after;
      gaps_.insert(gap, before);
    } else if (keeps_before || keeps_after) {
      *gap = keeps_before ? before : after;
    } else {
      gaps_.erase(gap);
    }
  }

 private:
  std::vector<Gap> gaps_;
};

}  // namespace tenex
