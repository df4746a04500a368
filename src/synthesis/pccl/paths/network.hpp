// The network as path searches read it: links beside their targets, and the times of hops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {

/// A link seen from one of its ends, with the vertex at the other end.
struct PathHop {
  std::uint32_t link = 0;
  std::uint32_t vertex = 0;
};

/// Links by vertex, and hop times by link and size class. Reads a topology that must outlive it. O(links) memory.
class PathNetwork {
 public:
  explicit PathNetwork(const Instance& instance);

  [[nodiscard]] std::size_t vertices() const { return topology_.vertices(); }
  [[nodiscard]] std::size_t links() const { return topology_.links(); }
  [[nodiscard]] std::size_t sizes() const { return sizes_; }
  [[nodiscard]] std::span<const PathHop> out(std::uint32_t vertex) const { return row(out_, out_begin_, vertex); }
  [[nodiscard]] std::span<const PathHop> in(std::uint32_t vertex) const { return row(in_, in_begin_, vertex); }
  [[nodiscard]] std::uint32_t source(std::uint32_t link) const { return topology_.source(LinkId(link)).value(); }
  [[nodiscard]] std::uint32_t target(std::uint32_t link) const { return topology_.target(LinkId(link)).value(); }
  [[nodiscard]] const HopTime& hop(std::uint32_t link, std::size_t size_class) const {
    return times_[topology_.class_of(LinkId(link)) * sizes_ + size_class];
  }

  /// Whether all hops take equally long. A hop's weight() is then 1.
  [[nodiscard]] bool alike() const { return alike_; }
  /// Whether hops are alike(), so that sends can start at multiples of the time for which they keep a link
  /// busy (slots), in networks of at most 65,535 vertices, and few slots stay empty.
  [[nodiscard]] bool slotted() const { return slotted_; }
  /// The length of a slot, and the slots from a send's start to its arrival, rounded up. Only where slotted().
  [[nodiscard]] SimTime slot() const { return times_.front().busy; }
  [[nodiscard]] std::uint32_t slots_per_hop() const { return slots_per_hop_; }
  /// The bytes of slots that are empty while messages cross the network. Only where slotted().
  [[nodiscard]] double empty_slot_bytes() const { return empty_slot_bytes_; }
  /// Whether an arrival falls on the start of a slot, so that rounding up loses nothing.
  [[nodiscard]] bool slots_are_exact() const { return times_.front().latency % slot() == SimTime::zero(); }

  /// The unit in which distances() are kept: the largest that divides all latencies if they fit in 32 bits, else a
  /// larger one, and distances are rounded down, hop by hop.
  [[nodiscard]] SimTime unit() const { return unit_; }
  /// A hop's latency in units, rounded down. O(1).
  [[nodiscard]] std::uint32_t weight(std::uint32_t link, std::size_t size_class) const {
    return weights_[topology_.class_of(LinkId(link)) * sizes_ + size_class];
  }
  /// The least time for which a send keeps the link busy.
  [[nodiscard]] SimTime least_busy(std::uint32_t link) const { return least_busy_[topology_.class_of(LinkId(link))]; }

 private:
  static std::span<const PathHop> row(const std::vector<PathHop>& hops, const std::vector<std::uint32_t>& begin,
                                      std::uint32_t vertex) {
    return {hops.data() + begin[vertex], begin[vertex + 1] - begin[vertex]};
  }
  void set_times(const Instance& instance);
  void set_unit();
  /// From the first vertex. O(links).
  [[nodiscard]] std::int64_t hops_to_farthest() const;

  const Topology& topology_;
  std::size_t sizes_;
  std::vector<std::uint32_t> out_begin_;
  std::vector<std::uint32_t> in_begin_;
  std::vector<PathHop> out_;
  std::vector<PathHop> in_;
  std::vector<HopTime> times_;  ///< by class, then size class
  std::vector<std::uint32_t> weights_;
  std::vector<SimTime> least_busy_;  ///< by class
  SimTime unit_ = picoseconds(1);
  bool alike_ = false;
  bool slotted_ = false;
  std::uint32_t slots_per_hop_ = 1;
  double empty_slot_bytes_ = 0;
};

}  // namespace tenex
