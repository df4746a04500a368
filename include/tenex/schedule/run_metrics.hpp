// RunMetrics: what a synthesizer or a simulation reports of its run, beside the schedule and its time.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace tenex {

/// The value of a metric in reals that is not known.
inline constexpr double kAbsentReal = std::numeric_limits<double>::quiet_NaN();

/// The metrics that a run reports itself; metrics.inc says what each means. A field that nobody sets is absent from the
/// row.
struct RunMetrics {
#define TENEX_METRIC(...)
#define TENEX_RUN_METRIC(type, name, absent, ...) type name = absent;
#include "tenex/schedule/metrics.inc"
};

}  // namespace tenex
