// The reference TACOS: Algorithms 1 and 2 as the paper means them, written simply and slowly, to test the fast one.
#pragma once

#include <cstddef>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Registry entry `tacos_reference`. O(events * unsatisfied * in-degree).
[[nodiscard]] Result<Synthesis> synthesize_tacos_reference(const SynthesisProblem& problem);
[[nodiscard]] std::size_t tacos_reference_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work tacos_reference_work(const SynthesisProblem& problem);

}  // namespace tenex
