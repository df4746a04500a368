// Fabrics: switches that are joined with each other, and the ranks of the NPUs at their edge. Bundles: parallel links
// between two switches, and which of them a message takes.
//
// A message takes the link whose number in the bundle is the rank of an NPU, modulo the number of links. The rank is
// that of the NPU at which the message leaves the switches (or, for some wires, of the one at which it comes), among
// all NPUs of the fabric. In a dimension of a shape the rank is the position, and the choice that of the routing called
// d-mod-k (Zahavi, "Fat-trees routing and node ordering providing contention free traffic for MPI global collectives",
// IPDPS Workshops 2011): where every NPU sends to the NPU s positions on, for one s, the messages spread evenly over
// every bundle, and in a tree without oversubscription no two of them share a link. Links between an NPU and a switch
// are not bundled.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Switches that are joined by links, and the NPUs that are attached to them. O(links log links) to make.
class Fabrics {
 public:
  Fabrics() = default;
  explicit Fabrics(const Topology& topology);
  /// The number of NPUs with smaller ids that are attached to the fabric of a switch. O(log vertices).
  [[nodiscard]] std::size_t rank(VertexId at_switch, VertexId npu) const;

 private:
  std::size_t npus_ = 0;
  std::vector<std::size_t> fabric_of_;                      // by switch: the least switch joined with it
  std::vector<std::pair<std::size_t, VertexId>> attached_;  // (fabric, NPU), sorted
};

/// The bundles of a topology. O(links log links) to make, no memory where there are none.
class Bundles {
 public:
  explicit Bundles(const Topology& topology);

  [[nodiscard]] bool empty() const { return links_.empty(); }
  /// The link of the same bundle with the least id; the link itself where it is alone. O(log links).
  [[nodiscard]] LinkId first_of(LinkId link) const;
  /// The link of the same bundle for a message that leaves, or comes to, the switches at `end`. O(log vertices).
  [[nodiscard]] LinkId lane(LinkId link, VertexId end) const;
  /// The rank by which lane() chooses at a switch. Precondition: not empty().
  [[nodiscard]] std::size_t rank(VertexId at_switch, VertexId end) const { return fabrics_.rank(at_switch, end); }
  /// The number of links of the same bundle. O(log links), O(1) where there are no bundles.
  [[nodiscard]] std::size_t width(LinkId link) const {
    return empty() ? 1 : std::max<std::size_t>(1, bundle_of(link).size());
  }
  /// Link `number` of the same bundle, modulo its links. O(log links).
  [[nodiscard]] LinkId numbered(LinkId link, std::uint64_t number) const;

 private:
  /// Empty where the link has no parallel one.
  [[nodiscard]] std::span<const LinkId> bundle_of(LinkId link) const;

  const Topology* topology_;
  std::vector<LinkId> links_;  // of bundles, by (source, target, id)
  Fabrics fabrics_;            // empty where there are no bundles
};

}  // namespace tenex
