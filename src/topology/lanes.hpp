// Bundles: parallel links between two switches, and which of them a message takes.
//
// A message takes the link whose number in the bundle is the rank of an NPU, modulo the number of links. The rank is
// that of the NPU at which the message leaves the switches (or, for some wires, of the one at which it comes), among
// all NPUs that are attached to switches which are joined with these. In a dimension of a shape the rank is the
// position, and the choice that of the routing called d-mod-k (Zahavi, "Fat-trees routing and node ordering providing
// contention free traffic for MPI global collectives", IPDPS Workshops 2011): where every NPU sends to the NPU s
// positions on, for one s, the messages spread evenly over every bundle, and in a tree without oversubscription no two
// of them share a link. Links between an NPU and a switch are not bundled.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The bundles of a topology. O(links log links) to make, no memory where there are none.
class Bundles {
 public:
  explicit Bundles(const Topology& topology);

  [[nodiscard]] bool empty() const { return links_.empty(); }
  /// The link of the same bundle with the least id; the link itself where it is alone. O(log links).
  [[nodiscard]] LinkId first_of(LinkId link) const;
  /// The link of the same bundle for a message that leaves, or comes to, the switches at `end`. O(log vertices).
  [[nodiscard]] LinkId lane(LinkId link, VertexId end) const;

 private:
  [[nodiscard]] std::span<const LinkId> bundle_of(LinkId link) const;

  const Topology* topology_;
  std::vector<LinkId> links_;                               // of bundles, by (source, target, id)
  std::vector<std::size_t> fabric_of_;                      // by switch: the least switch joined with it
  std::vector<std::pair<std::size_t, VertexId>> attached_;  // (fabric, NPU or other end), sorted
};

}  // namespace tenex
