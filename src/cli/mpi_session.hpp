// Internal to cli: MPI for the length of one command, only where a launcher started the process.
#pragma once

#include "tenex/base/diagnostic.hpp"

namespace tenex::cli {

/// A launcher (mpirun, srun with PMIx or PMI) started this process.
[[nodiscard]] bool under_launcher();

/// MPI_Init_thread(FUNNELED) now, MPI_Finalize when destroyed.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }

 private:
  int rank_ = 0;
  int ranks_ = 1;
};

}  // namespace tenex::cli
