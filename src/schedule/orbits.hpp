// Shared by the module's files on symmetric schedules: the hop of a direction, the source of an orbit.
#pragma once

#include <cstddef>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/symmetric_schedule.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

/// The hop times of each direction. All chunks of one group have one size. O(directions).
[[nodiscard]] inline std::vector<HopTime> direction_hops(const Instance& instance, const TranslationGroup& group) {
  std::vector<HopTime> hops;
  for (const auto& direction : group.directions())
    hops.push_back(hop_time(instance.topology.classes()[direction.link_class], instance.collective.chunk_sizes()[0],
                            instance.occupancy));
  return hops;
}

/// The offset of an orbit's source from the owner of its chunk.
[[nodiscard]] inline NpuId source_offset(const TranslationGroup& group, const OrbitSend& orbit) {
  return group.neighbour(orbit.offset, group.directions()[orbit.direction].opposite);
}

/// The index of a chunk as one NPU sees it: the offset from its owner, and its number there.
[[nodiscard]] inline std::size_t item_of(NpuId offset, std::uint32_t number, std::size_t npus) {
  return number * npus + offset.index();
}

}  // namespace tenex
