// Synthesized schedules, shared by points whose schedules differ in pace alone.
//
// Claim. Let all links be of one class and all chunks of one size, and let a send keep its link busy for as long as it
// takes to arrive: the occupancy `transfer`, or alpha zero. Then there is one hop time h, and two points that differ in
// nothing but what h follows from (size, alpha, bandwidth) get the same schedule, its times multiplied by the ratio of
// their hop times.
//
// Proof, by what a synthesis reads. (1) Of times, engines read h alone: as the busy time and the latency of a hop. All
// times that they make are sums, differences and maxima of these, hence k * h; what they decide, they decide by
// comparing such times, or by rows, which are quotients by h. Comparisons and quotients of k * h do not depend on h.
// What is done to a schedule afterwards, pruning, reversal, sequence and re-timing, is of the same kind. (Re-timing in
// general also orders a delivery one picosecond behind a send that did not wait for it. A synthesizer's reductions are
// in-trees, where a send is behind all that its source receives, so this never happens.) (2) Random numbers are keyed
// by the synthesis key, which holds hop times divided by their greatest common divisor: by h. (3) Lower bounds, which
// do follow from alpha and bandwidth, end a series of attempts early; no later attempt is better than one that meets
// a proven bound, so that only saves time. The symmetric engine also asks how far from its bound it is, and that bound
// is made of floor counts and distances alone: k * h too. (4) Memory decides what is left out of a synthesis, and
// whether a bound was met may decide whether this is said; so a schedule is shared only where the synthesizer's own
// estimate says that everything fits.
//
// Where links or chunk sizes differ, hop times rarely keep their ratios (each is rounded up to a picosecond, and alpha
// does not grow with the size); under `serialization` with an alpha a hop has two times, whose ratio is another for
// every size. Such points are synthesized one by one. So are textbook algorithms simulated one by one: most of them
// send several chunks in a message, whose hops are no multiples of one another, and some read sizes and bandwidths when
// they choose their ways. For the few whose messages carry one chunk the claim would have to be shown of how simulators
// order messages that meet; `auto` compares them with the others anyway.
//
// A schedule is kept at the pace at which it was made. Whoever takes it scales it (schedule/scaled.hpp) and has it
// verified at its own times: nothing here is trusted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/shared_cache.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// How long every send of a single chunk takes and keeps its link, where that is one time for all; nullopt where it is
/// not. O(1).
[[nodiscard]] std::optional<SimTime> uniform_hop(const Topology& topology, const Collective& collective,
                                                 Occupancy occupancy);

/// What a cache has been asked for: of schedules.
struct CacheCounts {
  std::uint64_t synthesized = 0;  ///< made by a synthesizer
  std::uint64_t shared = 0;       ///< made before, for a point that differs in pace alone
};

/// Thread-safe.
class SharedSchedules {
 public:
  explicit SharedSchedules(std::size_t limit_bytes) : made_(limit_bytes) {}

  /// What the synthesizer makes of the problem: found and scaled where an equal one was solved at another pace, else
  /// made. `structure` tells topologies apart whose links are all alike (topology_structure_key()). Two threads that
  /// ask for the same at once may both make it. Errors: the synthesizer's.
  [[nodiscard]] Result<Synthesis> synthesize(const Synthesizer& synthesizer, const SynthesisProblem& problem,
                                             const std::string& structure);

  [[nodiscard]] CacheCounts counts() const { return {synthesized_.load(), shared_.load()}; }

 private:
  struct Paced {
    SimTime hop;
    Synthesis made;
  };

  SharedCache<Paced> made_;
  std::atomic<std::uint64_t> synthesized_{0};
  std::atomic<std::uint64_t> shared_{0};
};

}  // namespace tenex
