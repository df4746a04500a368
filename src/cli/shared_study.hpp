// Internal to cli: one study for all ranks of a run. Rank 0 reads the study and its machine files, checks them and
// sends their bytes to the others. So no other rank needs the files, and none can see different ones.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "arguments.hpp"
#include "mpi_session.hpp"
#include "tenex/design/study.hpp"

namespace tenex::cli {

/// What every rank of a run knows before the run begins.
struct SharedRun {
  Study study;
  std::filesystem::path out;     ///< rank 0's
  std::size_t memory_limit = 0;  ///< this rank's; 0: none given
};

/// Reads and checks the study and, with a session, sends it to all ranks. Collective with a session: either all ranks
/// get a value or none does; then rank 0 has printed every rank's errors once.
[[nodiscard]] std::optional<SharedRun> share_run(const RunArguments& arguments, const MpiSession* session);

}  // namespace tenex::cli
