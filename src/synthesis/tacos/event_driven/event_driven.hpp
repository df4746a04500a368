// The general engine: any links, chunks, groups, relays and both occupancies, chunk by chunk and event by event.
#pragma once

#include <cstddef>
#include <cstdint>

#include "synthesis/compose.hpp"

namespace tenex {

/// All-Gather or Broadcast by multi-start matching over a time-expanded network. Errors (input): switches, unreachable
/// members.
[[nodiscard]] Result<Gathered> gather_event_driven(const SynthesisProblem& problem);

/// The number of paces of its attempts: 1, or up to 3 under `serialization` if there are several attempts.
[[nodiscard]] std::uint32_t event_driven_paces(const SynthesisProblem& problem);

/// The expected cost of the event-driven engine.
[[nodiscard]] std::size_t event_driven_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work event_driven_work(const SynthesisProblem& problem);

}  // namespace tenex
