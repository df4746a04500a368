// Replays of large schedules without a list of their sends: of copies in one pass in planned order, with a table of
// what is where, and of schedules whose replay is seen to be the given schedule itself.
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

/// The replay of a schedule all of whose sends start exactly as planned; nullopt where that cannot be seen: the
/// schedule offers no link-major access, there are switches or wires, a send could not start as planned or (as soon as
/// possible) could start earlier, or deliveries are to be kept. Reads every link twice. O(sends) time on
/// options.threads threads, 16 bytes per chunk and thread.
[[nodiscard]] std::optional<Simulation> replay_in_place(const Topology& topology, const Collective& collective,
                                                        const Schedule& schedule, Replay mode,
                                                        const SimulationOptions& options);

}  // namespace tenex
