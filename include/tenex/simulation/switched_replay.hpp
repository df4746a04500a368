// Schedules for unwound switches, played on the switches.
//
// Synthesizers that need direct links replace each switch by a ring or a wider circulant graph (TACOS, section IV-G).
// The times of their schedules hold for that network. To compare them with algorithms that use the switch itself, the
// same schedule is played on the network with its switches: each send over an unwound link i -> j becomes a message
// from i over the switch to j. Each physical link takes its sends in the order of their planned starts (of one instant
// first the first send of each NPU's link, then the second of each; ties by unwound link), each as soon as its chunk
// and its links allow, at the bandwidth of the physical link: those that share an NPU's link in the unwound network,
// each at a part of its bandwidth, take turns here.
#pragma once

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

/// Plays a schedule for `unwound.topology` on `network`: the network that was unwound, or the wires of it
/// (topology/wires.hpp). A switch that stores and forwards takes two hops, one that cuts through takes a wire. If
/// options.record_sends, the result has the schedule of `network`, which is valid if the given one is. Errors (input):
/// a send that the unwound network does not have; (unsupported) a switch with a limited buffer, sends that carry
/// several chunks or are hops of messages, and what replay() refuses; (resource) more sends than can be listed. Without
/// `overlap` no final value of an All-Reduce leaves before all sums are complete. Expects and ensures what replay()
/// does, but for the end. O(sends log sends) time, 280 bytes per send, O(links) memory beside
/// it (on wires O(links * links of an NPU) time).
[[nodiscard]] Result<Simulation> play_on_switches(const Topology& network, const UnwoundNetwork& unwound,
                                                  const Collective& collective, const Schedule& schedule,
                                                  const SimulationOptions& options, bool overlap = true);

}  // namespace tenex
