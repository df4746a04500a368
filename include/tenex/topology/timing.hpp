// The physics of one hop: how long a send keeps its link busy and when it arrives.
//
// Both occupancies deliver at start + alpha + beta*m; they differ in how long the link is taken: `serialization` for
// beta*m (ASTRA-sim, TE-CCL), `transfer` for alpha + beta*m (TACOS, PCCL).
//
// An overhead o is the time that the source needs for each message before its bytes leave, whatever their number
// (Alexandrov et al., "LogGP: incorporating long messages into the LogP model", SPAA 1995: o at the sender). It is a
// part of alpha, so that each step takes it, and the link is taken for o + beta*m, so that each message does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

enum class Occupancy : std::uint8_t { serialization, transfer };

[[nodiscard]] constexpr std::string_view to_string(Occupancy occupancy) {
  return occupancy == Occupancy::serialization ? "serialization" : "transfer";
}

/// a + b for non-negative times, SimTime::max() where the sum does not fit. O(1).
[[nodiscard]] constexpr SimTime saturating_sum(SimTime a, SimTime b) {
  return a > SimTime::max() - b ? SimTime::max() : a + b;
}

/// time * thousandths / 1000, rounded up; SimTime::max() where that does not fit. For non-negative times. O(1).
[[nodiscard]] constexpr SimTime stretched(SimTime time, std::int64_t thousandths) {
  __extension__ using Wide = unsigned __int128;
  constexpr Wide whole = kNoSlowdown;
  const Wide scaled = (static_cast<Wide>(time.count()) * static_cast<Wide>(thousandths) + whole - 1) / whole;
  const auto limit = static_cast<Wide>(SimTime::max().count());
  return SimTime::of(static_cast<std::int64_t>(scaled < limit ? scaled : limit));
}

/// beta*m of `size` over a link of this class: ceil(ceil(size * 1e12 / bandwidth) * slowdown / 1000) ps. O(1).
[[nodiscard]] constexpr SimTime serialization_time(Bytes size, const LinkClass& link) {
  const SimTime nominal = serialization_time(size, link.bandwidth);
  return link.slowdown == kNoSlowdown ? nominal : stretched(nominal, link.slowdown);
}

/// An NPU that neither injects nor forwards before a time. A message that arrives earlier counts as arrived and waits.
/// At that time the NPU's own first messages enter their links; the waiting messages follow in order of arrival.
struct StartDelay {
  NpuId npu;
  SimTime time;
};

/// The two times of one send.
struct HopTime {
  SimTime busy;     ///< the link is taken for [start, start + busy)
  SimTime latency;  ///< arrival = start + latency
  bool operator==(const HopTime&) const = default;
};

/// The hop of `size` over a link of this class. O(1), with a 128-bit division: use HopTimes in loops. Precondition: its
/// bandwidth does not vary (slow_windows.hpp has hops that depend on their start).
[[nodiscard]] constexpr HopTime hop_time(const LinkClass& link, Bytes size, Occupancy occupancy) {
  ensure(link.windows == 0, "a hop over a link whose bandwidth varies depends on its start");
  const SimTime serialization = serialization_time(size, link);
  const SimTime latency = saturating_sum(link.alpha, serialization);
  return {occupancy == Occupancy::serialization ? saturating_sum(link.overhead, serialization) : latency, latency};
}

/// Hop times of every link class for a few message sizes, by table. O(classes * sizes) memory.
class HopTimes {
 public:
  HopTimes(const Topology& topology, const std::vector<Bytes>& sizes, Occupancy occupancy) : columns_(sizes.size()) {
    for (const auto& link_class : topology.classes())
      for (const auto size : sizes) table_.push_back(hop_time(link_class, size, occupancy));
  }
  /// `size_class` indexes the sizes given to the constructor.
  [[nodiscard]] const HopTime& at(std::uint16_t link_class, std::size_t size_class) const {
    return table_[link_class * columns_ + size_class];
  }

 private:
  std::size_t columns_;
  std::vector<HopTime> table_;
};

}  // namespace tenex
