// Synthesizers: they make Schedules. A new synthesizer is one file and one line of the registry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The fastest engine of a synthesizer that suits the problem at full quality.
inline constexpr std::string_view kAutomaticEngine = "auto";

/// What a synthesizer reads; nothing else may influence its result.
struct SynthesisProblem {
  const Topology& topology;
  const Collective& collective;
  Occupancy occupancy = Occupancy::serialization;
  std::uint64_t seed = 1;
  std::uint32_t attempts = 1;  ///< multi-start: the best of this many is kept (earliest attempt among equals)
  int threads = 1;             ///< attempts run side by side; never changes the result
  std::string_view engine = kAutomaticEngine;  ///< or one of the synthesizer's engines by its name
  /// What the synthesis may take. Parts that could improve a result but do not fit (a second engine, a re-timing) are
  /// left out, and the result says so. Nothing is refused: that is for whoever plans (estimate_bytes).
  std::size_t memory_limit_bytes = std::numeric_limits<std::size_t>::max();
};

/// A synthesized schedule and how it came about.
struct Synthesis {
  Schedule schedule;  ///< All-Reduce: with overlap (re-timed)
  SimTime time;       ///< its last useful arrival
  /// All-Reduce: "retimed", "no_gain" (proven: re-timing ends no sooner), "no_memory" (re-timing does not fit into
  /// memory_limit_bytes)
  std::string overlap_method;
  SimTime overlap_limit;           ///< All-Reduce: re-timing cannot come below this (zero: not known)
  SimTime time_without_overlap;    ///< All-Reduce: reduction, then gather; else equal to `time`
  Schedule without_overlap;        ///< the schedule that takes `time_without_overlap`
  std::string engine;              ///< which engine made it: "event_driven", "reference"
  std::uint32_t best_attempt = 0;  ///< All-Reduce: of its gather part
  std::uint64_t pruned_waste = 0;  ///< deliveries removed before a time reversal
  std::string left_out;            ///< what could have improved the result but did not fit, in words; empty: nothing
};

/// A registry entry.
struct Synthesizer {
  std::string_view name;
  std::string_view description;
  std::string_view source;  ///< the paper
  /// Errors: (input) a topology with switches that the synthesizer cannot use (unwind them), a destination that no
  /// source reaches.
  Result<Synthesis> (*synthesize)(const SynthesisProblem&);
  /// Expected bytes under the problem's limit (beyond it where even the least does not fit) and seconds on one thread,
  /// from sizes alone: for plans and leases.
  std::size_t (*estimate_bytes)(const SynthesisProblem&);
  double (*estimate_seconds)(const SynthesisProblem&);
  /// Whether a large problem becomes faster about as many times as it is given threads; null: never.
  bool (*uses_threads)(const SynthesisProblem&) = nullptr;
  /// The collectives that it is defined for; empty: all.
  std::vector<CollectiveKind> collectives = {};
  /// The engines that a problem may name; none: there is one, and it has no name.
  std::vector<std::string_view> engines = {};
  /// It draws random numbers, so that attempts differ.
  bool draws = true;
  /// Where all hops take equally long, its schedule for one hop time, scaled, is its schedule for another: of times it
  /// reads that one alone. (The proof for `tacos`: src/evaluate/shared_schedules.hpp.)
  bool scales_with_pace = false;
  /// The engine that makes one NPU's schedule, which stands for all, of collectives of everybody on topologies that
  /// translations move onto themselves. kAutomaticEngine prefers it there. Empty: none.
  std::string_view translations_engine = {};
};

/// What makes schedules where no synthesizer is named.
inline constexpr std::string_view kDefaultSynthesizer = "tacos";

/// The explicit table: a line per synthesizer.
[[nodiscard]] const std::vector<Synthesizer>& synthesizers();
/// nullptr when there is none of that name.
[[nodiscard]] const Synthesizer* find_synthesizer(std::string_view name);

/// Hash of what a synthesizer reads (topology, hop times relative to each other, collective, groups, chunks, options
/// but the seed): the stream key of its random numbers, so that equal problems draw equal numbers whatever study they
/// stand in.
[[nodiscard]] Digest synthesis_key(const SynthesisProblem& problem);

}  // namespace tenex
