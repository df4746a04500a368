// The front door of the simulators: checks what they share and picks the backend.
#include <fmt/format.h>

#include "simulation/backends.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {

std::string_view to_string(Backend backend) {
  return backend == Backend::congestion_aware ? "congestion_aware" : "congestion_unaware";
}

Diagnostic unreachable_error(const Message& message, VertexId stuck_at) {
  return input_error(
      {}, fmt::format("a message from NPU {} cannot reach NPU {}", message.source.value(), message.destination.value()),
      fmt::format("no path leads on from vertex {}", stuck_at.value()),
      "add links until the topology is connected, or leave these NPUs out of the process group");
}

Result<Simulation> simulate(const Topology& topology, const Collective& collective, const Program& program,
                            const SimulationOptions& options) {
  if (collective.npus() != topology.npus())
    return input_error({}, fmt::format("the collective is for {} NPUs", collective.npus()),
                       fmt::format("the topology has {}", topology.npus()), "make both for the same number of NPUs");
  if (options.backend == Backend::congestion_aware)
    return simulate_congestion_aware(topology, collective, program, options);
  if (options.record_sends)
    return unsupported_error({}, "the congestion-unaware backend cannot record a schedule",
                             "its messages overlap on links", "use the congestion-aware backend, or do not record");
  return simulate_congestion_unaware(topology, collective, program, options);
}

}  // namespace tenex
