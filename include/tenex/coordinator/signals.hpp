// Signals as values: they are blocked in every thread, and the main thread reads them from a signalfd between two
// rounds of its loop.
//
// Nothing runs in a signal handler, so nothing needs to be async-signal-safe. Block them before any thread is started
// (and before MPI_Init, which starts threads): threads inherit the mask.
#pragma once

#include <csignal>

namespace tenex {

/// The most urgent request of the signals of one poll.
enum class SignalRequest {
  none,
  drain,  ///< SIGUSR1 or a first SIGINT: finish the running points, commit, and end so that the run can be resumed
  leave,  ///< SIGTERM: commit what is finished and leave at once (a launcher kills about a second later)
  abort,  ///< a second SIGINT: commit what is finished if that is quick, and leave
};

/// Blocks SIGUSR1, SIGINT and SIGTERM in this thread and in threads that it starts later. Call it before MPI_Init.
void block_run_signals();

/// Reads the run's signals as long as it is alive. Its end restores the previous mask and consumes pending signals.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// Never blocks. O(pending signals).
  [[nodiscard]] SignalRequest poll();
  /// Whether any was SIGINT: then a user at a terminal waits for an answer.
  [[nodiscard]] bool was_interrupted() const { return interrupts_ > 0; }

 private:
  int descriptor_ = -1;
  int interrupts_ = 0;
  sigset_t previous_{};
};

}  // namespace tenex
