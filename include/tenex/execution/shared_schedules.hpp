// Synthesized schedules, shared by points whose schedules differ in pace alone.
//
// Claim. Let all links be of one class and all chunks of one size, and let a send keep its link busy until it arrives:
// the occupancy `transfer`, or alpha zero. Then there is one hop time h. Two points that differ only in size, alpha and
// bandwidth, which determine h, get the same schedule, with its times multiplied by the ratio of their hop times.
//
// Proof, by the inputs of a synthesis. (1) The only time that engines read is h, as the busy time and the latency of a
// hop. All times that they compute are sums, differences and maxima of h, hence k * h. They decide by comparing such
// times, or by timesteps, which are quotients by h. Comparisons and quotients of k * h do not depend on h. The same
// holds for the later operations on a schedule: pruning, reversal, concatenation and re-timing. (Re-timing in general
// also puts a delivery one picosecond after a send that did not wait for it. A synthesizer's reductions are in-trees,
// where a send follows all that its source receives, so this never happens.) (2) Random numbers are keyed by the
// synthesis key, which holds hop times divided by their greatest common divisor, h. (3) Lower bounds depend on alpha
// and bandwidth, and they end a series of attempts early. No later attempt is better than one that meets a proven
// bound, so this only saves time. The symmetric engine also uses its distance from its bound; that bound consists of
// floor counts and distances alone, so it is k * h too. (4) Memory decides which parts of a synthesis are left out, and
// whether a bound was met may decide whether this is reported. So a schedule is shared only if all parts fit by the
// synthesizer's own estimate.
//
// If links or chunk sizes differ, hop times rarely keep their ratios (each is rounded up to a picosecond, and alpha
// does not grow with the size). Under `serialization` with an alpha, a hop has two times, whose ratio depends on the
// size. Such points are synthesized one by one. Textbook algorithms are simulated one by one too. Most of them send
// several chunks in a message, so that hop times are no multiples of one another, and some read sizes and bandwidths
// when they choose their routes. For the few whose messages carry one chunk, the claim would need a proof of how
// simulators order messages that meet; `auto` compares them with the others anyway.
//
// A schedule is stored at the pace at which it was made. A point that uses it scales it (schedule/views/scaled.hpp) and
// verifies it at its own times, so an error in this claim would show.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/shared_cache.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// The time for which every send of a single chunk keeps its link and after which it arrives, if this is one time for
/// all; otherwise nullopt. O(1).
[[nodiscard]] std::optional<SimTime> uniform_hop(const Instance& instance);

/// Counts of the schedules that points asked for.
struct CacheCounts {
  std::uint64_t synthesized = 0;  ///< made by a synthesizer
  std::uint64_t shared = 0;       ///< found, made for a point that differs in pace alone
};

/// Thread-safe.
class SharedSchedules {
 public:
  explicit SharedSchedules(std::size_t limit_bytes) : made_(limit_bytes) {}

  /// Returns the synthesizer's schedule: found and scaled if an equal problem was solved at another pace, otherwise
  /// made. `settings`: those of the point that change a schedule, as a text (kOfSchedule). Two threads that ask
  /// for the same schedule at once may both make it. Errors: the synthesizer's.
  [[nodiscard]] Result<Synthesis> synthesize(const Synthesizer& synthesizer, const SynthesisProblem& problem,
                                             const std::string& settings);

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
