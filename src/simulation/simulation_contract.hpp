// What simulations and replays ensure of their results.
#pragma once

#include <algorithm>

#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// Whether a simulation has what the options ask for, and nothing that they do not, and nothing that happens after its
/// finish. O(NPUs).
[[nodiscard]] inline bool has_what_is_asked(const Simulation& simulation, const Topology& topology,
                                            const SimulationOptions& options) {
  if (simulation.links.size() != (options.record_links ? topology.links() : 0)) return false;
  if (simulation.npu_finish.size() != (options.record_npu_finish ? topology.npus() : 0)) return false;
  if (simulation.utilization.busy_ps.size() != options.utilization_bins) return false;
  if (!options.record_sends && simulation.sends.sends() > 0) return false;
  if (!options.record_arrivals && !simulation.arrivals.empty()) return false;
  if (!simulation.arrivals.empty() && simulation.arrivals.back().time > simulation.finish) return false;
  return simulation.finish >= SimTime::zero() &&
         std::ranges::all_of(simulation.npu_finish, [&](SimTime time) { return time <= simulation.finish; });
}

}  // namespace tenex
