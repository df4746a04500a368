// Verifier: replays a schedule against the definition of validity and trusts nobody.
//
// Definition (docs of the project's physics): each send's source holds the chunk, with the contributions it claims, at
// the send's start (what arrives at that instant counts, what is received in the same step does not); no link carries
// two sends at once; switches do only what their properties allow; at the end every postcondition holds and each
// contribution is counted exactly once. A delivery that nobody needs is legal, counted as waste. Collective time is the
// last useful arrival.
//
// Details. At one instant arrivals come before starts, and partial sums before copies. A vertex's own sum becomes its
// final value when the last contribution arrives; an NPU keeps what it sends, so a sum sent to two places that meet
// later counts twice. A switch without `copy` forwards each arrival at most once; one without `reduce` passes partial
// sums on one by one, in order of arrival, each once; one that reduces but cannot copy gives its sum away when it sends
// it. A message's first hop takes what its source holds at that start; relays hold it apart. A send found wrong is
// reported once and then replayed as if right.
//
// It is written from that definition alone, links only base, topology, collective and schedule, and shares no code with
// synthesizers or simulators.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

enum class Violation : std::uint8_t {
  unknown_link,           ///< a send on a link that does not exist
  unknown_chunk,          ///< a send of a chunk that does not exist
  negative_start,         ///< a send before time zero
  early_start,            ///< a send from an NPU that has not started (VerifyOptions::start_delays)
  source_lacks_chunk,     ///< a send before its source holds the chunk
  incomplete_sum,         ///< a copy of a sum that is not complete at the source
  link_overlap,           ///< two sends at once on a link
  contribution_twice,     ///< a contribution counted twice in a sum
  broken_path,            ///< a hop of a message that does not continue its path
  switch_copy,            ///< a switch without `copy` forwards one arrival twice
  switch_reduce,          ///< a switch without `reduce` adds
  missing_postcondition,  ///< an NPU ends without a chunk it must hold
  missing_contribution,   ///< a sum that ends without somebody's contribution
};

[[nodiscard]] std::string_view to_string(Violation violation);

/// One violation, with a sentence for a user: which send, what was expected, what was found.
struct Finding {
  Violation violation;
  Send send;  ///< the offending send; default for postconditions
  std::string message;
};

enum class Verification : std::uint8_t {
  invalid,
  valid,
  skipped,  ///< the reduction check would need more memory than allowed; the rest holds
};

/// How partial sums are checked; "schedule holds" never depends on it, only memory and whether an answer is found.
enum class ReductionCheck : std::uint8_t {
  automatic,   ///< the in-tree rule; where it does not hold, exact contribution sets
  in_tree,     ///< the in-tree rule alone: schedules that break it are skipped
  exact_sets,  ///< exact contribution sets alone
};

struct VerifyOptions {
  std::size_t memory_limit_bytes = std::size_t{4} << 30;  ///< for exact contribution sets
  std::size_t max_findings = 16;                          ///< how many findings to describe; all are counted
  ReductionCheck reduction_check = ReductionCheck::automatic;
  int threads = 1;                            ///< for schedules that offer link-major access; never changes the verdict
  std::vector<StartDelay> start_delays = {};  ///< NPUs from which nothing leaves before a time, own or forwarded
};

/// What a replay found.
struct Verdict {
  Verification outcome = Verification::invalid;
  std::uint64_t violations = 0;
  std::vector<Finding> findings;  ///< the first, in time order
  std::uint64_t sends = 0;
  std::uint64_t waste =
      0;  ///< deliveries that nobody needed (to a bystander that never forwards them, or a second copy)
  SimTime collective_time;              ///< last useful arrival
  std::size_t memory_needed_bytes = 0;  ///< what exact contribution sets would need, when skipped
  std::string reduction_check;          ///< "none", "in_tree", "exact_sets" or "skipped"

  [[nodiscard]] bool valid() const { return outcome == Verification::valid; }
};

/// Checks all sends. A schedule that offers link-major access (Schedule::tiles) on a topology without switches, and
/// without delayed starts, is checked NPU by NPU on `threads` threads: O(sends + npus * chunks) time, 16 bytes per
/// chunk and thread. If all is well, that is the verdict. Any other schedule, and one in which something is wrong, is
/// replayed in time order:
///
/// Replays all sends, twice where the collective reduces (an All-Reduce's are read once more). Never fails: whatever is
/// wrong with the schedule is in the verdict (a storage that breaks its own promise of time order throws
/// InvariantError). Time O(sends log lanes), a lane being a (link class, chunk size, stage); memory one bit per
/// (vertex, chunk), another per (NPU, chunk) where the collective reduces, exact sets where needed, and the sends under
/// way.
[[nodiscard]] Verdict verify(const Topology& topology, const Collective& collective, Occupancy occupancy,
                             const Schedule& schedule, const VerifyOptions& options = {});

}  // namespace tenex
