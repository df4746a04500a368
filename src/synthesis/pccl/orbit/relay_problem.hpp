// A problem over switches that store and forward, as one over the ways that pass them.
//
// A plan for all NPUs takes a way up and down a switch as one link: it is longer than over a switch that cuts through,
// by the time in which the switch receives the chunk, and otherwise the same (tenex/schedule/timing/orbit_ports.hpp:
// one send at a time up and down for each NPU and dimension). The plan's sends are then spread over the links
// (tenex/schedule/views/relayed.hpp). No chunk waits in a switch, so the plan keeps to any buffer. (A switch that
// copies or adds keeps what comes to it in parts, from the first part on: its buffer must have no limit. One that
// copies and adds would add a sum that passes to the next one, so it serves no reductions.)
#pragma once

#include <memory>
#include <optional>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Owns the topology of ways.
struct RelayProblem {
  std::shared_ptr<const Topology> ways;
  SynthesisProblem problem;  ///< on the ways; refers to the collective that it was made of

  /// nullopt where the ways are no network of their own (relay_wires_of()), switches or chunks differ, or
  /// switches keep what passes. O(ways).
  [[nodiscard]] static std::optional<RelayProblem> of(const SynthesisProblem& problem);
  /// A synthesis for `problem`, on physical links.
  [[nodiscard]] Synthesis relayed(Synthesis made) const;
};

/// Bytes of the ways of a topology with switches that is an intact product. O(dimensions).
[[nodiscard]] double relay_bytes(const Topology& topology);

}  // namespace tenex
