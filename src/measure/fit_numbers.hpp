// Internal to measure: the numbers of a machine from the last pieces of fitted tables.
#pragma once

#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/measure/fit.hpp"

namespace tenex::measure {

/// Alpha, bandwidth and overhead by cost_of(), all tables together; the machine is its ranks on one switch.
[[nodiscard]] Status fit_one_switch(Fit& fit, const FitOptions& options);
/// The bandwidths of the links of options.machine that hold the measured programs up, by simulation, and the overhead
/// that is left.
[[nodiscard]] Status fit_known_machine(Fit& fit, const FitOptions& options);

/// "files a.log:12, b.log:40" for the source of a machine.
[[nodiscard]] std::string places_of(const Fit& fit);

}  // namespace tenex::measure
