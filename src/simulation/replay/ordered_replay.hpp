// Replay of large schedules that copy: one pass in planned order, with a table of what is where.
#pragma once

#include <optional>

#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// The replay of a schedule of copies in which every NPU receives a chunk at most once and sends nothing before it is
/// planned to have it; nullopt for any other, where sends, deliveries or utilization are to be kept, or where the table
/// would exceed 8 GiB. O(sends) time, 4 bytes per NPU and chunk.
[[nodiscard]] std::optional<Simulation> replay_in_order(const Topology& topology, const Collective& collective,
                                                        const Schedule& schedule, Replay mode,
                                                        const SimulationOptions& options);

}  // namespace tenex
