// The engine `combs` of `trees`: All-Reduce on meshes, grids and lines, close to their strength at any size.
//
// A schedule is a periodic timetable of pipelined trees (schedule/storage/comb_schedule.hpp); only the number of rounds
// per period is to be chosen. More rounds leave fewer slots idle; fewer make the period, and so every wait, shorter.
// The last arrival follows from the data alone, so that the best of some hundred choices is taken.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(links).
[[nodiscard]] std::optional<std::string> combs_unsuitable(const SynthesisProblem& problem);

/// The All-Reduce. Draws no random numbers. O(links). Errors (input): the problem is unsuitable.
[[nodiscard]] Result<Synthesis> synthesize_combs(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t combs_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work combs_work(const SynthesisProblem& problem);
/// The sends of one period.
[[nodiscard]] double combs_period_sends(const SynthesisProblem& problem);

}  // namespace tenex
