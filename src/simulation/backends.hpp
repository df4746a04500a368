// The two backends behind simulate(); each in its own file.
#pragma once

#include "tenex/simulation/simulator.hpp"

namespace tenex {

[[nodiscard]] Result<Simulation> simulate_congestion_aware(const Topology& topology, const Collective& collective,
                                                           const Program& program, const SimulationOptions& options);
[[nodiscard]] Result<Simulation> simulate_congestion_unaware(const Topology& topology, const Collective& collective,
                                                             const Program& program, const SimulationOptions& options);

/// The error of a message that cannot reach its destination (at most one is reported: the first).
[[nodiscard]] Diagnostic unreachable_error(const Message& message, VertexId stuck_at);

}  // namespace tenex
