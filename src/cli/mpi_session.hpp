// Internal to cli: MPI for the duration of one command, only where a launcher started the process.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/cli/cli.hpp"

namespace tenex::cli {

/// Whether a launcher (mpirun, srun with PMIx or PMI) started this process.
[[nodiscard]] bool under_launcher();

/// Whether this process is the first of those that its launcher started, by the environment; true without a launcher.
[[nodiscard]] bool first_of_launch();

/// A launcher and an MPI library that do not belong together: every process would run the whole study alone. The
/// launcher is believed about the number of its processes (mpirun's variables, else those of the Slurm step that this
/// process is a task of; a batch script is not), `mpi_ranks` is what MPI says, or 1 without MPI. Nullopt: they agree.
[[nodiscard]] std::optional<Diagnostic> launcher_mismatch(int mpi_ranks);

/// The MPI library that this process runs with, as it names itself, on one line. Needs no MPI_Init.
[[nodiscard]] std::string mpi_library();

/// A launcher that continues without lost ranks (`mpirun --enable-recovery`) itself ends with 0. For scripts, rank 0
/// writes its exit code to the file that the environment variable TENEX_EXIT_CODE names. Does nothing without that
/// variable and on other ranks. Call it before the process ends, also if it ends without MPI.
void tell_exit_code(int code);

/// Calls MPI_Init_thread(FUNNELED) at once and MPI_Finalize when destroyed. Collective functions wait in a sleep, which
/// leaves the core free.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

  /// Returns rank 0's bytes on every rank. Collective.
  [[nodiscard]] std::string broadcast(std::string bytes) const;
  /// Returns every rank's text on rank 0, by rank; empty on other ranks. Collective. Texts beyond 64 KiB are cut.
  [[nodiscard]] std::vector<std::string> gather(std::string text) const;
  /// A rank is dead: MPI_Finalize would wait for it, so it will not be called.
  void abandon();
  /// The exit code of this rank's process after the command ended with `code`: `code` on rank 0 and 0 on the others. (A
  /// launcher that continues without lost ranks waits for ever for a rank of another host that ends with another code.)
  /// After abandon(), rank 0 does not return: it writes its code and aborts MPI, which would wait for the dead rank.
  [[nodiscard]] ExitCode end(ExitCode code) const;
  /// Ends all ranks at once. For a rank that cannot continue while others would wait for it.
  [[noreturn]] void abort(int code) const;

 private:
  int rank_ = 0;
  int ranks_ = 1;
  bool abandoned_ = false;
};

}  // namespace tenex::cli
