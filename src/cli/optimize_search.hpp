// Internal to cli: `tenex optimize --npus`, which searches the parallelization itself.
#pragma once

#include "arguments.hpp"
#include "commands.hpp"

namespace tenex::cli {

/// Searches the parallelizations of a workload on so many NPUs, and prints the fastest that fit and the front of time
/// against memory.
[[nodiscard]] ExitCode search_hp(const OptimizeArguments& arguments);

}  // namespace tenex::cli
