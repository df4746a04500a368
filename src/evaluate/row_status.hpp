// Internal to evaluate: how a row ends that has no metrics.
#pragma once

#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/evaluate/evaluation.hpp"

namespace tenex {

/// The row ends here.
void end_point(Evaluation& row, PointStatus status, std::string reason);
/// Likewise, for what went wrong; the first error's fault decides the status.
void end_point(Evaluation& row, const Diagnostics& errors);

}  // namespace tenex
