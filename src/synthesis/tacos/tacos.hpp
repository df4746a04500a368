// TACOS: the fast, event-driven synthesizer (Won et al., "TACOS: Topology-Aware Collective Algorithm Synthesizer for
// Distributed Machine Learning", MICRO 2024, arXiv:2304.05301).
#pragma once

#include <cstddef>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Registry entry `tacos`.
[[nodiscard]] Result<Synthesis> synthesize_tacos(const SynthesisProblem& problem);
[[nodiscard]] std::size_t tacos_bytes(const SynthesisProblem& problem);
[[nodiscard]] double tacos_seconds(const SynthesisProblem& problem);

/// What it takes to re-time an All-Reduce made of two gathers, whichever engine made them; 0 where it is not re-timed.
[[nodiscard]] std::size_t retiming_bytes(const Collective& collective);
/// What the event-driven engine is expected to take.
[[nodiscard]] std::size_t event_driven_bytes(const SynthesisProblem& problem);
[[nodiscard]] double event_driven_seconds(const SynthesisProblem& problem);

}  // namespace tenex
