// merge_phases() where links are wires: the sends of one signal are timed together.
#pragma once

#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// The sends of `in_turn` at other times, as merge_phases() asks, over a topology of wires. O(sends log sends + spans *
/// gaps of a link) time, some 550 bytes per send.
[[nodiscard]] std::vector<Send> merge_signals(const Instance& instance, const Schedule& in_turn);

}  // namespace tenex
