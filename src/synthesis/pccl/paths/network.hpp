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

/// A physical link that a send over a wire takes, from `offset` after its start on.
struct PhysicalUse {
  std::uint32_t link = 0;   ///< of Wires::network()
  std::int64_t offset = 0;  ///< picoseconds
  std::int64_t extra = 0;   ///< picoseconds for which it is busy beyond the serialization: its alpha under `transfer`
};

/// Links by vertex, hop times by link and size class, and what switches can do. Reads a topology that must outlive it.
/// O(links) memory.
class PathNetwork {
 public:
  explicit PathNetwork(const Instance& instance);

  [[nodiscard]] std::size_t vertices() const { return topology_.vertices(); }
  [[nodiscard]] std::size_t links() const { return topology_.links(); }
  [[nodiscard]] std::size_t sizes() const { return sizes_; }
  [[nodiscard]] std::size_t npus() const { return topology_.npus(); }
  [[nodiscard]] std::span<const PathHop> out(std::uint32_t vertex) const { return row(out_, out_begin_, vertex); }
  [[nodiscard]] std::span<const PathHop> in(std::uint32_t vertex) const { return row(in_, in_begin_, vertex); }
  [[nodiscard]] std::uint32_t source(std::uint32_t link) const { return topology_.source(LinkId(link)).value(); }
  [[nodiscard]] std::uint32_t target(std::uint32_t link) const { return topology_.target(LinkId(link)).value(); }
  [[nodiscard]] const HopTime& hop(std::uint32_t link, std::size_t size_class) const {
    return times_[topology_.class_of(LinkId(link)) * sizes_ + size_class];
  }

  [[nodiscard]] std::size_t link_classes() const { return topology_.classes().size(); }
  [[nodiscard]] std::uint16_t link_class(std::uint32_t link) const { return topology_.class_of(LinkId(link)); }

  /// Whether a chunk that is here may leave more than once: at NPUs and switches that copy.
  [[nodiscard]] bool branches(std::uint32_t vertex) const {
    return vertex < npus() || topology_.switch_properties(VertexId(vertex)).copy;
  }
  /// How many chunks may wait here.
  [[nodiscard]] std::uint32_t buffer(std::uint32_t vertex) const {
    return vertex < npus() ? kUnlimitedBuffer : topology_.switch_properties(VertexId(vertex)).buffer;
  }
  /// Whether chunks may wait here without limit.
  [[nodiscard]] bool rests(std::uint32_t vertex) const { return buffer(vertex) == kUnlimitedBuffer; }
  /// Whether some switch has a limited buffer, or does not copy.
  [[nodiscard]] bool has_limits() const { return has_limits_; }
  [[nodiscard]] bool has_single_use() const { return has_single_use_; }
  /// Whether a multicast cannot be searched as a whole, since its branches would get in each other's way: an arrival at
  /// a switch without `copy` feeds one branch, buffers fill, and wires share physical links.
  [[nodiscard]] bool grows_trees() const { return has_single_use_ || has_limits_ || wired(); }

  /// Whether links are wires (topology/wires.hpp), so that sends take several physical links.
  [[nodiscard]] bool wired() const { return !use_begin_.empty(); }
  /// Links, or physical links where links are wires.
  [[nodiscard]] std::size_t physical_links() const { return wired() ? physical_links_ : links(); }
  /// The physical links of a wire. Only where wired().
  [[nodiscard]] std::span<const PhysicalUse> uses(std::uint32_t link) const {
    return {uses_.data() + use_begin_[link], use_begin_[link + 1] - use_begin_[link]};
  }
  /// Whether a signal may part where a physical link ends: at a cut-through switch that copies.
  [[nodiscard]] bool copies_after(std::uint32_t physical) const { return copies_after_[physical]; }
  [[nodiscard]] bool shares_signals() const { return shares_signals_; }
  [[nodiscard]] std::int64_t alpha(std::uint32_t link) const { return topology_.alpha(LinkId(link)).count(); }
  /// Picoseconds of the hop without its alpha.
  [[nodiscard]] std::int64_t serialization(std::uint32_t link, std::size_t size_class) const {
    return hop(link, size_class).latency.count() - alpha(link);
  }

  /// Whether all hops take equally long. A hop's weight() is then 1.
  [[nodiscard]] bool equal_hops() const { return equal_hops_; }
  /// Whether there are equal_hops(), so that sends can start at multiples of the time for which they keep a link
  /// busy (slots), in networks of at most 65,535 vertices, and few slots stay empty. Not where links are wires or
  /// buffers are limited.
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
  /// The least picoseconds for which a send keeps a physical link busy.
  [[nodiscard]] std::int64_t least_busy(std::uint32_t physical) const {
    return wired() ? least_busy_[physical] : least_busy_[topology_.class_of(LinkId(physical))];
  }

 private:
  static std::span<const PathHop> row(const std::vector<PathHop>& hops, const std::vector<std::uint32_t>& begin,
                                      std::uint32_t vertex) {
    return {hops.data() + begin[vertex], begin[vertex + 1] - begin[vertex]};
  }
  void set_times(const Instance& instance);
  void set_uses(const Instance& instance);
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
  std::vector<std::int64_t> least_busy_;  ///< by class; of wires by physical link
  std::vector<std::uint64_t> use_begin_;  ///< of wires
  std::vector<PhysicalUse> uses_;
  std::vector<bool> copies_after_;  ///< by physical link
  std::size_t physical_links_ = 0;
  bool shares_signals_ = false;
  bool has_limits_ = false;
  bool has_single_use_ = false;
  SimTime unit_ = picoseconds(1);
  bool equal_hops_ = false;
  bool slotted_ = false;
  std::uint32_t slots_per_hop_ = 1;
  double empty_slot_bytes_ = 0;
};

}  // namespace tenex
