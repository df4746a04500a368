// Internal to cli: how long a running study will take, with an interval that says how much is known.
//
// Estimates (evaluate's, before anything ran) are wrong by a factor that depends on the machine and the kind of point.
// What finished points took tells the factor: by kind first (the coordinator's cost model), then of the rest together.
// The work that is left over the work that the run does per second is the time left. Its spread comes from how much
// finished points scatter around their corrected estimates, and from how few of them there are: the ratio estimator's
// variance (W. G. Cochran, Sampling Techniques, 3rd ed., chapter 6) with a spread proportional to a point's length.
#pragma once

#include <cstddef>
#include <vector>

namespace tenex::cli {

/// A finished point: seconds that were expected, corrected by its kind, and that it took.
struct DoneWork {
  double expected = 0;
  double measured = 0;
};

struct Forecast {
  double seconds = -1;  ///< negative: nothing is known
  double low = -1;      ///< the interval that holds the true value in 9 of 10 studies; negative: too few points
  double high = -1;
};

/// `left` are corrected expectations of the points without a row, `longest_left` the longest of those that no further
/// thread makes faster; `work_per_second` is how many seconds of evaluation the run finishes per second. O(points).
[[nodiscard]] Forecast forecast(const std::vector<DoneWork>& done, const std::vector<double>& left, double longest_left,
                                double work_per_second);

}  // namespace tenex::cli
