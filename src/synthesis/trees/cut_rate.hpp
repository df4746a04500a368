// The engine `cut_rate` of `trees`: All-Gather and Broadcast by out-trees packed at the rate of the cut, and the other
// collectives of these (compose.hpp).
//
// The least time in which links can carry whole chunks to every NPU follows from minimum cuts; switches are split off
// (edge_splitting.hpp), and out-trees are packed exactly (out_trees.hpp). Chunks are dealt to trees in turn. What is
// due first goes first (justification.hpp), or the earliest chunk does, of equals the one with the longest way to go
// (player.hpp). Trees that leave room on links over switches are tried first; then a little more time than the least,
// which leaves room for shallower trees, whose pipelines fill faster.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(vertices + links).
[[nodiscard]] std::optional<std::string> cut_rate_unsuitable(const SynthesisProblem& problem);

/// The collective. Draws no random numbers. Errors (input): the problem is unsuitable, or switches cannot be split off.
[[nodiscard]] Result<Synthesis> synthesize_cut_rate(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t cut_rate_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work cut_rate_work(const SynthesisProblem& problem);

}  // namespace tenex
