// Replay of schedules of billions of sends: where the replay is the plan itself, that can be seen without a list.
#pragma once

#include <optional>

#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// The replay of a schedule all of whose sends start exactly as planned; nullopt where that cannot be seen: the
/// schedule offers no link-major access, there are switches, a send could not start as planned or (as soon as possible)
/// could start earlier, or deliveries are to be kept. Reads every link twice. O(sends) time on options.threads threads,
/// 16 bytes per chunk and thread.
[[nodiscard]] std::optional<Simulation> replay_in_place(const Topology& topology, const Collective& collective,
                                                        const Schedule& schedule, Replay mode,
                                                        const SimulationOptions& options);

}  // namespace tenex
