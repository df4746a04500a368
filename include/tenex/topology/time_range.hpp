// The range of simulated time: the longest time that a collective may take, and the longest that is computed.
//
// Times are int64 picoseconds, which reach 106 days. A collective that could take more than a quarter of that is
// refused before it runs. Sums of a few times therefore always fit, and no engine has to check for overflow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The longest time that is computed: 2^61 ps, 26 days and 16 hours.
inline constexpr SimTime kLongestTime = picoseconds(std::int64_t{1} << 61);

/// The slowest hop of any of these sizes over any link, in its slowest window; SimTime::max() where it does not fit.
/// O(classes * sizes).
[[nodiscard]] inline SimTime slowest_hop(const Topology& topology, const std::vector<Bytes>& sizes) {
  SimTime slowest;
  for (std::uint16_t c = 0; c < topology.classes().size(); ++c) {
    const LinkClass& link_class = topology.classes()[c];
    std::int64_t factor = kNoSlowdown;
    for (const SlowWindow& window : topology.windows(c)) factor = std::max(factor, window.thousandths);
    for (const auto size : sizes)
      slowest =
          std::max(slowest, saturating_sum(link_class.alpha, stretched(serialization_time(size, link_class), factor)));
  }
  return slowest;
}

/// Whether `count` hops one after another end within kLongestTime. O(1).
[[nodiscard]] inline bool fits_time_range(SimTime hop, double count) {
  return static_cast<double>(hop.count()) * count <= static_cast<double>(kLongestTime.count());
}

}  // namespace tenex
