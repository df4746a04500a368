// What `auto` does where two engines may be worth their time: the first one, and the second only where the first leaves
// something to gain. The faster schedule is kept, and the first engine's among equals. Both are deterministic, so the
// choice is.
//
// Like links (`large`): coarse, then exact. The coarse engine costs a hundredth of the exact one and often meets the
// proven bound, and its schedule takes less memory.
//
// Links that differ (`mixed`): chunk by chunk on grids of steps, then event by event. Where no NPU has bandwidth to
// spare, as in products of rings and fully connected blocks, or where chunks cross the network in a few steps, first
// in, first out on a grid of steps costs some percent.
#pragma once

#include <cstddef>
#include <string>

#include "synthesis/compose.hpp"

namespace tenex {

/// Why a gather is left to other engines; empty where it is not. O(links).
[[nodiscard]] std::string large_unsuitable(const SynthesisProblem& problem);
[[nodiscard]] std::string mixed_unsuitable(const SynthesisProblem& problem);

/// The gather; `Gathered::engine` says whose it is. Where the second engine does not fit into the problem's memory
/// limit beside the first schedule, it is left out and `left_out` says so.
[[nodiscard]] Result<Gathered> gather_large(const SynthesisProblem& problem);
[[nodiscard]] Result<Gathered> gather_mixed(const SynthesisProblem& problem);

/// Bytes at the peak and seconds on one thread: both engines' where they fit into the problem's limit together, else
/// those of the first alone, which must fit.
[[nodiscard]] std::size_t large_bytes(const SynthesisProblem& problem);
[[nodiscard]] std::size_t mixed_bytes(const SynthesisProblem& problem);
[[nodiscard]] double large_seconds(const SynthesisProblem& problem);
[[nodiscard]] double mixed_seconds(const SynthesisProblem& problem);

}  // namespace tenex
