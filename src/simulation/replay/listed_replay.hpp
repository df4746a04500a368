// The replay of sends one by one, from a list.
#pragma once

#include <cstdint>

#include "tenex/schedule/timing/list_player.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// Most sends in a list: 32 GB while they are replayed, and few enough for 32-bit indices.
inline constexpr std::uint64_t kMostListedSends = std::uint64_t{1} << 28;
/// Bytes of a listed send while it is replayed.
inline constexpr std::uint64_t kListedSendBytes = 120;

/// The replay of these sends (simulator.hpp, replay()) by these rules. Errors: those of replay(). O(sends log sends).
[[nodiscard]] Result<Simulation> replay_listed(const Topology& topology, const Collective& collective,
                                               PlannedSends planned, PlayRules rules, const SimulationOptions& options);

}  // namespace tenex
