// The least number of chunks that each NPU of a collective must receive and send, each proven from the definition of
// validity.
//
// n NPUs in a group, c chunks per NPU (Broadcast, Reduce: c in all). A send carries one chunk, so counts per chunk add
// up. A group of one NPU has no traffic. NPUs outside all groups have no demand.
// - All-Gather receives (n-1)c: every chunk of another NPU must arrive. It sends c: every own chunk must leave, since
//   nobody else has it.
// - Reduce-Scatter receives c: the sum of an own chunk needs at least one arrival with the others' contributions.
//   It sends (n-1)c: of every chunk that another NPU owns, the own contribution must leave.
// - All-Reduce receives nc: no chunk is complete at the start anywhere, so each needs at least one arrival.
//   It sends nc: the own contribution to each chunk must leave, since the others' sums need it.
// - Broadcast receives c at every NPU but the root, and sends c at the root.
// - Reduce sends c at every NPU but the root, and receives c at the root.
#pragma once

#include <cstdint>

#include "tenex/base/ids.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex {

/// The chunks of its group that one NPU must at least receive and send.
struct NpuDemand {
  std::int64_t receive = 0;
  std::int64_t send = 0;
};

/// The demand of `rank` in `group`. O(1).
[[nodiscard]] NpuDemand npu_demand(const Collective& collective, GroupId group, std::uint32_t rank);

}  // namespace tenex
