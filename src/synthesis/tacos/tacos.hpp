// TACOS: the fast, event-driven synthesizer (Won et al., "TACOS: Topology-Aware Collective Algorithm Synthesizer for
// Distributed Machine Learning", MICRO 2024, arXiv:2304.05301).
#pragma once

#include <cstddef>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Registry entry `tacos`.
[[nodiscard]] Result<Synthesis> synthesize_tacos(const SynthesisProblem& problem);
[[nodiscard]] std::size_t tacos_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work tacos_work(const SynthesisProblem& problem);
/// Whether NPUs are shared among threads, as the engines for links that are alike do; the event-driven one shares only
/// attempts.
[[nodiscard]] bool tacos_uses_threads(const SynthesisProblem& problem);

/// The cost of re-timing an All-Reduce made of this engine's gathers, in addition to these; 0 if it is not re-timed or
/// expected to gain nothing.
[[nodiscard]] std::size_t retiming_bytes(const SynthesisProblem& problem, std::string_view engine);
[[nodiscard]] Work retiming_work(const SynthesisProblem& problem, std::string_view engine);

}  // namespace tenex
