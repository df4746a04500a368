// The dimensions that the groups of a scope span, as a separate network.
//
// Idea. In a product shape, the links of some dimensions form equal and disjoint copies of the product of these
// dimensions. The groups of a scope lie in the copies of the dimensions that they span, and every copy has the same
// groups. As long as their messages keep to these dimensions, one copy gives the times of all. Routes in dimension
// order keep to them, and so do synthesizers, which serve members by members, or by relays on shortest paths between
// them. Scopes without a common dimension share no link. A schedule of one copy is a schedule of every copy: spread()
// writes its sends for all copies inside a larger product.
#pragma once

#include <cstddef>
#include <vector>

#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/topology.hpp"
#include "tenex/workload/parallelization.hpp"
#include "training/collective_models.hpp"
#include "training/group_network.hpp"

namespace tenex {

/// Dimensions of a shape, from 0, ascending.
using Dimensions = std::vector<std::size_t>;

/// The dimensions that a span crosses.
[[nodiscard]] Dimensions dimensions_of(const GroupSpan& span);
/// The union of two lists of dimensions.
[[nodiscard]] Dimensions united(const Dimensions& a, const Dimensions& b);
/// Whether two lists have no common dimension.
[[nodiscard]] bool are_disjoint(const Dimensions& a, const Dimensions& b);

/// The product of some dimensions of the point's shape with the network's bandwidths (ShapeLinks::per_npu).
[[nodiscard]] GroupNetwork dimension_network(const TrainingNetwork& network, const Dimensions& dimensions);

/// The groups of a scope in one copy of `dimensions`, which must include those that the scope spans; members have their
/// ids in the copy. O(npus of the shape * dimensions).
[[nodiscard]] std::vector<ProcessGroup> groups_within(const Mapping& mapping, Scope scope,
                                                      const Dimensions& dimensions);

/// The copies of a product of dimensions inside a product of more: their NPUs and links in the larger product.
class Copies {
 public:
  /// `inner` and `outer` are dimensions of `shape`, `inner` a subset of `outer`; the topologies are those of their
  /// products, unwound to the same degree. O(links * dimensions).
  Copies(const Shape& shape, const Dimensions& inner, const Topology& inner_topology, const Dimensions& outer,
         const Topology& outer_topology);

  [[nodiscard]] std::size_t count() const { return npus_.size(); }
  /// The id in the larger product of NPU `inner` of a copy.
  [[nodiscard]] NpuId npu(std::size_t copy, NpuId inner) const { return npus_[copy][inner.index()]; }
  [[nodiscard]] LinkId link(std::size_t copy, LinkId inner) const { return links_[copy][inner.index()]; }

 private:
  std::vector<std::vector<NpuId>> npus_;  // per copy
  std::vector<std::vector<LinkId>> links_;
};

/// Returns the sends of `schedule`, a schedule of `inner`, in every copy, as a schedule of `outer`, whose groups are
/// those of `inner` in all copies. O(n log n) for n sends of the result.
[[nodiscard]] Schedule spread(const Schedule& schedule, const Collective& inner, const Collective& outer,
                              const Copies& copies);
/// Bytes at the peak of spread(), its result included, for a copy with so many sends and bytes of payload lists. Plans
/// use it before there is a schedule. Saturates. O(1).
[[nodiscard]] std::size_t spread_bytes(std::size_t sends, std::size_t listed_bytes, std::size_t copies);
[[nodiscard]] std::size_t spread_bytes(const Schedule& schedule, std::size_t copies);

}  // namespace tenex
