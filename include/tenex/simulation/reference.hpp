// The reference simulator: explicit messages in one priority queue. It is slow and simple; the fast engines are tested
// against it message by message.
#pragma once

#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// Does what simulate() does with the congestion-aware backend: same times, same stream, same message ids. Shares no
/// code with the engines. Errors (input): a message whose destination cannot be reached. O(hops log messages).
[[nodiscard]] Result<Simulation> simulate_by_reference(const Topology& topology, const Collective& collective,
                                                       const Program& program, const SimulationOptions& options);

}  // namespace tenex
