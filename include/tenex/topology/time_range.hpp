// The range of simulated time: how long a collective may possibly take, and how much of it is computed.
//
// Times are int64 picoseconds, which reach 106 days. Whatever could take more than a quarter of that is refused before
// it is run, so that sums of a few times always fit and no engine has to watch for overflows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The longest time that is computed: 2^61 ps, 26 days and 16 hours.
inline constexpr SimTime kLongestTime = picoseconds(std::int64_t{1} << 61);

/// The slowest hop of any of these sizes over any link; SimTime::max() where it does not fit. O(classes * sizes).
[[nodiscard]] inline SimTime slowest_hop(const Topology& topology, const std::vector<Bytes>& sizes) {
  SimTime slowest;
  for (const auto& link_class : topology.classes())
    for (const auto size : sizes)
      slowest = std::max(slowest, hop_time(link_class, size, Occupancy::serialization).latency);
  return slowest;
}

/// Whether `count` hops one after another end within kLongestTime. O(1).
[[nodiscard]] inline bool fits_time_range(SimTime hop, double count) {
  return static_cast<double>(hop.count()) * count <= static_cast<double>(kLongestTime.count());
}

}  // namespace tenex
