// Internal to evaluate: All-Reduces that are a Reduce-Scatter followed by an All-Gather, and those that are not
// (trees).
#pragma once

#include <fmt/format.h>

#include "tenex/algorithm/algorithm.hpp"

namespace tenex {

[[nodiscard]] inline bool has_halves(const Algorithm& algorithm) {
  return does(algorithm, CollectiveKind::reduce_scatter) && does(algorithm, CollectiveKind::all_gather);
}

/// Why such an algorithm has no time without overlap.
[[nodiscard]] inline Diagnostic no_halves(const Algorithm& algorithm) {
  return unsupported_error({}, fmt::format("algorithm \"{}\" without overlap", algorithm.name),
                           "its All-Reduce is no Reduce-Scatter followed by an All-Gather", "use overlap = true");
}

}  // namespace tenex
