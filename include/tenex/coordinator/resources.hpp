// What this process may use: threads, cores, memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// Cores in this process's affinity set, and cores of the host that are online.
[[nodiscard]] int affinity_cores();
[[nodiscard]] int host_cores();
[[nodiscard]] std::string host_name();

/// `asked`, or where it is 0 OMP_NUM_THREADS, or the cores of the affinity set.
[[nodiscard]] int resolve_threads(int asked);

/// `asked`, or where it is 0 80 % of the memory that is free on this host (or left to this control group), over its
/// ranks.
[[nodiscard]] std::size_t resolve_memory_limit(std::size_t asked, int ranks_on_host);

/// A warning when `threads` do not fit into the affinity set, or when a launcher bound this rank to one core of many
/// that no other rank uses; names the mpirun option that mends it. `chosen`: somebody asked for this number of threads.
/// Pure.
[[nodiscard]] std::optional<std::string> affinity_warning(int threads, bool chosen, int cores, int cores_of_host,
                                                          int ranks_on_host);

}  // namespace tenex
