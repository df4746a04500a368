// An All-Reduce over switches that add and copy: reduction and gather side by side, by list scheduling.
//
// A re-timing keeps the order on links, and in sequence every send of the reduction comes before every send of the
// gather. Over a switch that adds, the reduction needs nearly all of the links up and the gather nearly all of the
// links down, so that in this order hardly anything overlaps. Here each link takes, of the sends that are ready, the
// one whose chunk was planned to be complete first, so that a chunk is gathered while later ones are added: with many
// chunks an All-Reduce of S bytes over one such switch takes S/B, and not twice as long (the volume is the least that a
// link of an NPU can have). Over switches that cut through, the sends of one signal are
// timed together.
#pragma once

#include <optional>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Whether merge_phases() can make anything on a topology: every switch that stores and forwards copies, reduces and
/// has no limited buffer, and there is such a switch or, where links are wires, one that cuts through, copies and
/// reduces. O(switches).
[[nodiscard]] bool may_merge_phases(const Topology& topology);

/// The sends of `in_turn` (then_gather() of a reduction and a gather without waste) in another order and at other
/// times; they need not end sooner. nullopt where may_merge_phases() is false, or there are messages. O(sends log
/// sends) time, some 150 bytes per send; over wires as merge_signals() says.
[[nodiscard]] std::optional<Schedule> merge_phases(const Instance& instance, const Schedule& in_turn);

}  // namespace tenex
