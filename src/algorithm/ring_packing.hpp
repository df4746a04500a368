// Packings of Hamiltonian cycles: the rings of the algorithm `rings`, and their rates.
//
// Two searches. Equal rings: several cycles of one rate, found as covers by shorter cycles which exchanges of arcs join
// (ring_covers.cpp). Any rings: the linear program over all Hamiltonian cycles, solved exactly for few members
// (ring_program.cpp). Equal rings come first, because they divide chunks evenly. A few numbers of rings are tried, for
// few chunks; on larger networks then as many as cuts allow, of the rates that promise most.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithm/ring_network.hpp"

namespace tenex {

/// A directed Hamiltonian cycle: all ranks of a group, each before the next, the last before the first.
struct Ring {
  std::vector<std::uint32_t> order;
  std::int64_t rate = 0;  ///< in B/s; on every link the rates of all rings over it sum to at most its capacity
};

/// Rings that share the data of a group in proportion to their rates.
struct RingPacking {
  std::vector<Ring> rings;
  /// The sum of the rates.
  [[nodiscard]] std::int64_t rate() const;
};

/// Packings of at most `most_rings` rings (at least 1), each of a larger total rate than those before it; empty if no
/// cycle was found. The last one has the largest total rate of all packings, up to a millionth, if the network has at
/// most kMostForOptimum members, `most_rings` is no limit and the linear program ends within its limit of pivots.
[[nodiscard]] std::vector<RingPacking> pack_rings(const RingNetwork& network, std::uint32_t most_rings);

/// The number of rings from which on pack_rings() finds the same packings, whatever the limit.
[[nodiscard]] std::uint32_t most_packed_rings(const RingNetwork& network);

/// The most members for which the linear program is solved. Its columns are found in O(2^members * members^2).
inline constexpr std::uint32_t kMostForOptimum = 10;

/// How many cycles of which rate are sought.
struct EqualRings {
  std::uint32_t count = 0;
  std::int64_t rate = 0;   ///< of each, in B/s
  bool both_ways = false;  ///< each cycle is taken in both directions; `count` is even
  bool fewer = false;      ///< where they are not found, the search goes on for one or some less, again and again
};

/// The exchanges of arcs after which a search for cycles (both ways: pairs of them) gives up: 600 per member and cycle,
/// at most 80,000 per cycle.
[[nodiscard]] std::uint64_t first_exchanges(const RingNetwork& network, std::uint32_t cycles);

/// Cycles of one rate that fit the network together: `wanted.count` if the search succeeds, fewer if not. It ends after
/// first_exchanges(); with `fewer` it adds a quarter of them for each number that it tries.
[[nodiscard]] std::vector<Ring> find_equal_rings(const RingNetwork& network, const EqualRings& wanted);

/// The largest total rate, by the simplex method with columns from dynamic programming over subsets (Held and Karp
/// 1962). nullopt after too many pivots, or where there is no cycle. Requires members <= kMostForOptimum.
[[nodiscard]] std::optional<RingPacking> best_rings(const RingNetwork& network);

}  // namespace tenex
