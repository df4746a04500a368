// A play on switches by lists, of any schedule.
#pragma once

#include <cstdint>

#include "simulation/replay/played_paths.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// Bytes of a hop that is listed, played and kept.
inline constexpr std::uint64_t kListedHopBytes = 150;

/// The play of play_on_switches() (tenex/simulation/switched_replay.hpp) of schedules that one pass does not play, in
/// particular. Expects: links and chunks in range, and no hops of messages. Errors: those of replay(). O(sends log
/// sends).
[[nodiscard]] Result<Simulation> play_in_lists(const SwitchedInput& input);

}  // namespace tenex
