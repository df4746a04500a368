// Internal to cli: MPI for the length of one command, only where a launcher started the process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex::cli {

/// A launcher (mpirun, srun with PMIx or PMI) started this process.
[[nodiscard]] bool under_launcher();

/// MPI_Init_thread(FUNNELED) now, MPI_Finalize when destroyed. Collective functions wait in a sleep, not on a core.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  /// Rank 0's bytes, on every rank. Collective.
  [[nodiscard]] std::string broadcast(std::string bytes) const;
  /// On rank 0 every rank's text, by rank; empty elsewhere. Collective. Texts beyond 64 KiB are cut.
  [[nodiscard]] std::vector<std::string> gather(std::string text) const;
  /// A rank is dead: MPI_Finalize would wait for it, so it will not be called.
  void abandon() { abandoned_ = true; }
  /// Ends all ranks at once, where this one cannot go on and the others would wait for it.
  [[noreturn]] void abort(int code) const;

 private:
  int rank_ = 0;
  int ranks_ = 1;
  bool abandoned_ = false;
};

}  // namespace tenex::cli
