// The engines that go event by event: the general one (any links, chunks, groups, relays and both occupancies, chunk by
// chunk), the same with levels by dimension, and the one that goes from arrival to arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "synthesis/compose.hpp"
#include "synthesis/tacos/event_driven/gather_engine.hpp"

namespace tenex {

/// All-Gather or Broadcast by multi-start matching over a time-expanded network. Errors (input): switches, unreachable
/// members.
[[nodiscard]] Result<Gathered> gather_event_driven(const SynthesisProblem& problem);

/// The number of paces of its attempts: 1, or up to 3 under `serialization` if there are several attempts.
[[nodiscard]] std::uint32_t event_driven_paces(const SynthesisProblem& problem);

/// The expected cost of the event-driven engine.
[[nodiscard]] std::size_t event_driven_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work event_driven_work(const SynthesisProblem& problem);

// Replays the sends of an attempt, each as soon as it can start.

/// Keeps the order of sends on every link and takes the delays of `setup`, which may differ from those that the sends
/// were planned with; superseded sends are dropped. `sends` are in order of start before and after; every chunk reaches
/// a vertex once. Returns the last arrival. O(vertices * chunks) memory, O(sends log sends) time.
SimTime replay_sends(const GatherSetup& setup, std::vector<TentativeSend>& sends);

/// The engine's sends without superseded ones, sorted by (start, link): they are in order of start already.
[[nodiscard]] std::vector<Send> to_sends(std::vector<TentativeSend> planned);

// The event-driven engine with levels by dimension (by_dimension.cpp): attempts over the choices of levels, and
// over the paces of gather_setup.hpp, one after another.

/// Empty if the topology has levels by dimension, otherwise the reason. O(links).
[[nodiscard]] std::string by_dimension_unsuitable(const SynthesisProblem& problem);
/// The earliest best of `attempts` attempts, which end when one meets the bound.
[[nodiscard]] Result<Gathered> gather_by_dimension(const SynthesisProblem& problem);

[[nodiscard]] std::size_t by_dimension_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work by_dimension_work(const SynthesisProblem& problem);

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

/// Empty if links differ and every NPU takes part in the one All-Gather, otherwise the reason. O(1).
[[nodiscard]] std::string by_arrival_unsuitable(const SynthesisProblem& problem);
/// The earliest best of `attempts` attempts, which end when one meets the bound. Errors (unsupported): an NPU that no
/// path reaches.
[[nodiscard]] Result<Gathered> gather_by_arrival(const SynthesisProblem& problem);

[[nodiscard]] std::size_t by_arrival_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work by_arrival_work(const SynthesisProblem& problem);

}  // namespace tenex
