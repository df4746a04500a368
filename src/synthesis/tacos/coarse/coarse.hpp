// The engine `coarse`: All-Gathers of blocks, a little above the bound in a small part of the time.
//
// Idea: n NPUs in connected blocks of about m. First every block gathers inside itself (coarse_setup.hpp, some hundred
// rows at most). Then blocks travel from NPU to NPU as streams of their chunks (streams.hpp): n * n/m streams in place
// of n * n sends, forwarded chunk by chunk. The last streams are split over in-links (coarse.cpp). The result is
// still a schedule of single sends (schedule/storage/block_schedule.hpp). The loss: the ramp before streams flow, which
// is a few of the m rows at the start, and waits for whole blocks where every in-link of every NPU is needed all the
// time, as on tori.
//
// Rows: links that are alike send one chunk per period (`busy`). Under `serialization` a hop takes more than one row,
// and alpha only delays: a link that has something else to send is never idle because of it.
#pragma once

#include <cstddef>
#include <string>

#include "synthesis/compose.hpp"

namespace tenex {

/// Empty if the engine can make this gather (links alike, no switches, an All-Gather of one chunk size, every NPU in a
/// process group whose members reach each other over members), otherwise the reason.
[[nodiscard]] std::string coarse_unsuitable(const SynthesisProblem& problem);

/// Errors (input): an NPU that another cannot reach; (resource) more rows than 32 bits hold.
[[nodiscard]] Result<Gathered> gather_coarse(const SynthesisProblem& problem);

[[nodiscard]] std::size_t coarse_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work coarse_work(const SynthesisProblem& problem);

}  // namespace tenex
