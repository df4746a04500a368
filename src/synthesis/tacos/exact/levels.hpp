// The engine `exact` where links differ: chunk by chunk on grids of steps, one per link class, slow links bringing what
// fast ones lack.
#pragma once

#include <cstddef>
#include <string>

#include "synthesis/compose.hpp"

namespace tenex {

/// Empty where the engine suits; else why not. O(links), with several groups O(groups * links).
[[nodiscard]] std::string levels_unsuitable(const SynthesisProblem& problem);

/// All-Gather by multi-start over the levels engine. Errors: what levels_unsuitable() says. O(links * chunks) tests of
/// a bit.
[[nodiscard]] Result<Gathered> gather_levels(const SynthesisProblem& problem);

/// What the engine is expected to take.
[[nodiscard]] std::size_t levels_bytes(const SynthesisProblem& problem);
[[nodiscard]] double levels_seconds(const SynthesisProblem& problem);

}  // namespace tenex
