// Shared by the module's files on symmetric schedules: the latency of a direction, the source of an orbit.
#pragma once

#include <cstddef>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

/// Start to arrival in each direction. All chunks of one group have one size. O(directions).
[[nodiscard]] inline std::vector<SimTime> direction_latencies(const Instance& instance, const TranslationGroup& group) {
  std::vector<SimTime> latencies;
  for (const auto& direction : group.directions())
    latencies.push_back(hop_time(instance.topology.classes()[direction.link_class],
                                 instance.collective.chunk_sizes()[0], instance.occupancy)
                            .latency);
  return latencies;
}

/// The offset of an orbit's source from the owner of its chunk.
[[nodiscard]] inline NpuId source_offset(const TranslationGroup& group, const OrbitSend& orbit) {
  return group.origin(orbit.offset, orbit.direction);
}

/// The index of a chunk as one NPU sees it: the offset from its owner, and its number there.
[[nodiscard]] inline std::size_t item_of(NpuId offset, std::uint32_t number, std::size_t npus) {
  return number * npus + offset.index();
}

}  // namespace tenex
