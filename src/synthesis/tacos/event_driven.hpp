// The engine for everything: any links, chunks, groups, relays and both occupancies, chunk by chunk and event by event.
#pragma once

#include "synthesis/compose.hpp"

namespace tenex {

/// All-Gather or Broadcast by multi-start matching over a time-expanded network. Errors (input): switches, unreachable
/// members.
[[nodiscard]] Result<Gathered> gather_event_driven(const SynthesisProblem& problem);

}  // namespace tenex
