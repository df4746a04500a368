// Every collective from copying ones: reductions by time reversal, All-Reduce as a reduction and a gather.
//
// Idea (TACOS, IV-E): a Reduce-Scatter (Reduce) is an All-Gather (Broadcast) on the reversed topology and reversed;
// an All-Reduce is a Reduce-Scatter followed by an All-Gather, re-timed so that a chunk's gather begins when its own
// reduction is complete.
//
// Where every link has an opposite link of its class, exchanging the two maps the topology to its reverse. Then a
// gather on the topology, over exchanged links, is one on the reverse, and there is nothing to synthesize for a
// reduction: it is a view of the gather. Both halves of an All-Reduce come from the same gather, hence from one seed;
// an owner's chunks go in opposite orders, so that what is complete first is gathered first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// A schedule of an All-Gather or a Broadcast.
struct Gathered {
  Schedule schedule;  ///< free of waste
  SimTime time;       ///< its last arrival
  std::uint32_t best_attempt = 0;
  std::uint64_t pruned_waste = 0;
  std::string_view engine = {};  ///< whose it is, where the gatherer had a choice
  std::string left_out = {};     ///< what did not fit into problem.memory_limit_bytes, in words; empty: nothing
};

/// Synthesizes an All-Gather or a Broadcast.
using Gatherer = Result<Gathered> (*)(const SynthesisProblem&);

/// Synthesizes any collective with a gatherer, which is asked once, for a gather on the topology, where every link has
/// an opposite. Else a reduction asks for a gather on the reversed topology (with its own key, and so its own random
/// numbers), and All-Reduce for both; `best_attempt` is the one of the gather on the topology. Errors: the gatherer's.
[[nodiscard]] Result<Synthesis> compose(const SynthesisProblem& problem, Gatherer gather, std::string_view engine);

/// Prunes waste from a valid schedule of a copying collective; without waste the last arrival is the collective time.
[[nodiscard]] Gathered without_waste(const SynthesisProblem& problem, const Schedule& schedule);

}  // namespace tenex
