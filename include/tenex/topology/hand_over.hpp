// When a switch may pass a chunk on (Forwarding): the physics of a hop after a hop.
//
// Virtual cut-through. A chunk of m bytes starts at t over a link f into the switch, and at s over a link e out of it.
// Byte k comes at t + alpha_f + k ser_f / m and leaves at s + k ser_e / m, where ser is beta*m of a link, rounded up.
// Both are linear in k, so it suffices that the first and the last byte do not leave before they come:
// s >= t + alpha_f + max(0, ser_f - ser_e). In terms of the whole arrival a = t + alpha_f + ser_f that is
// s >= a - min(ser_f, ser_e). A copy obeys the rule on each of its links, and a sum obeys it for everything that it
// joins. Turned around in time, f and e exchange their parts and the rule stays: a reversed gather is a reduction.
// Source: Kermani and Kleinrock, "Virtual cut-through: a new computer communication switching technique", Computer
// Networks 3, 1979; there all links are equally fast.
//
// NPUs, and switches that store and forward, pass on what has arrived whole. So does every switch where the bandwidth
// of one of both links varies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Whether a vertex is a switch with virtual cut-through. O(1).
[[nodiscard]] inline bool passes_on_early(const Topology& topology, VertexId vertex) {
  return !topology.is_npu(vertex) && topology.switch_properties(vertex).forwarding == Forwarding::virtual_cut_through;
}
/// Whether some switch has it. O(switches).
[[nodiscard]] bool any_passes_on_early(const Topology& topology);

/// The same network, in which switches with virtual cut-through forward in another way. O(links).
[[nodiscard]] Topology with_early_switches_as(const Topology& topology, Forwarding forwarding);

/// How long before its whole arrival over `in` a chunk may leave the switch with virtual cut-through over `out`. O(1).
[[nodiscard]] SimTime hand_over_lead(const Topology& topology, LinkId in, LinkId out, Bytes size);

/// The rule for all links and a few sizes, by table. Refers to the topology.
class HandOvers {
 public:
  /// O(switches + classes * sizes).
  HandOvers(const Topology& topology, const std::vector<Bytes>& sizes);

  /// Whether some switch has virtual cut-through.
  [[nodiscard]] bool any() const { return !serialization_.empty(); }
  /// How long before its whole arrival over `in` a chunk may leave over `out`, which begins where `in` ends.
  /// `size_class` indexes the sizes given to the constructor. O(1).
  [[nodiscard]] SimTime lead(LinkId in, LinkId out, std::size_t size_class) const {
    if (!any() || !passes_on_early(*topology_, topology_->target(in))) return SimTime::zero();
    return std::min(serialization(in, size_class), serialization(out, size_class));
  }
  /// No lead over `out` is longer: beta*m of the link, zero where its bandwidth varies. Precondition: any(). O(1).
  [[nodiscard]] SimTime serialization(LinkId out, std::size_t size_class) const {
    return serialization_[topology_->class_of(out) * columns_ + size_class];
  }

 private:
  const Topology* topology_;
  std::size_t columns_;
  std::vector<SimTime> serialization_;  ///< per class and size, zero where the bandwidth varies; empty: no such switch
};

}  // namespace tenex
