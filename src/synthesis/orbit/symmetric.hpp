// The symmetric engine: shapes with a translation group, in O(n) time and memory.
//
// If every NPU sees the same network (rings, fully connected blocks, hypercubes, unwound switches and their products,
// each dimension with its own alpha and bandwidth), one NPU's schedule, translated to all others, is a schedule of all.
// It is synthesized on the quotient (orbit_gather.hpp), with n-1 deliveries per chunk of one owner instead of n(n-1),
// and stored as such. Where links differ in speed and NPUs are few, attempts by matching follow (layer_gather.hpp, with
// all NPUs as positions of one layer). Reversal and re-timing work on the quotient too, so a Reduce-Scatter needs no
// second synthesis and an All-Reduce is O(n) as well.
#pragma once

#include <cstddef>
#include <string>

#include "synthesis/compose.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Empty if the engine can make this gather, otherwise the reason. O(npus), O(links) with several link classes.
[[nodiscard]] std::string symmetric_unsuitable(const SynthesisProblem& problem);
/// The same where dimensions may also be switches that cut through (TranslationDimension::one_port), for which all
/// functions here serve.
[[nodiscard]] std::string symmetric_over_ports_unsuitable(const SynthesisProblem& problem);

/// An All-Gather. Makes at least `attempts` attempts, and more within a fixed amount of work, each style first without
/// and then with random numbers, until one meets the bound. The first among the best is kept.
[[nodiscard]] Result<Gathered> gather_symmetric(const SynthesisProblem& problem);

/// All-Gather, Reduce-Scatter or All-Reduce; time and memory stay O(n).
[[nodiscard]] Result<Synthesis> synthesize_symmetric(const SynthesisProblem& problem);

[[nodiscard]] std::size_t symmetric_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work symmetric_work(const SynthesisProblem& problem);

// The engine `symmetric` where lines join parts that look the same from everywhere: products of lines with rings, fully
// connected blocks and unwound switches, each dimension with its own alpha and bandwidth; and products of lines alone
// whose links differ in speed.
//
// One schedule is made for each layer (layer_network.hpp), with deliveries divided by the number of positions, so that
// many attempts take milliseconds. It is then written out for all positions.

/// Empty if the engine can make this gather, otherwise the reason. O(links log links) for up to 2^20 deliveries.
[[nodiscard]] std::string layered_unsuitable(const SynthesisProblem& problem);

/// An All-Gather. Makes at least `attempts` attempts, and more within a fixed amount of work, each style first without
/// and then with random numbers, until one meets the bound. The first among the best is kept.
[[nodiscard]] Result<Gathered> gather_layered(const SynthesisProblem& problem);

[[nodiscard]] std::size_t layered_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work layered_work(const SynthesisProblem& problem);

}  // namespace tenex
