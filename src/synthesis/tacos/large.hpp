// What `automatic` does with large gathers of like links: coarse first, exact only where coarse leaves something to
// gain.
//
// The coarse engine costs a hundredth of the exact one and often meets the proven bound, and then nothing can be
// better. Where it does not, the exact engine runs too and the faster schedule is kept (the coarse one among equals: it
// takes less memory). Both are deterministic, so the choice is.
#pragma once

#include <cstddef>
#include <string>

#include "synthesis/compose.hpp"

namespace tenex {

/// Why a gather is left to other engines: where the exact engine does not suit. Empty when it is one for this one.
[[nodiscard]] std::string large_unsuitable(const SynthesisProblem& problem);
/// The gather; `Gathered::engine` says whose it is. Where the exact engine does not fit into the problem's memory limit
/// beside the coarse schedule, it is left out.
[[nodiscard]] Result<Gathered> gather_large(const SynthesisProblem& problem);
/// Both engines' bytes where they fit into the problem's limit, else those of the coarse one alone, which must fit.
[[nodiscard]] std::size_t large_bytes(const SynthesisProblem& problem);
/// Of the engines that large_bytes() plans.
[[nodiscard]] double large_seconds(const SynthesisProblem& problem);

}  // namespace tenex
