// Engine: evaluates leased points on a rank's threads, many small ones side by side or one large one on all threads.
//
// One engine thread opens every OpenMP region (each further thread that opens a region would get a pool of its own) and
// runs in one of two modes, never both: *wide*, a region whose threads take points one by one, each evaluated on one
// thread; and *deep*, one point on all threads. Points start in order of arrival, a lease's longest first. The region
// stays open across leases: a thread with nothing to take waits as long as others run, so the end of a lease is no
// barrier. Estimated bytes of the points that run together stay within the memory limit. The engine knows no MPI, no
// files and no signals: points that may not end well are announced before they start, finished ones go to a sink.
// Near the end of the time that the run has, a point that would not end in time is not begun.
// Points are estimated by the engine's own threads when their lease arrives, never by the thread that pushes it.
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

/// early_value() and an EarlyEstimator, or what tests put in their place.
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
/// Told of a point before it is evaluated, where worth_announcing() says so; called by several threads at once.
using PointAnnouncer = std::function<void(std::uint32_t point)>;

struct EngineOptions {
  int threads = 1;
  std::size_t memory_limit_bytes = std::size_t{8} << 30;
  double deep_seconds = 0.25;   ///< a point below never gets all threads for its length
  bool one_by_one = false;      ///< no point beside another: each has all threads, so that its times are its own
  double threaded_seconds = 1;  ///< likewise, one that makes good use of them and takes much memory
  double announce_seconds = 1;  ///< a point that is expected to take longer is announced before it starts
  /// What a point may use that has its node to itself, or that fits in no rank's share; 0: memory_limit_bytes.
  std::size_t node_memory_bytes = 0;
  std::optional<std::chrono::steady_clock::time_point> ends_at = {};  ///< no point is begun that would end later
  ValueEarly value_early = early_value;  ///< of leases of a search's round: their points' values go into the report
  EstimateEarly estimate_early = [](const DesignPoint&, Fidelity) { return Estimate{}; };
  int crash_journal = -1;  ///< file descriptor for the last line of a process that a point ends (crash_handler.hpp)
};

/// Whether a point should have all threads: it is long (over `deep_seconds`) and would leave the others idle (over 1.5
/// times a thread's share of its lease), or so large that fewer than two fit side by side (or, when long, less than
/// half the threads' worth, or, of those that get faster with threads, so many that they take half the memory when each
/// thread has one). With `one_by_one` every point. O(1).
[[nodiscard]] bool wants_all_threads(const Estimate& estimate, double lease_seconds, const EngineOptions& options);

/// How many threads of its rank a point keeps from others whatever lease it is in: all where it cannot share them and
/// makes no use of them, else 1. O(1).
[[nodiscard]] int threads_kept(const Estimate& estimate, const EngineOptions& options);

/// Whether a point is long, or so large that no second one fits beside it: where it ends its process, the next run
/// should know which point it was. O(1).
[[nodiscard]] bool worth_announcing(const Estimate& estimate, const EngineOptions& options);

/// Thread-safe.
class Engine {
 public:
  /// `study` and `estimates` must outlive the engine. Starts the engine thread. `announce` may be empty.
  Engine(const Study& study, EngineOptions options, EvaluatePoint evaluate_point, Estimates& estimates, PointSink sink,
         PointAnnouncer announce = {});
  /// Drains and waits for what is running.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Appends a lease's points; `lease.seconds` stands for their estimates until those are made. Ignored after drain().
  /// O(1).
  void push(const Lease& lease);
  /// Starts no further point and forgets those that wait.
  void drain();

  /// What has happened; `finished_leases` since the last call. `leases_received` counts push(). O(finished leases).
  [[nodiscard]] RankReport report();
  /// Points that wait for a thread, and whether nothing waits or runs.
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] bool idle() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenex
