// Messages between rank 0 and the other ranks, as values and as 64-bit words.
//
// A worker sends HELLO once (with the study that it enumerated) and gets START when the folder is open. It then sends
// REQUEST whenever it has little work left, ALIVE when it has sent nothing for 5 s, and BYE when all its rows are
// committed. Rank 0 answers with LEASE and DRAIN, sends ALIVE every 5 s, and BYE when the whole run is over. A rank
// that sends nothing for 60 s counts as dead. Points are sent as index ranges: every rank enumerates the same study.
// Encoding: words in native byte order (all ranks run one binary); doubles by their bits; lists and texts preceded by
// their length. A message that does not decode is a broken invariant.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/lease_queue.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/coordinator/cost_model.hpp"

namespace tenex {

/// Points [first, last) of the study.
struct PointRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool operator==(const PointRange&) const = default;
};

/// The points as ascending ranges. Their order inside a lease follows from the estimates, which are the same on all
/// ranks. O(n log n).
[[nodiscard]] std::vector<PointRange> to_ranges(std::vector<std::uint32_t> points);
/// The points of the ranges, ascending. O(points).
[[nodiscard]] std::vector<std::uint32_t> to_points(const std::vector<PointRange>& ranges);

/// The value of a point in a round of a search.
struct EarlyValue {
  std::uint32_t point = 0;
  std::uint32_t round = 0;  ///< counted from 0
  double value = 0;         ///< of the objective; NaN: none
};

/// A point that a rank evaluates.
struct RunningPoint {
  std::uint32_t point = 0;
  std::uint32_t threads = 1;  ///< number that it occupies
  double elapsed = 0;         ///< seconds until the report was made
};

/// The progress of a rank; most messages contain one.
struct RankReport {
  RankProgress progress;
  double backlog_seconds = 0;  ///< expected time of the points at hand; exactly 0 when there is none
  std::uint64_t evaluated = 0;
  std::uint64_t failed = 0;   ///< of the evaluated points: rows that are not ok
  std::uint64_t skipped = 0;  ///< points that were not begun because they would not have ended in time
  std::uint64_t leases_received = 0;
  std::uint64_t memory_kills =
      0;  ///< number of processes that this rank's host or control group has killed for lack of memory
  std::vector<std::uint64_t> finished_leases;  ///< since the last report
  std::vector<KindCost> costs;                 ///< of the points finished since the last report, by kind
  std::vector<EarlyValue> early_values;        ///< since the last report
  double occupied_seconds = 0;        ///< thread-seconds of the points that ended (time of each, times its threads)
  std::vector<RunningPoint> running;  ///< now, without points of a search's rounds
};

struct HelloMessage {
  Digest study;
  std::uint64_t points = 0;
  std::uint32_t threads = 1;
  std::string host;
};
struct StartMessage {
  std::uint32_t incarnation = 0;
};
struct RequestMessage {
  RankReport report;
};
struct LeaseMessage {
  std::uint64_t id = 0;
  std::vector<PointRange> ranges;
  double seconds = 0;  ///< expected, summed over the points
  double scale = 1;    ///< for the remaining fields see Lease
  bool careful = false;
  bool exclusive = false;
  std::uint8_t round = 0;
};
/// A sign of life: from a worker with its report, from rank 0 with an empty one.
struct AliveMessage {
  RankReport report;
};

/// Why no further point is started.
enum class DrainReason : std::uint8_t {
  done,    ///< nothing is left to lease: finish the points at hand
  signal,  ///< a user or the batch system asked for it: finish the running points
  time,    ///< the time limit is near: finish the running points
  error,   ///< a rank cannot store rows or does not belong to the run: finish the running points
};
struct DrainMessage {
  DrainReason reason = DrainReason::done;
};
/// From a worker: its last message; all its rows are committed unless there are `errors`. From rank 0: the run is over,
/// with the errors of all ranks, and `report` counts the rows of the whole run.
struct ByeMessage {
  RankReport report;
  Diagnostics errors;
  bool interrupted = false;
  std::uint64_t lost_ranks = 0;  ///< from rank 0: number of ranks that died; if not 0, MPI must not be finalized
};

using RankMessage =
    std::variant<HelloMessage, RequestMessage, LeaseMessage, AliveMessage, DrainMessage, ByeMessage, StartMessage>;
using Words = std::vector<std::uint64_t>;

/// O(size of the message).
[[nodiscard]] Words encode(const RankMessage& message);
/// Throws InvariantError for words that encode() did not make.
[[nodiscard]] RankMessage decode(const Words& words);

}  // namespace tenex
