// Bandwidth that varies with time: windows in which links are slower (TE-CCL, section 5, "Modeling variable
// bandwidth").
//
// A send's bytes leave from its start on, at the link's rate at each time: `thousandths` / 1000 times as slowly in a
// window as outside. A window between the start and the end of a send so delays its end, and alpha follows that. A send
// that starts later never ends sooner, so sends of one link class and size arrive in the order of their starts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The time that bytes take which leave from `start` on and would take `outside` without windows: at least that, and
/// SimTime::max() where it does not fit. What leaves within a window is rounded down to picoseconds of `outside`, so
/// the time is never too short. O(windows).
[[nodiscard]] SimTime time_through(std::span<const SlowWindow> windows, SimTime start, SimTime outside);

/// Windows of links by name: of those from `source` to `target` or, without a target, of all links that leave or enter
/// `source`.
struct NamedWindow {
  VertexId source;
  std::optional<VertexId> target;
  SlowWindow window;
};

/// Gives links the windows that name them. Where windows of one link overlap, the largest factor counts. The shape is
/// kept because routes depend on it. Errors (input): a vertex or a link that does not exist. Preconditions: no wires,
/// no windows before. O(links + windows^2 of a link).
[[nodiscard]] Result<Topology> with_slow_windows(const Topology& topology, const std::vector<NamedWindow>& windows);

/// A network at its bandwidth outside all windows, for what knows none of them: the network itself where none varies,
/// which must outlive this. Schedules take no less time within windows, so bounds that hold here hold there.
class OutsideWindows {
 public:
  explicit OutsideWindows(const Topology& topology) : given_(topology) {
    if (topology.varies()) outside_ = topology.without_windows();
  }
  OutsideWindows(const OutsideWindows&) = delete;  // who asked refers to outside_
  OutsideWindows& operator=(const OutsideWindows&) = delete;

  [[nodiscard]] const Topology& topology() const { return outside_ ? *outside_ : given_; }

 private:
  const Topology& given_;
  std::optional<Topology> outside_;
};

/// HopTimes, where hops may depend on their start.
class StartedHops {
 public:
  StartedHops(const Topology& topology, const std::vector<Bytes>& sizes, Occupancy occupancy);

  /// The hop of the size that `size_class` indexes in the constructor's sizes, from `start` on. O(1) where no bandwidth
  /// varies, otherwise O(windows of the class).
  [[nodiscard]] HopTime at(std::uint16_t link_class, std::size_t size_class, SimTime start) const {
    const HopTime& hop = outside(link_class, size_class);
    return windows_.empty() || windows_[link_class].empty() ? hop : within(link_class, hop, start);
  }
  /// The same outside all windows.
  [[nodiscard]] const HopTime& outside(std::uint16_t link_class, std::size_t size_class) const {
    return table_[link_class * columns_ + size_class];
  }

 private:
  [[nodiscard]] HopTime within(std::uint16_t link_class, const HopTime& hop, SimTime start) const;

  std::size_t columns_;
  std::vector<HopTime> table_;
  std::vector<SlowWindows> windows_;  ///< by class; empty where no bandwidth varies
  std::vector<SimTime> alpha_;        ///< the same
  std::vector<SimTime> overhead_;     ///< the same
};

}  // namespace tenex
