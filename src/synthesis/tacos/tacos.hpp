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
/// The engines for like links share the NPUs among threads; the event-driven one shares only attempts.
[[nodiscard]] bool tacos_uses_threads(const SynthesisProblem& problem);

/// What it takes to re-time an All-Reduce made of gathers of this engine, beside these; 0 where it is not re-timed or
/// expected to gain nothing.
[[nodiscard]] std::size_t retiming_bytes(const SynthesisProblem& problem, std::string_view engine);
[[nodiscard]] double retiming_seconds(const SynthesisProblem& problem, std::string_view engine);

}  // namespace tenex
