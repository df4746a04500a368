// Every collective from copying ones: reductions by time reversal, All-Reduce as a reduction and a gather.
//
// Idea (001, IV-E): a Reduce-Scatter (Reduce) is an All-Gather (Broadcast) on the reversed topology, reversed in time;
// an All-Reduce is a Reduce-Scatter followed by an All-Gather, re-timed so that a chunk's gather begins when its own
// reduction is complete.
#pragma once

#include <cstdint>
#include <string_view>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// A schedule of an All-Gather or a Broadcast.
struct Gathered {
  Schedule schedule;  ///< free of waste
  SimTime time;       ///< its last arrival
  std::uint32_t best_attempt = 0;
  std::uint64_t pruned_waste = 0;
};

/// Synthesizes an All-Gather or a Broadcast.
using Gatherer = Result<Gathered> (*)(const SynthesisProblem&);

/// Synthesizes any collective with a gatherer. All-Reduce asks for two gathers, each with its own random numbers (the
/// reversed topology has a key of its own); `best_attempt` is then the second's. Errors: the gatherer's.
[[nodiscard]] Result<Synthesis> compose(const SynthesisProblem& problem, Gatherer gather, std::string_view engine);

/// Prunes waste from a valid schedule of a copying collective; without waste the last arrival is the collective time.
[[nodiscard]] Gathered without_waste(const SynthesisProblem& problem, const Schedule& schedule);

}  // namespace tenex
