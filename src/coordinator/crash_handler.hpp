// Crash handler: the last line of a process that a point ends by a fault (a segmentation fault and the like).
//
// Each thread knows the point that it evaluates. On SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT the handler appends that
// point to the rank's journal (format_crash_line() of the store), durably, and hands the signal on to whoever handled
// it before (Open MPI, a sanitizer) or to the system. It allocates nothing and takes no lock. A signal from outside
// (SIGKILL) is nobody's fault and leaves no line. Handlers are the property of a process, so this is the one place with
// state that no object owns. Install after MPI_Init, which installs its own.
#pragma once

#include <memory>

#include "tenex/base/hash.hpp"

namespace tenex {

/// While any is alive, the handlers are installed. Thread-safe.
class CrashHandler {
 public:
  CrashHandler();
  ~CrashHandler();
  CrashHandler(const CrashHandler&) = delete;
  CrashHandler& operator=(const CrashHandler&) = delete;
};

/// While alive, this thread evaluates a point; a fault of the thread is the point's. `all_threads`: of any thread that
/// has no point of its own, too (a point that opens a parallel region). Not copied, and ended by the thread that made
/// it. `journal_descriptor` < 0: nothing is noted.
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
