// Deliveries one after another in the order of their arrivals, for links that differ.
//
// Idea: an engine that goes from start to start lets a slow link begin what a fast one would deliver sooner, and asks
// levels for leave (rivals.hpp). In the order of arrivals the question does not arise: when a delivery is chosen, all
// that arrive before it are. Of all pairs of a link and a chunk that its target lacks, the one with the earliest
// arrival is taken; among equals the rarest chunk, then one at random. Half of the attempts take the slowest link first
// among equal arrivals, whose chance does not come again soon.
//
// Encoding: each link keeps its best chunk. A delivery changes few of them: that of its link, those of links with the
// same chunk, and those of links out of its target, which look at the new chunk alone. So a delivery costs O(links) and
// some passes over the chunks. Source: list scheduling by earliest completion time; rarest first as in BitTorrent
// (Cohen, 2003).
#pragma once

#include <string>

#include "synthesis/compose.hpp"

namespace tenex {

/// Empty if links differ and every NPU takes part in the one All-Gather, otherwise the reason. O(1).
[[nodiscard]] std::string by_arrival_unsuitable(const SynthesisProblem& problem);
/// The earliest best of `attempts` attempts, which end when one meets the bound. Errors (unsupported): an NPU that no
/// path reaches.
[[nodiscard]] Result<Gathered> gather_by_arrival(const SynthesisProblem& problem);

[[nodiscard]] std::size_t by_arrival_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work by_arrival_work(const SynthesisProblem& problem);

}  // namespace tenex
