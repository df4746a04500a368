// Signals as values: blocked in every thread, read from a signalfd by the main thread between two rounds of its loop.
//
// Nothing runs in a signal handler, so nothing needs to be async-signal-safe. Block before any thread is started (and
// before MPI_Init, which starts threads of its own): threads inherit the mask.
#pragma once

#include <csignal>

namespace tenex {

/// What the signals of one poll ask for, the most urgent one.
enum class SignalRequest {
  none,
  drain,  ///< SIGUSR1 or a first SIGINT: finish what is running, commit, leave resumable
  leave,  ///< SIGTERM: commit what is finished and leave at once (a launcher kills about a second later)
  abort,  ///< a second SIGINT: commit what is finished where that is quick, and leave
};

/// Blocks SIGUSR1, SIGINT and SIGTERM in this thread and those it starts later. Programs call it before MPI_Init.
void block_run_signals();

/// While alive the run's signals are read from here; the previous mask returns when it ends (pending ones are
/// consumed).
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Never blocks. O(pending signals).
  [[nodiscard]] SignalRequest poll();
  /// Whether any was SIGINT: somebody at a terminal waits for an answer.
  [[nodiscard]] bool was_interrupted() const { return interrupts_ > 0; }

 private:
  int descriptor_ = -1;
  int interrupts_ = 0;
  sigset_t previous_{};
};

}  // namespace tenex
