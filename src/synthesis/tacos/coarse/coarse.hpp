// The engine `coarse`: All-Gathers of blocks, a little above the bound at a small part of the time.
//
// Idea: n NPUs in connected blocks of about m. First every block gathers inside itself (block_gather.hpp, some hundred
// rows at most); then blocks travel from NPU to NPU as streams of their chunks (streams.hpp): n * n/m streams in place
// of n * n sends, forwarded chunk by chunk. The last streams are split over in-links (balance_tails.hpp). What comes
// out is a schedule of single sends all the same (schedule/block_schedule.hpp). What it costs: the ramp before streams
// flow, a few of the m rows at the start, and waits for whole blocks where every in-link of every NPU is needed all the
// time, as on tori.
//
// Rows: links alike send one chunk per period (`busy`); under `serialization` a hop takes more rows than one, and alpha
// only delays: a link that has something else to send is never idle for it.
#pragma once

#include <cstddef>
#include <string>

#include "synthesis/compose.hpp"

namespace tenex {

/// Empty when the engine can make this gather: links alike, no switches, an All-Gather of one chunk size, every NPU in
/// a process group that can serve itself.
[[nodiscard]] std::string coarse_unsuitable(const SynthesisProblem& problem);

/// Errors (input): an NPU that another cannot reach; (resource) more rows than 32 bits hold.
[[nodiscard]] Result<Gathered> gather_coarse(const SynthesisProblem& problem);

[[nodiscard]] std::size_t coarse_bytes(const SynthesisProblem& problem);
[[nodiscard]] double coarse_seconds(const SynthesisProblem& problem);

}  // namespace tenex
