// Composes every collective of gathers: reductions by time reversal, All-Reduce as a reduction and a gather.
//
// Idea (TACOS, section IV-E): a Reduce-Scatter (Reduce) is an All-Gather (Broadcast) on the reversed topology, reversed
// in time. An All-Reduce is a Reduce-Scatter followed by an All-Gather, re-timed so that a chunk's gather begins when
// its own reduction is complete.
//
// If every link has an opposite link of its class, exchanging the two maps the topology to its reverse. A gather on the
// topology, over exchanged links, is then a gather on the reverse, and a reduction needs no synthesis of its own: it is
// a view of the gather. Both halves of an All-Reduce come from the same gather, hence from one seed. An owner's chunks
// go in opposite orders in the two halves, so that the chunk that is complete first is gathered first.
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
  std::string_view engine = {};  ///< the engine that made it, if the gatherer had a choice
  std::string left_out = {};     ///< improvements that did not fit into problem.memory_limit_bytes, in words; empty:
                                 ///< none
};

/// Synthesizes an All-Gather or a Broadcast.
using Gatherer = Result<Gathered> (*)(const SynthesisProblem&);

/// Synthesizes any collective with a gatherer. If every link has an opposite, the gatherer is called once, for a gather
/// on the topology. Otherwise a reduction calls it for a gather on the reversed topology (with its own key, and so its
/// own random numbers), and an All-Reduce for both; `best_attempt` is then that of the gather on the topology. Errors:
/// the gatherer's.
[[nodiscard]] Result<Synthesis> compose(const SynthesisProblem& problem, Gatherer gather, std::string_view engine);

/// Prunes waste from a valid schedule of a copying collective; without waste the last arrival is the collective time.
[[nodiscard]] Gathered without_waste(const SynthesisProblem& problem, const Schedule& schedule);

}  // namespace tenex
