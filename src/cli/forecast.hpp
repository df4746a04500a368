// Internal to cli: the time that a running study still needs, with an interval that shows its uncertainty.
//
// Estimates (evaluate's, before anything ran) are wrong by a factor that depends on the machine and the kind of point.
// The times of finished points give the factor: first by kind (the coordinator's cost model), then one for all points
// of the remaining error. The time left is the remaining work over the work that the run does per second. Its spread
// follows from how much finished points scatter around their corrected estimates, and from how few of them there are:
// the ratio estimator's variance (W. G. Cochran, Sampling Techniques, 3rd ed., chapter 6) with a spread proportional to
// a point's length.
#pragma once

#include <cstddef>
#include <vector>

namespace tenex::cli {

/// A finished point: its expected seconds, corrected by its kind, and its measured seconds.
struct DoneWork {
  double expected = 0;
  double measured = 0;
};

struct Forecast {
  double seconds = -1;  ///< negative: nothing is known
  double low = -1;      ///< the interval that holds the true value in 9 of 10 studies; negative: too few points
  double high = -1;
};

/// `left`: corrected expectations of the points without a row. `longest_left`: the longest of those that more threads
/// do not make faster. `work_per_second`: seconds of evaluation that the run finishes per second. O(points).
[[nodiscard]] Forecast forecast(const std::vector<DoneWork>& done, const std::vector<double>& left, double longest_left,
                                double work_per_second);

}  // namespace tenex::cli
