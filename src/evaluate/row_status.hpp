// Internal to evaluate: the end of a row without metrics.
#pragma once

#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/evaluate/evaluation.hpp"

namespace tenex {

/// Ends the row with a status and a reason.
void end_point(Evaluation& row, PointStatus status, std::string reason);
/// Ends the row with errors; the first error's fault decides the status.
void end_point(Evaluation& row, const Diagnostics& errors);

}  // namespace tenex
