// Buffers: how many chunks wait in switches.
//
// A chunk waits from its whole arrival until its last send from the switch starts; one that is sent on by then, or
// never, does not wait. Where a switch cannot copy, arrivals are matched with sends in order; what a switch that
// reduces has added together is one chunk.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex::verifier {

/// The first instant at whose end too many chunks wait in a switch.
struct Overflow {
  VertexId at;
  SimTime time;
  std::uint64_t waiting = 0;
};

/// At most one per switch, by vertex; empty where all buffers are unlimited. O(sends log sends) time and O(sends of
/// switches) memory.
[[nodiscard]] std::vector<Overflow> find_overflows(const Context& context, const Schedule& schedule);

}  // namespace tenex::verifier
