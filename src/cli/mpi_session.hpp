// Internal to cli: MPI for the length of one command, only where a launcher started the process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/cli/cli.hpp"

namespace tenex::cli {

/// A launcher (mpirun, srun with PMIx or PMI) started this process.
[[nodiscard]] bool under_launcher();

/// A launcher that goes on without lost ranks (`mpirun --enable-recovery`) ends with 0 itself: rank 0 writes what it
/// ends with to the file that the environment names as TENEX_EXIT_CODE, for scripts. Nothing where there is no such
/// name, or on other ranks. Before the process ends, also where it ends without MPI.
void tell_exit_code(int code);

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
  /// What this rank's process ends with when the command ended with `code`: that on rank 0, 0 on the others, for a
  /// launcher that goes on without lost ranks waits for ever for a rank of another host that ends with anything else.
  /// After abandon() rank 0 does not return: it tells its code and ends what is left of MPI, which would wait for the
  /// dead.
  [[nodiscard]] ExitCode end(ExitCode code) const;
  /// Ends all ranks at once, where this one cannot go on and the others would wait for it.
  [[noreturn]] void abort(int code) const;

 private:
  int rank_ = 0;
  int ranks_ = 1;
  bool abandoned_ = false;
};

}  // namespace tenex::cli
