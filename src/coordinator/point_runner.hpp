// PointRunner: evaluates leased points on a rank's threads, many small ones side by side or one large one on all
// threads.
//
// One thread of the runner opens every OpenMP region (each further thread that opened a region would get a pool of its
// own). It runs in one of two modes, never both. *Wide*: a region whose threads take points one by one, each evaluated
// on one thread. *Deep*: one point on all threads. Points start in order of arrival, and within a lease the longest
// first. The region stays open across leases: a thread with nothing to take waits as long as others run, so the end of
// a lease is not a barrier. The estimated bytes of the points that run together stay within the memory limit. The
// runner uses no MPI, no files and no signals: it announces risky points before they start, and passes finished ones to
// a sink. Near the time limit, a point that would not end in time is not begun. The runner's own threads estimate the
// points of a lease when it arrives; the thread that pushes the lease never does.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "coordinator/estimates.hpp"
#include "coordinator/lease_queue.hpp"
#include "coordinator/wire.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/search.hpp"

namespace tenex {

using EvaluatePoint = std::function<EvaluationOutput(const DesignPoint&, Cache&, const EvaluateOptions&)>;

/// early_value() and an EarlyEstimator, or a test's replacement.
using ValueEarly = std::function<std::optional<double>(const DesignPoint&, Fidelity, const Objective&, Cache&,
                                                       const EvaluateOptions&)>;
using EstimateEarly = std::function<Estimate(const DesignPoint&, Fidelity)>;

/// A point that has been evaluated.
struct FinishedPoint {
  std::uint32_t point = 0;
  EvaluationOutput output;
  std::int64_t finished_unix_ms = 0;
};
/// Takes finished points; called by several threads at once.
using PointSink = std::function<void(FinishedPoint)>;
/// Called before a point is evaluated if worth_announcing() is true; called by several threads at once.
using PointAnnouncer = std::function<void(std::uint32_t point)>;

struct PointRunnerOptions {
  int threads = 1;
  std::size_t memory_limit_bytes = std::size_t{8} << 30;
  double deep_seconds = 0.25;   ///< a shorter point never gets all threads because of its length
  bool one_by_one = false;      ///< one point at a time, with all threads, so that its times are its own
  double threaded_seconds = 1;  ///< as deep_seconds, for points that use threads well and take much memory
  double announce_seconds = 1;  ///< a point that is expected to take longer is announced before it starts
  /// The memory for a point that has its node to itself, or that fits in no rank's share; 0: memory_limit_bytes.
  std::size_t node_memory_bytes = 0;
  std::optional<std::chrono::steady_clock::time_point> ends_at = {};  ///< no point is begun that would end later
  ValueEarly value_early = early_value;  ///< for leases of a search's round: their points' values go into the report
  EstimateEarly estimate_early = [](const DesignPoint&, Fidelity) { return Estimate{}; };
  int crash_journal = -1;  ///< file descriptor for the last line of a process that a point ends (crash_handler.hpp)
};

/// Whether a point should have all threads. O(1). It should with `one_by_one`, and in these cases:
/// - it is long (over `deep_seconds`), and others would idle (it takes over 1.5 times a thread's share of its lease);
/// - it is so large that fewer than two such points fit side by side;
/// - it is long and large: fewer such points fit side by side than half the number of threads, rounded up;
/// - it is long (over `threaded_seconds`), gets faster with threads, and one such point per thread would take more than
///   half of the memory.
[[nodiscard]] bool wants_all_threads(const Estimate& estimate, double lease_seconds, const PointRunnerOptions& options);

/// The number of its rank's threads that a point occupies, whatever its lease: all if it cannot share them and does not
/// use them, else 1. O(1).
[[nodiscard]] int threads_kept(const Estimate& estimate, const PointRunnerOptions& options);

/// Whether a point is long, or so large that no second one fits beside it. If it ends its process, the next run should
/// know which point it was. O(1).
[[nodiscard]] bool worth_announcing(const Estimate& estimate, const PointRunnerOptions& options);

/// Thread-safe.
class PointRunner {
 public:
  /// `study` and `estimates` must outlive the runner. Starts the runner's thread. `announce` may be empty.
  PointRunner(const Study& study, PointRunnerOptions options, EvaluatePoint evaluate_point, Estimates& estimates,
              PointSink sink, PointAnnouncer announce = {});
  /// Drains, and waits for the running points.
  ~PointRunner();
  PointRunner(const PointRunner&) = delete;
  PointRunner& operator=(const PointRunner&) = delete;

  /// Appends a lease's points; `lease.seconds` stands for their estimates until those are made. Ignored after drain().
  /// O(1).
  void push(const Lease& lease);
  /// Starts no further point and forgets the waiting ones.
  void drain();

  /// The progress so far; `finished_leases` since the last call. `leases_received` counts push(). O(finished leases).
  [[nodiscard]] RankReport report();
  /// The number of points that wait for a thread, and whether none waits or runs.
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] bool idle() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenex
