// Coordinator: rank 0 leases design points to ranks, longest expected first; each rank evaluates them on its threads.
//
// Every rank enumerates the same study, so a lease is a few index ranges. Rank 0 only answers; workers ask for more
// before they run dry (one lease prefetched). With one rank the same engine runs on an in-process queue. Inside a rank
// many small points run side by side on threads (wide), a large point gets all threads (deep), never both at once. MPI
// is a thin leaf: the lease queue, the engine and the progress report are plain values that tests drive without MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
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
  std::size_t memory_limit_bytes = 0;  ///< per rank; 0: 80 % of the host's memory over its ranks
  OpenOptions open;
  bool quiet = false;       ///< no progress on stderr
  bool one_by_one = false;  ///< a rank evaluates one point at a time, on all its threads: for measured times
  /// Replaces evaluate(), for tests of scheduling.
  std::function<EvaluationOutput(const DesignPoint&, Cache&, const EvaluateOptions&)> evaluate_point;
  /// Replaces estimate(), likewise.
  std::function<Estimate(const DesignPoint&)> estimate_point;
};

struct RunReport {
  std::size_t points = 0;
  std::size_t already_done = 0;
  std::size_t evaluated = 0;
  std::size_t failed = 0;    ///< of all rows: status is not ok
  bool interrupted = false;  ///< a signal drained the run: resumable
  double seconds = 0;
  /// Of the folder when it was opened: damaged shards, torn journals, rows that lack outputs, points that an earlier
  /// run died in.
  std::vector<std::string> warnings;
  MergeReport merge;  ///< on rank 0, when not interrupted
};

/// Runs a study in this process alone, without MPI. Errors: what opening, writing and merging report.
[[nodiscard]] Result<RunReport> run_alone(const Study& study, const RunOptions& options);

/// Runs a study on all ranks of MPI_COMM_WORLD; collective. MPI must be initialised (FUNNELED) by the caller, after
/// block_run_signals() of signals.hpp (MPI_Init starts threads, which must inherit the mask). The report is rank 0's;
/// other ranks get their own count of `evaluated` and rank 0's errors, `failed` and `interrupted`: only rank 0 need
/// print.
[[nodiscard]] Result<RunReport> run_with_mpi(const Study& study, const RunOptions& options);

}  // namespace tenex
