// Shared by all attempts of a TACOS synthesis: which vertices hold and want which chunks, and how long every kind of
// send takes.
//
// Encoding: each vertex has a row of bits over chunks. A bit is set if the vertex need not be sent the chunk (it holds
// it, or does not want it); each delivery that starts sets one more bit, until all are set. The distinct delays of the
// sends (`busy` and `latency` per link class and chunk size) are numbered: events of one delay are due in the
// order in which they were made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/relays.hpp"
#include "synthesis/tacos/event_driven/cost_levels.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// The event after a delay.
struct Delay {
  std::int64_t after = 0;  ///< ps after the send's start
  bool frees = false;      ///< the link becomes free
  bool arrives = false;    ///< the chunk arrives
};

/// A send's delays over a link class for a chunk size. `free_delay` and `arrival_delay` are equal if busy = latency.
struct HopDelays {
  std::int64_t busy = 0;
  std::int64_t latency = 0;
  std::uint32_t free_delay = 0;
  std::uint32_t arrival_delay = 0;
};

/// The hop times that a setup assumes under `serialization`. If alpha is short, a link that is free a little before the
/// next chunk arrives should wait for it; links in lockstep do. Such setups are then replayed as soon as possible.
enum class Pace : std::uint8_t {
  as_it_is,
  until_arrival,  ///< a send keeps its link until it has arrived
  without_alpha,  ///< a send arrives when it leaves its link
};

/// Immutable; shared by the engines of all threads.
struct GatherSetup {
  /// `problem.collective` is an All-Gather or a Broadcast; `participants` come from find_participants(). Levels are
  /// those of `level_costs`, one per link, or of the links' latencies if it is empty.
  /// O(vertices * chunks / 64 + links) time and memory.
  GatherSetup(const SynthesisProblem& problem, const std::vector<Participants>& participants,
              Pace pace = Pace::as_it_is, const std::vector<std::int64_t>& level_costs = {});

  [[nodiscard]] const HopDelays& hop(std::uint32_t link, std::uint32_t chunk) const {
    return hops[static_cast<std::size_t>(class_of[link]) * sizes + (size_of.empty() ? 0U : size_of[chunk])];
  }

  /// Whether some links leave chunks to others.
  [[nodiscard]] bool has_levels() const { return ranks > 1 || levels.levels() > 1; }

  const Topology& topology;
  const Collective& collective;
  std::size_t sizes = 1;               ///< distinct chunk sizes
  std::vector<std::uint16_t> size_of;  ///< per chunk; empty with one size
  std::vector<HopDelays> hops;         ///< class * sizes + size
  std::vector<Delay> delays;
  std::vector<std::uint16_t> class_of;  ///< per link
  std::vector<std::uint32_t> rank_of;   ///< per link: 0 for the lowest cost, equal for equal costs
  std::uint32_t ranks = 1;
  CostLevels levels;                  ///< only with several ranks, or level costs that are given
  BitMatrix served;                   ///< vertices * chunks: set if no delivery is wanted
  std::vector<std::uint32_t> wanted;  ///< per vertex: clear bits of its row
  Csr<std::uint32_t> held_at_start;   ///< per vertex: chunks
  std::vector<std::size_t>
      list_begin;              ///< per vertex, and the end: room for all chunks it will ever hold, in one array
  std::uint64_t required = 0;  ///< deliveries to members
  bool relays = false;         ///< some vertex wants chunks only for others
};

}  // namespace tenex
