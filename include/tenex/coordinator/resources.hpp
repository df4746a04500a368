// Resources that this process may use: threads, cores, memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// Cores in this process's affinity set, and cores of the host that are online.
[[nodiscard]] int affinity_cores();
[[nodiscard]] int host_cores();
[[nodiscard]] std::string host_name();

/// `asked`; if it is 0, OMP_NUM_THREADS, or else the cores of the affinity set.
[[nodiscard]] int resolve_threads(int asked);

/// `asked`; if it is 0, 80 % of the memory that is free on this host (or left to this control group), divided by its
/// ranks.
[[nodiscard]] std::size_t resolve_memory_limit(std::size_t asked, int ranks_on_host);

/// The number of processes that the system has killed for lack of memory in the largest control group around this
/// process that has a limit, or on this host if none has. It only grows; 0 if it cannot be read.
[[nodiscard]] std::uint64_t memory_kills();

/// Seconds that the run may take: `asked`; if it is 0, the time that the batch system leaves (SLURM_JOB_END_TIME,
/// seconds since 1970). Empty if neither is given.
[[nodiscard]] std::optional<double> resolve_time_limit(double asked_seconds);
/// The part of a time limit that is kept for committing rows: a twentieth, at most 30 s.
[[nodiscard]] double reserve_of(double time_limit_seconds);

/// A warning when `threads` do not fit into the affinity set, or when a launcher bound this rank to one core of many
/// that no other rank uses. It names the mpirun option that remedies it. `chosen`: a user asked for this number of
/// threads. Pure.
[[nodiscard]] std::optional<std::string> affinity_warning(int threads, bool chosen, int cores, int cores_of_host,
                                                          int ranks_on_host);

}  // namespace tenex
