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

#include <cstddef>
#include <cstdint>
#include <limits>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

/// How a schedule is played.
struct SwitchPlay {
  /// Of the halves of an All-Reduce. Without it every link takes its sums first, and no final value leaves before all
  /// sums are complete.
  bool overlap = true;
  std::size_t memory_limit_bytes = std::numeric_limits<std::size_t>::max();
};

/// A symmetric schedule of more sends is played by orbit: one NPU's sends stand for all. Smaller ones are played one by
/// one, in a second.
inline constexpr std::uint64_t kMostSendsPlayedOneByOne = std::uint64_t{1} << 20;

/// Bytes of the play by orbit of so many sends of each NPU, with its schedule, on ways for so many unwound links. O(1).
[[nodiscard]] std::uint64_t bytes_of_orbit_play(std::uint64_t sends_of_npu, std::uint64_t chunks, std::uint64_t links);

/// Bytes of the play of schedules of so many hops in all, in which an NPU receives a chunk's value once and sends its
/// partial sum once: of each hop what is kept, and when each NPU has each chunk. O(1).
[[nodiscard]] std::uint64_t bytes_of_play(std::uint64_t hops, std::uint64_t npus, std::uint64_t chunks);

/// Plays a schedule for `unwound.topology` on `network`: the network that was unwound, or the wires of it
/// (topology/wires.hpp). A switch that stores and forwards takes two hops, one that cuts through takes a wire. Nothing
/// leaves the options' late NPUs before their time. If options.record_sends, the result has the schedule of `network`,
/// which is valid if the given one is. Errors (input): a send that the unwound network does not have; (unsupported) a
/// switch with a limited buffer, sends that carry several chunks or are hops of messages, and what replay() refuses;
/// (resource) more bytes than the limit, or more sends than can be numbered. Expects and ensures what replay() does,
/// but for the end. O(sends log links) time, bytes_of_play(), O(links) memory beside it (on wires O(links * links of an
/// NPU) time). Schedules of other kinds, from files, are played by lists, in O(sends log sends) time and 150 bytes for
/// each hop: those that bring a chunk's value to an NPU twice (waste), and those in which an NPU sends partial sums of
/// a chunk twice, or gets one after it has sent its own (exchanges of sums). A symmetric schedule of more than
/// kMostSendsPlayedOneByOne sends is played by orbit where all links of a dimension are alike and nothing is late or
/// observed: O(sends / npus * log) time, bytes_of_orbit_play(). It is symmetric then, or relayed
/// (tenex/schedule/views/relayed.hpp).
[[nodiscard]] Result<Simulation> play_on_switches(const Topology& network, const UnwoundNetwork& unwound,
                                                  const Collective& collective, const Schedule& schedule,
                                                  const SimulationOptions& options, const SwitchPlay& play = {});

}  // namespace tenex
