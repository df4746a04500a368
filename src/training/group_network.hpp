// The part of the network that one process group of a mapping has to itself, as a shape of its
// own.
//
// Idea. A group spans some dimensions of a shape, in dimension i with g_i members s_i apart on a line of k_i NPUs. What
// its own links carry there is what LIBRA's derating says (workload/libra_time.hpp), here as links:
//   FC(k)  FC(g), links as they are
//   SW(k)  SW(g), links as they are
//   RI(k)  members s apart, s interleaved groups on every link: RI(g) where they close the ring, else LI(g); a link of
//          1/s of the bandwidth and s times the alpha, which is what s hops in turn with s-1 others take
//   LI(k)  LI(g) likewise
// A ring of two members has one link each way where the original has two paths: their bandwidths together.
#pragma once

#include "tenex/design/design_point.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/workload/parallelization.hpp"
#include "training/collective_models.hpp"

namespace tenex {

/// A group's own network: dimension i is that of span.shares[i].
struct GroupNetwork {
  Shape shape;
  ShapeLinks links;  ///< per link, one alpha and one bandwidth for each dimension
  bool operator==(const GroupNetwork& other) const {
    return shape == other.shape && links.alpha == other.links.alpha && links.bandwidth == other.links.bandwidth;
  }
};

/// The own network of a group that spans `span` of the product shape `shape`, whose links have `alpha` (one per
/// dimension, or one for all) and per NPU and dimension `npu_bandwidth` (likewise). A quotient of bandwidth that is not
/// whole is rounded down; where it rounds to zero build_topology() will refuse it. O(dimensions).
[[nodiscard]] GroupNetwork group_network(const GroupSpan& span, const Shape& shape, const std::vector<SimTime>& alpha,
                                         const std::vector<Bandwidth>& npu_bandwidth);

/// A collective's point on one group's own network, with the settings that training points have: chunks, attempts,
/// engine, occupancy and seed; the caller sets `algorithm` and may set what else it knows. One group of all NPUs.
/// `communication` must be a collective (InvariantError for a point-to-point message).
[[nodiscard]] DesignPoint group_point(const TrainingNetwork& network, const GroupNetwork& group,
                                      const Communication& communication);

}  // namespace tenex
