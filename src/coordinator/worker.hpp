// The parts that rank 0 and the other ranks share: a point runner, a committer, signals and how to leave.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/committer.hpp"
#include "coordinator/crash_handler.hpp"
#include "coordinator/point_runner.hpp"
#include "coordinator/rank_loop.hpp"
#include "coordinator/solver_lines.hpp"
#include "tenex/coordinator/signals.hpp"

namespace tenex {

/// Sleeps between rounds of a loop that found nothing to do: 50 us, doubling to 2 ms.
class AdaptiveSleep {
 public:
  /// Sleeps unless the round did something.
  void rest(bool did_something);

 private:
  std::chrono::microseconds next_{50};
};

/// The present time, as rows state it.
[[nodiscard]] std::int64_t unix_milliseconds();

/// Opens the log of a rank. If it cannot be made: a warning on stderr, and a log that writes nothing.
[[nodiscard]] std::shared_ptr<const RankLog> open_log(const RankSetup& setup, std::uint32_t incarnation,
                                                      std::size_t rank);

/// The interval of ALIVE messages: 5 s, or less, so that twelve of them fit into the silence after which a rank counts
/// as dead.
[[nodiscard]] std::chrono::duration<double> alive_interval(std::chrono::duration<double> silence);

/// The part of a rank that evaluates. Used by the loop's thread.
class Worker {
 public:
  /// `estimates` must outlive it. The log notes the writer's events and the begin and end of every point.
  Worker(const Study& study, const RankSetup& setup, Estimates& estimates, ShardWriter writer,
         const std::shared_ptr<const RankLog>& log);

  [[nodiscard]] PointRunner& runner() { return runner_; }
  [[nodiscard]] Committer& committer() { return *committer_; }
  [[nodiscard]] bool idle() const { return runner_.idle(); }
  /// Lines about solvers that work, for stderr; none of a quiet run.
  [[nodiscard]] std::vector<std::string> take_solver_lines() { return solver_lines_.take(); }
  /// Whether the runner could use another lease: fewer points wait than it has threads.
  [[nodiscard]] bool wants_more() const { return runner_.waiting() < threads_; }

 private:
  std::size_t threads_;
  CrashHandler crash_handler_;
  SolverLines solver_lines_;
  std::shared_ptr<Committer> committer_;  ///< the runner's sink also holds it
  PointRunner runner_;                    ///< last member: its points must end before the committer does
};

/// Reads signals and carries out the urgent ones.
class ExitOnSignal {
 public:
  /// `release` is called right before the process is left; it frees the folder's lock.
  ExitOnSignal(Signals& signals, LeaveProcess leave, std::function<void()> release);

  /// Called in every round; `worker` may be null. Returns true once a signal has asked to drain or leave. On SIGTERM it
  /// commits what is finished at once, and leaves the process if the rank is not done 0.4 s later. On a second SIGINT
  /// it commits what is finished if that takes less than 0.45 s, and leaves.
  bool poll(Worker* worker);
  /// Whether SIGTERM came: there is no time for a merge.
  [[nodiscard]] bool leaving() const { return deadline_.has_value(); }
  /// Whether SIGINT came.
  [[nodiscard]] bool was_interrupted() const { return signals_.was_interrupted(); }

 private:
  void leave_now();
  Signals& signals_;
  LeaveProcess leave_;
  std::function<void()> release_;
  bool asked_ = false;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
};

/// 3: interrupted, resumable (the exit codes of the command line).
inline constexpr int exit_interrupted = 3;

}  // namespace tenex
