// The replay of sends one by one, from a list.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// Most sends in a list: 32 GB while they are replayed, and few enough for 32-bit indices.
inline constexpr std::uint64_t kMostListedSends = std::uint64_t{1} << 28;
/// Bytes of a listed send while it is replayed.
inline constexpr std::uint64_t kListedSendBytes = 120;

/// Sends in planned order: every link takes its sends in the order of the list.
struct PlannedSends {
  std::vector<Send> sends;        ///< hops of a message one after the other
  std::vector<SimTime> arrivals;  ///< planned; empty: each at its start and the latency of its hop
};

/// The replay of these sends (simulator.hpp, replay()). A send waits for what the plan had at its source at the planned
/// start. Errors: those of replay(). O(sends log sends).
[[nodiscard]] Result<Simulation> replay_listed(const Topology& topology, const Collective& collective,
                                               PlannedSends planned, Replay mode, const SimulationOptions& options);

}  // namespace tenex
