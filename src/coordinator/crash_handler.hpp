// Crash handler: writes the last line of a process that a point ends by a fault (a segmentation fault and the like).
//
// Each thread knows the point that it evaluates. On SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT the handler appends that
// point to the rank's journal (format_crash_line() of the store), durably. Then it passes the signal on to the handler
// of before (Open MPI, a sanitizer) or to the system. It allocates nothing and takes no lock. A signal from outside
// (SIGKILL) is no point's fault and leaves no line. Handlers belong to the process, so only here is state that no
// object owns. Install after MPI_Init, which installs its own handlers.
#pragma once

#include <memory>

#include "tenex/base/hash.hpp"

namespace tenex {

/// The handlers are installed while any object of this class is alive. Thread-safe.
class CrashHandler {
 public:
  CrashHandler();
  ~CrashHandler();
  CrashHandler(const CrashHandler&) = delete;
  CrashHandler& operator=(const CrashHandler&) = delete;
};

/// While it is alive, this thread evaluates a point, and a fault of the thread is the point's. `all_threads`: faults of
/// threads that have no point of their own are this point's too (it opens a parallel region). Not copyable; destroyed
/// by the thread that made it. `journal_descriptor` < 0: nothing is noted.
class PointInHand {
 public:
  PointInHand(int journal_descriptor, const Digest& key, bool all_threads);
  ~PointInHand();
  PointInHand(const PointInHand&) = delete;
  PointInHand& operator=(const PointInHand&) = delete;

 private:
  bool all_threads_;
};

}  // namespace tenex
