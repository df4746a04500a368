// Relayed schedules: a symmetric schedule on the ways over switches that store and forward, as sends on physical links.
//
// A way (relay_wires_of(), tenex/topology/wires.hpp) is a link from NPU to NPU, or one up to a switch and one down from
// it. Its send is one send for each of these links: the second one starts when the first one arrives, so no chunk waits
// in a buffer, and no switch needs to copy or add. Where switches copy, a chunk is sent up to a switch once, and then
// down from there for every way over it: what comes again would be waste. Two sends of ways that use no physical link
// at once, in the ways' times, become sends that use none at once. The same holds of what an NPU has and when: a way's
// send arrives when its last link's send arrives.
//
// Encoding: the orbits of the symmetric schedule once for each of their links, sorted by start; sends are computed as
// segments are read. O(sends / npus + ways) memory.
#pragma once

#include <memory>

#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Whether chunks and sums of a collective may pass all switches of a network as they are, one after the other: the
/// switches have the same properties; if they copy or add, they keep a chunk as long as parts of it come, so their
/// buffers must have no limit; and if they copy and add, they would add a sum that has passed to the next one.
/// O(switches).
[[nodiscard]] bool may_be_relayed(const Topology& network, CollectiveKind kind);

/// The schedule on physical links. `ways` are those of relay_wires_of() for a network for which may_be_relayed() holds,
/// and the links of `schedule`. A symmetric schedule becomes a view,
/// any other one, in which every chunk passes a switch once, a list. O(sends / npus * log) or O(sends log sends).
[[nodiscard]] Schedule relayed(const Schedule& schedule, std::shared_ptr<const Topology> ways);

/// A relayed schedule's own parts.
struct RelayedParts {
  Schedule base;                         ///< symmetric, on the ways
  std::shared_ptr<const Topology> ways;  ///< null: the schedule is not a relayed one
};

/// The parts of a view made by relayed(); `ways` is null for any other schedule. O(1).
[[nodiscard]] RelayedParts relayed_parts(const Schedule& schedule);

}  // namespace tenex
