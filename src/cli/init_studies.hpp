// Internal to cli: the studies that `init` prints, the files of experiments/templates at build time.
#pragma once

#include <vector>

#include "tenex/files/input_files.hpp"

namespace tenex {

/// All of them, by name.
[[nodiscard]] const std::vector<BuiltinFile>& init_studies();

}  // namespace tenex
