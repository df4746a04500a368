// What rank 0 and the other ranks have in common: an engine, a committer, signals and the way out.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "coordinator/committer.hpp"
#include "coordinator/crash_handler.hpp"
#include "coordinator/engine.hpp"
#include "coordinator/rank_loop.hpp"
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

/// Now, as rows tell it.
[[nodiscard]] std::int64_t unix_milliseconds();

/// The log of a rank; one that writes nothing, and a warning on stderr, where it cannot be made.
[[nodiscard]] std::shared_ptr<const RankLog> open_log(const RankSetup& setup, std::uint32_t incarnation,
                                                      std::size_t rank);

/// How often a rank says that it lives: 5 s, or so often that twelve such words fit into the silence of the dead.
[[nodiscard]] std::chrono::duration<double> alive_interval(std::chrono::duration<double> silence);

/// The evaluating half of a rank. Used by the loop's thread.
class Worker {
 public:
  /// `estimates` must outlive it. The writer and every point's begin and end are noted in the log.
  Worker(const Study& study, const RankSetup& setup, Estimates& estimates, ShardWriter writer,
         const std::shared_ptr<const RankLog>& log);

  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] Committer& committer() { return *committer_; }
  [[nodiscard]] bool idle() const { return engine_.idle(); }
  /// Whether the engine could use another lease: fewer points wait than it has threads.
  [[nodiscard]] bool wants_more() const { return engine_.waiting() < threads_; }

 private:
  std::size_t threads_;
  CrashHandler crash_handler_;
  std::shared_ptr<Committer> committer_;  ///< the engine's sink holds it too
  Engine engine_;                         ///< last: its points must end before the committer does
};

/// Reads signals and carries out the urgent ones.
class WayOut {
 public:
  /// `release` is called right before the process is left (the folder's lock).
  WayOut(Signals& signals, LeaveProcess leave, std::function<void()> release);

  /// To be called in every round; `worker` may be null. True from when a signal asked to drain or leave. On SIGTERM
  /// commits what is finished at once, and leaves the process when the rank is not done 0.4 s later; on a second SIGINT
  /// commits what is finished where that takes less than 0.45 s, and leaves.
  bool poll(Worker* worker);
  /// Whether SIGTERM came: no time for a merge.
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
