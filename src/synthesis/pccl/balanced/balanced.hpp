// The engine `balanced` of `pccl`: chunks with one destination each (All-to-All, Scatter, Gather, halo exchanges,
// lists) on networks that need not be regular. Over switches only conditions: amounts that differ much, whose largest
// loads are levelled by ways over other links of a box. Chunks of one size come to a switch at one instant there, and
// who goes first decides more than the ways, so that a search chunk by chunk is better.
//
// Ways are balanced over the links first (balanced_routes.hpp), then played in turn (way_play.hpp). The thesis
// (chapter 6) finds each way at the times that are still free, which takes a search for each condition.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "synthesis/compose.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(conditions).
[[nodiscard]] std::optional<std::string> balanced_unsuitable(const SynthesisProblem& problem);

/// The collective. Draws its random numbers from a fixed seed. Errors (input): the problem is unsuitable, or a
/// destination cannot be reached; (resource) more than 2^32 sends.
[[nodiscard]] Result<Gathered> balance_unicasts(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t balanced_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work balanced_work(const SynthesisProblem& problem);

}  // namespace tenex
