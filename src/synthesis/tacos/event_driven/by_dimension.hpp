// The event-driven engine with levels by dimension (dimension_levels.hpp): attempts over the choices of levels, and
// over the paces of gather_setup.hpp, one after another.
#pragma once

#include <string>

#include "synthesis/compose.hpp"

namespace tenex {

/// Empty if the topology has levels by dimension, otherwise the reason. O(links).
[[nodiscard]] std::string by_dimension_unsuitable(const SynthesisProblem& problem);
/// The earliest best of `attempts` attempts, which end when one meets the bound.
[[nodiscard]] Result<Gathered> gather_by_dimension(const SynthesisProblem& problem);

[[nodiscard]] std::size_t by_dimension_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work by_dimension_work(const SynthesisProblem& problem);

}  // namespace tenex
