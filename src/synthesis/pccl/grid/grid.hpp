// The engine `grid` of `pccl`: All-to-All on products of lines (LI, mesh, grid), any size, at the bound or close to it.
//
// The thesis (chapter 6) searches a path for each pair in a time-expanded network; the structure of a mesh gives all
// paths at once. Chunks are dealt to D classes, which correct the D dimensions in rotated orders, so that in each of D
// phases every dimension carries 1/D of its traffic (schedule/storage/grid_schedule.hpp). In a phase each line carries
// an All-to-All of its own, farthest first (line_order.hpp), in as many slots as its middle link has chunks to carry.
// The phases together take the slots that the middle cut needs, plus one latency per phase and what the division by D
// leaves over. Sends are computed as they are read; only the timetables of lines are stored.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "synthesis/compose.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(links).
[[nodiscard]] std::optional<std::string> grid_unsuitable(const SynthesisProblem& problem);

/// The All-to-All. Draws no random numbers. O(D^2 * side^3 * log side). Errors (input): the problem is unsuitable.
[[nodiscard]] Result<Gathered> grid_all_to_all(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t grid_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work grid_work(const SynthesisProblem& problem);

}  // namespace tenex
