// The engine `symmetric` where lines join parts that look the same from everywhere: products of lines with rings, fully
// connected blocks and unwound switches, each dimension with its own alpha and bandwidth; and products of lines alone
// whose links differ in speed.
//
// One schedule is made for each layer (layer_network.hpp), with deliveries divided by the number of positions, so that
// many attempts take milliseconds. It is then written out for all positions.
#pragma once

#include <cstddef>
#include <string>

#include "synthesis/compose.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Empty if the engine can make this gather, otherwise the reason. O(links log links) for up to 2^20 deliveries.
[[nodiscard]] std::string layered_unsuitable(const SynthesisProblem& problem);

/// An All-Gather. Makes at least `attempts` attempts, and more within a fixed amount of work, each style first without
/// and then with random numbers, until one meets the bound. The first among the best is kept.
[[nodiscard]] Result<Gathered> gather_layered(const SynthesisProblem& problem);

[[nodiscard]] std::size_t layered_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work layered_work(const SynthesisProblem& problem);

}  // namespace tenex
