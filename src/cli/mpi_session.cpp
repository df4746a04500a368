#include "mpi_session.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tenex::cli {

bool under_launcher() {
  constexpr std::array variables{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"};
  return std::ranges::any_of(variables, [](const char* name) { return std::getenv(name) != nullptr; });
}

MpiSession::MpiSession() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  ensure(provided >= MPI_THREAD_FUNNELED, "MPI provides no MPI_THREAD_FUNNELED");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
}

MpiSession::~MpiSession() { MPI_Finalize(); }

}  // namespace tenex::cli
