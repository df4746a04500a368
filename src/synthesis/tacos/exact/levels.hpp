// The engine `exact` for links that differ: chunk by chunk on grids of steps, one per link class, with slow links that
// deliver what fast ones lack.
#pragma once

#include <cstddef>
#include <string>

#include "synthesis/compose.hpp"

namespace tenex {

/// Empty if the engine suits, otherwise the reason. O(links), with several groups O(groups * links).
[[nodiscard]] std::string levels_unsuitable(const SynthesisProblem& problem);

/// All-Gather by multi-start over the levels engine. Errors: those of levels_unsuitable(). O(links * chunks) tests of a
/// bit.
[[nodiscard]] Result<Gathered> gather_levels(const SynthesisProblem& problem);

/// The expected cost of the engine.
[[nodiscard]] std::size_t levels_bytes(const SynthesisProblem& problem);
[[nodiscard]] double levels_seconds(const SynthesisProblem& problem);

}  // namespace tenex
