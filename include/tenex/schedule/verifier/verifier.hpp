// Verifier: replays a schedule against the definition of validity, without relying on the code that made it.
//
// Definition (include/tenex/README.md): each send's source holds the chunk, with the contributions it claims, at the
// send's start (arrivals at that instant count; what is received in the same step does not); no link carries two sends
// at once; switches do only what their properties allow; at the end every postcondition holds and each contribution is
// counted exactly once. A delivery that nobody needs is legal and counted as waste. Collective time is the last useful
// arrival.
//
// Details. At one instant arrivals come before starts, and partial sums before copies. A vertex's own sum becomes its
// final value when the last contribution arrives. An NPU keeps what it sends, so if it sends a sum to two places and
// both meet later, its contributions count twice. A switch without `copy` forwards each arrival at most once; one
// without `reduce` passes partial sums on one by one, in order of arrival, each once; one that reduces but cannot copy
// no longer has its sum after sending it. What waits in a switch between an arrival and the last send of it must fit
// into the switch's buffer at the end of every instant. Where links are wires (topology/wires.hpp), each physical link
// of a path carries one signal at once. A message's first hop takes what its source holds at that start; relays hold it
// apart. An invalid send is reported once and then replayed as if it were valid.
//
// The verifier is written from that definition alone. It uses only base, topology, collective and schedule, and shares
// no code with synthesizers or simulators.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/collective/instance.hpp"
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
  missing_contribution,   ///< a sum that ends without the contribution of some NPU
  buffer_overflow,        ///< more chunks wait in a switch than its buffer holds
};

[[nodiscard]] std::string_view to_string(Violation violation);

/// One violation, with a sentence for a user: which send, what was expected, what was found.
struct Finding {
  Violation violation;
  Send send;  ///< the offending send; default if no single send is at fault
  std::string message;
};

enum class Verification : std::uint8_t {
  invalid,
  valid,
  skipped,  ///< a check would need more memory than allowed: that of reductions (the rest holds), or the replay
};

/// How partial sums are checked. The verdict on validity never depends on it, only the memory and whether the check is
/// `skipped`.
enum class ReductionCheck : std::uint8_t {
  automatic,   ///< the in-tree rule; if it does not hold, exact contribution sets
  in_tree,     ///< the in-tree rule alone: schedules that break it are skipped
  exact_sets,  ///< exact contribution sets alone
};

struct VerifyOptions {
  std::size_t memory_limit_bytes = std::size_t{4} << 30;  ///< for exact contribution sets
  /// For the replay's holdings of chunks with one destination each: one bit per (vertex, chunk). Where they need more,
  /// and the schedule is not found valid without them, the check is `skipped`.
  std::size_t holdings_limit_bytes = std::numeric_limits<std::size_t>::max();
  std::size_t max_findings = 16;  ///< how many findings to describe; all are counted
  ReductionCheck reduction_check = ReductionCheck::automatic;
  int threads = 1;                            ///< for all checks but the replay; never changes the verdict
  std::vector<StartDelay> start_delays = {};  ///< NPUs from which nothing, own or forwarded, leaves before a given time
};

/// The result of a verification.
struct Verdict {
  Verification outcome = Verification::invalid;
  std::uint64_t violations = 0;
  std::vector<Finding> findings;  ///< the first ones, in time order
  std::uint64_t sends = 0;
  std::uint64_t waste =
      0;  ///< deliveries that nobody needed: to a bystander that never forwards them, or a second copy
  SimTime collective_time;              ///< last useful arrival
  std::size_t memory_needed_bytes = 0;  ///< what the skipped check would need
  std::string reduction_check;          ///< "none", "in_tree", "exact_sets" or "skipped"

  [[nodiscard]] bool valid() const { return outcome == Verification::valid; }
};

/// Checks all sends. Expects: a collective of the topology's NPUs, and at least one thread. Ensures: a verdict that
/// does not contradict itself: `valid` and `skipped` without violations, `invalid` with some, and a time where
/// something had to be delivered and was. A schedule of chunks with one destination each (All-to-All), on a topology
/// without switches, is first checked walk by walk: O(sends + npus * links) time on `threads` threads, 8 bytes per
/// chunk, or none where the schedule offers chunk-major access (Schedule::read_chunks). A schedule that offers
/// link-major access (Schedule::tiles), on a topology without switches and without delayed starts, is first checked NPU
/// by NPU on `threads` threads: O(sends + npus * chunks) time, at most 33 bytes per chunk and thread; or O(uses of
/// links) time where it repeats its trees in every period (ScheduleStorage::period_frame). If such a check passes, it
/// gives the verdict. All other schedules are replayed in time order. The replay reads all sends, twice if the
/// collective reduces (three times for an All-Reduce). It never fails: the verdict lists what is wrong with the
/// schedule (but a storage that breaks its own promise of time order throws InvariantError). Time O(sends log lanes), a
/// lane being a (link class, chunk size, stage); memory one bit per (vertex, chunk), another per (NPU, chunk) if the
/// collective reduces, exact sets where needed, and the sends under way.
[[nodiscard]] Verdict verify(const Instance& instance, const Schedule& schedule, const VerifyOptions& options = {});

}  // namespace tenex
