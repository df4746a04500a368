// The engine `exact`: All-Gather chunk by chunk on a grid of steps, for tens of thousands of NPUs; and the same for
// links that differ: grids of steps, one per link class, with slow links that deliver what fast ones lack.
#pragma once

#include <cstddef>
#include <string>

#include "synthesis/compose.hpp"

namespace tenex {

/// Empty if the engine suits, otherwise the reason. O(links), with several groups O(groups * links).
[[nodiscard]] std::string exact_refusal(const SynthesisProblem& problem);
/// The same for links that differ.
[[nodiscard]] std::string levels_unsuitable(const SynthesisProblem& problem);

/// All-Gather by multi-start over the step engine. Errors: those of exact_refusal(). O(links * chunks) tests of a bit.
[[nodiscard]] Result<Gathered> gather_exact(const SynthesisProblem& problem);
/// The same by levels of links. Errors: those of levels_unsuitable().
[[nodiscard]] Result<Gathered> gather_levels(const SynthesisProblem& problem);

/// The expected cost of the engine.
[[nodiscard]] std::size_t exact_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work exact_work(const SynthesisProblem& problem);
[[nodiscard]] std::size_t levels_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work levels_work(const SynthesisProblem& problem);

}  // namespace tenex
