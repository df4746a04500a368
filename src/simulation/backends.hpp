// The engines behind simulate(); each in its own file. All but the window engine refuse what they cannot do (nullopt).
#pragma once

#include <optional>

#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// Any program.
[[nodiscard]] Result<Simulation> simulate_in_windows(const Topology& topology, const Collective& collective,
                                                     const Program& program, const SimulationOptions& options);

/// Open loops on rings, lines, switches and where all are neighbours; keeps no sends, arrivals or bins, knows no
/// delays.
[[nodiscard]] std::optional<Result<Simulation>> simulate_in_trains(const Topology& topology,
                                                                   const Collective& collective, const Program& program,
                                                                   const SimulationOptions& options);
/// Cycles on routes that share no link; keeps no sends, arrivals or bins.
[[nodiscard]] std::optional<Result<Simulation>> simulate_in_static_order(const Topology& topology,
                                                                         const Collective& collective,
                                                                         const Program& program,
                                                                         const SimulationOptions& options);
/// Programs that move with the topology's translations; keeps no sends or arrivals, knows no delays.
[[nodiscard]] std::optional<Result<Simulation>> simulate_by_orbit(const Topology& topology,
                                                                  const Collective& collective, const Program& program,
                                                                  const SimulationOptions& options);

/// The formula: no queues.
[[nodiscard]] Result<Simulation> simulate_congestion_unaware(const Topology& topology, const Collective& collective,
                                                             const Program& program, const SimulationOptions& options);

/// The error of a message that cannot reach its destination (at most one is reported: the first).
[[nodiscard]] Diagnostic unreachable_error(const Message& message, VertexId stuck_at);

}  // namespace tenex
