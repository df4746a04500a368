// The engines behind simulate(), each in its own file: nullopt for what they cannot do.
#pragma once

#include <optional>

#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// Any program on a topology without wires.
[[nodiscard]] std::optional<Result<Simulation>> simulate_in_windows(const Topology& topology,
                                                                    const Collective& collective,
                                                                    const Program& program,
                                                                    const SimulationOptions& options);

/// Open loops on rings, lines, switches and fully connected blocks. Records no sends, arrivals or bins; allows no
/// delays.
[[nodiscard]] std::optional<Result<Simulation>> simulate_in_trains(const Topology& topology,
                                                                   const Collective& collective, const Program& program,
                                                                   const SimulationOptions& options);
/// Cycles on routes that share no link. Records no arrivals or bins; sends where they are numbered like those of
/// windows, which is known of one cycle, and of single sends of single chunks, which have no numbers.
[[nodiscard]] std::optional<Result<Simulation>> simulate_in_static_order(const Topology& topology,
                                                                         const Collective& collective,
                                                                         const Program& program,
                                                                         const SimulationOptions& options);
/// Programs that translations of the topology map onto themselves. Records no sends or arrivals; allows no delays.
[[nodiscard]] std::optional<Result<Simulation>> simulate_by_orbit(const Topology& topology,
                                                                  const Collective& collective, const Program& program,
                                                                  const SimulationOptions& options);

/// Any program where links are wires, which share physical links (topology/wires.hpp).
[[nodiscard]] std::optional<Result<Simulation>> simulate_over_wires(const Topology& topology,
                                                                    const Collective& collective,
                                                                    const Program& program,
                                                                    const SimulationOptions& options);

/// The congestion-unaware formula, without queues.
[[nodiscard]] Result<Simulation> simulate_congestion_unaware(const Topology& topology, const Collective& collective,
                                                             const Program& program, const SimulationOptions& options);

/// The error for a message that cannot reach its destination. At most one is reported: the first.
[[nodiscard]] Diagnostic unreachable_error(const Message& message, VertexId stuck_at);

}  // namespace tenex
