// Internal to cli: files of the project at build time, inside the binary.
#pragma once

#include <vector>

#include "tenex/files/input_files.hpp"

namespace tenex {

/// The studies that `init` prints (experiments/templates), by name.
[[nodiscard]] const std::vector<BuiltinFile>& init_studies();
/// The functions of jobs in shell, jobs/slurm.sh: "slurm".
[[nodiscard]] const std::vector<BuiltinFile>& job_functions();

}  // namespace tenex
