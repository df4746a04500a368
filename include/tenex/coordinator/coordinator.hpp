// Coordinator: rank 0 leases design points to ranks, longest expected first; each rank evaluates them on its threads.
//
// Every rank enumerates the same study, so a lease is a few index ranges. Rank 0 only answers; workers ask before they
// run out of work (one lease is prefetched). With one rank the same PointRunner takes leases from an in-process queue.
// Inside a rank many small points run side by side on threads (wide), or a large point gets all threads (deep), never
// both at once. MPI is a thin leaf. If a study prunes (halving.hpp), leases of its rounds come first: their points are
// valued, and only points that no cut prunes are evaluated. Points that are sure to survive do not wait for the last
// values of a round (staged_work.hpp). The lease queue, PointRunner and the progress report are plain values that tests
// drive without MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

struct RunOptions {
  std::filesystem::path out;
  int threads = 0;                     ///< per rank; 0: OMP_NUM_THREADS or the affinity set
  std::size_t memory_limit_bytes = 0;  ///< per rank; 0: 80 % of the host's memory, divided by its ranks
  OpenOptions open;
  bool quiet = false;                  ///< no progress on stderr
  LogLevel log_level = LogLevel::off;  ///< level of the log that each rank writes into the folder
  /// No point is begun that is not expected to end within this many seconds. 0: until the batch system ends the job
  /// (SLURM_JOB_END_TIME), if it says when.
  double time_limit_seconds = 0;
  double silence_seconds = 60;  ///< a rank that sends nothing for this long counts as dead
  double commit_seconds = 10;   ///< the time that ranks have to commit what is finished once rank 0 counts as dead
  bool one_by_one =
      false;  ///< a rank evaluates one point at a time, on all its threads, so that measured times are the point's own
  /// Replaces evaluate() in tests of scheduling.
  std::function<EvaluationOutput(const DesignPoint&, Cache&, const EvaluateOptions&)> evaluate_point;
  /// Replaces estimate() in tests of scheduling.
  std::function<Estimate(const DesignPoint&)> estimate_point;
  /// Replace early_value() and an EarlyEstimator in tests of scheduling.
  std::function<std::optional<double>(const DesignPoint&, Fidelity, const Objective&, Cache&, const EvaluateOptions&)>
      value_point_early;
  std::function<Estimate(const DesignPoint&, Fidelity)> estimate_point_early;
  /// Replaces memory_kills() of resources.hpp in tests of scheduling.
  std::function<std::uint64_t()> count_memory_kills;
  /// Called once on every living rank when a rank has died. From then on MPI must not be finalized, because it would
  /// wait for the dead rank.
  std::function<void()> on_lost_rank;
};

struct RunReport {
  std::size_t points = 0;
  std::size_t already_done = 0;
  std::size_t evaluated = 0;
  std::size_t pruned = 0;       ///< of all rows: left out by the study's search; those of this run count as evaluated
  std::size_t failed = 0;       ///< of all rows: status is neither ok, over_npu_memory nor pruned
  bool interrupted = false;     ///< a signal or the time limit drained the run, which can be resumed
  std::size_t lost_ranks = 0;   ///< number that died during the run; other ranks evaluated their points
  std::size_t quarantined = 0;  ///< points that ended their process too often and so have a row `failed`
  std::size_t too_long = 0;     ///< points that were not begun because of the time limit
  double seconds = 0;
  /// From opening the folder: damaged shards, torn journals, rows that lack outputs, points in which an
  /// earlier run ended.
  std::vector<std::string> warnings;
  MergeReport merge;  ///< on rank 0, when not interrupted
};

/// Runs a study in this process alone, without MPI. Errors: those of opening, writing and merging.
[[nodiscard]] Result<RunReport> run_alone(const Study& study, const RunOptions& options);

/// Runs a study on all ranks of MPI_COMM_WORLD; collective. The caller must initialise MPI (FUNNELED) after
/// block_run_signals() of signals.hpp (MPI_Init starts threads, which must inherit the mask). Rank 0 gets the report.
/// Other ranks get their own count of `evaluated`, and rank 0's errors, `failed` and `interrupted`, so only rank 0
/// needs to print.
[[nodiscard]] Result<RunReport> run_with_mpi(const Study& study, const RunOptions& options);

}  // namespace tenex
