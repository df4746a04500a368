// Internal to cli: one study for all ranks of a run. Rank 0 reads the study and its machine files, checks them and
// hands their bytes to the others, so that no other rank needs the files and none can see different ones.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "arguments.hpp"
#include "mpi_session.hpp"
#include "tenex/design/study.hpp"

namespace tenex::cli {

/// What every rank of a run knows before it starts.
struct SharedRun {
  Study study;
  std::filesystem::path out;     ///< rank 0's
  std::size_t memory_limit = 0;  ///< this rank's; 0: none given
};

/// Reads, checks and, with a session, shares. Collective with a session: either all ranks get a value or none does, and
/// then rank 0 has printed every rank's errors once.
[[nodiscard]] std::optional<SharedRun> share_run(const RunArguments& arguments, const MpiSession* session);

}  // namespace tenex::cli
