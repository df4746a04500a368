// A play on switches of a symmetric schedule: one NPU's sends stand for all.
#pragma once

#include <cstdint>
#include <optional>

#include "simulation/replay/played_paths.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// Whether play_by_orbit() plays what is given, if links up and down are alike. O(NPUs).
[[nodiscard]] bool moves_by_orbit(const SwitchedInput& input);

/// The play of play_on_switches() (tenex/simulation/switched_replay.hpp) where moves_by_orbit(): all sends start as in
/// a play one by one, and their schedule is symmetric over wires, and relayed (tenex/schedule/views/relayed.hpp) over
/// switches that store and forward. nullopt where links up and down differ, and where one pass does not play it.
/// O(orbits log orbits + links); bytes_of_orbit_play().
[[nodiscard]] std::optional<Simulation> play_by_orbit(const SwitchedInput& input);

}  // namespace tenex
