// The sends of one instant in the order of causes.
//
// A link without alpha brings a chunk's first byte to a switch with virtual cut-through at the instant at which the
// send starts, and the switch may pass it on then (tenex/topology/hand_over.hpp). So at one instant the sends that
// bring a chunk to such a switch come before those that take it on.
#pragma once

#include <vector>

#include "tenex/schedule/send.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Whether some switch may pass a chunk on at the instant at which its send to the switch starts. O(links).
[[nodiscard]] bool passes_on_at_once(const Topology& topology);

/// Sends that wait for each other, and those of links that do not exist, come last, in the given order. O(sends).
void order_by_cause(const Topology& topology, std::vector<Send>& sends);

}  // namespace tenex
