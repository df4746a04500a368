// The engine `packed` of `trees`: All-Reduce on any network of direct links, by packed spanning trees.
//
// Trees are packed at nearly the strength of the network (packing.hpp) and repeated period by period (pipeline.hpp).
// More trees use the links more evenly; fewer make the period, and so the time in which the pipeline fills, shorter.
// Several numbers of trees and preferences for shallow ones are tried, within a limit of sends, and the best is kept.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(links).
[[nodiscard]] std::optional<std::string> packed_unsuitable(const SynthesisProblem& problem);

/// The All-Reduce. Draws no random numbers. Errors (input): the problem is unsuitable.
[[nodiscard]] Result<Synthesis> synthesize_packed(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t packed_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work packed_work(const SynthesisProblem& problem);
/// The sends of one period, at most.
[[nodiscard]] double packed_period_sends(const SynthesisProblem& problem);

}  // namespace tenex
