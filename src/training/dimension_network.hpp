// The dimensions that the groups of a scope span, as a network of their own.
//
// Idea. A product shape falls apart, dimension by dimension: without the links of the other dimensions, those of some
// dimensions form equal and disjoint copies of the product of these alone. The groups of a scope lie in the copies of
// the dimensions that they span, the same ones in each. So long as their messages keep to these dimensions (dimension
// order does, and synthesizers serve members by members, or by relays on shortest paths between them), one copy tells
// the times of all; and scopes whose dimensions differ share no link. What one copy's schedule is, each of them is:
// spread() names the same sends for all copies inside a larger product.
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

/// Those that a span crosses.
[[nodiscard]] Dimensions dimensions_of(const GroupSpan& span);
/// Those of either.
[[nodiscard]] Dimensions united(const Dimensions& a, const Dimensions& b);
/// Whether no dimension is in both.
[[nodiscard]] bool are_disjoint(const Dimensions& a, const Dimensions& b);

/// The product of some dimensions of the point's shape with the network's bandwidths (ShapeLinks::per_npu).
[[nodiscard]] GroupNetwork dimension_network(const TrainingNetwork& network, const Dimensions& dimensions);

/// The groups of a scope in one copy of `dimensions`, which hold those that it spans; members numbered in the copy.
/// O(npus of the shape * dimensions).
[[nodiscard]] std::vector<ProcessGroup> groups_within(const Mapping& mapping, Scope scope,
                                                      const Dimensions& dimensions);

/// A product of dimensions inside a product of more: which NPU and which link of the larger one is which of which copy.
class Copies {
 public:
  /// `inner` of `outer` dimensions of `shape`; the topologies are those of their products, alike in unwinding. O(links
  /// * dimensions).
  Copies(const Shape& shape, const Dimensions& inner, const Topology& inner_topology, const Dimensions& outer,
         const Topology& outer_topology);

  [[nodiscard]] std::size_t count() const { return npus_.size(); }
  /// The larger product's name of an NPU of the smaller one in a copy.
  [[nodiscard]] NpuId npu(std::size_t copy, NpuId inner) const { return npus_[copy][inner.index()]; }
  [[nodiscard]] LinkId link(std::size_t copy, LinkId inner) const { return links_[copy][inner.index()]; }

 private:
  std::vector<std::vector<NpuId>> npus_;  // per copy
  std::vector<std::vector<LinkId>> links_;
};

/// The sends of `schedule`, a schedule of `inner`, in every copy, as a schedule of `outer`, whose groups are those of
/// `inner` in all copies. O(sends of the result log of them).
[[nodiscard]] Schedule spread(const Schedule& schedule, const Collective& inner, const Collective& outer,
                              const Copies& copies);
/// Bytes at the peak of spread(), its result included, of so many sends and bytes of payload lists in one copy; plans
/// ask it too, before there is a schedule. Saturates. O(1).
[[nodiscard]] std::size_t spread_bytes(std::size_t sends, std::size_t listed_bytes, std::size_t copies);
[[nodiscard]] std::size_t spread_bytes(const Schedule& schedule, std::size_t copies);

}  // namespace tenex
