// The engine `auto` where two engines may be worth their time. The first one is always run, the second only if the
// first leaves something to gain. The faster schedule is kept, and the first engine's among equals. Both engines are
// deterministic, so the choice is too.
//
// Links alike (`large`): coarse, then exact. The coarse engine costs a hundredth of the exact one and often meets the
// proven bound, and its schedule takes less memory.
//
// Links that differ (`mixed`): the exact engine on grids of steps, then the event-driven engine. First in, first out on
// a grid of steps costs some percent where no NPU has spare bandwidth, as in products of rings and fully connected
// blocks, or where chunks cross the network in a few steps.
#pragma once

#include <cstddef>
#include <string>

#include "synthesis/compose.hpp"

namespace tenex {

/// Why a gather is left to other engines; empty if it is not. O(links).
[[nodiscard]] std::string large_unsuitable(const SynthesisProblem& problem);
[[nodiscard]] std::string mixed_unsuitable(const SynthesisProblem& problem);

/// Makes the gather; `Gathered::engine` names the engine that made it. If the second engine does not fit into the
/// problem's memory limit beside the first schedule, it is left out and `left_out` says so.
[[nodiscard]] Result<Gathered> gather_large(const SynthesisProblem& problem);
[[nodiscard]] Result<Gathered> gather_mixed(const SynthesisProblem& problem);

/// Bytes at the peak and work: those of both engines if they fit into the problem's limit together,
/// otherwise those of the first alone, which must fit.
[[nodiscard]] std::size_t large_bytes(const SynthesisProblem& problem);
[[nodiscard]] std::size_t mixed_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work large_work(const SynthesisProblem& problem);
[[nodiscard]] Work mixed_work(const SynthesisProblem& problem);

}  // namespace tenex
