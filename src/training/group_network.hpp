// The part of the network that one process group of a mapping has to itself, as a separate shape.
//
// Idea. A group spans some dimensions of a shape, in dimension i with g_i members s_i apart on a line of k_i NPUs. Its
// share of the links there is given by LIBRA's derating (workload/libra_time.hpp), here as links:
//   FC(k)  FC(g), links as they are
//   SW(k)  SW(g), links as they are
//   SW(k,l:o)  SW(g) where the group is on one leaf; the tree of its members where they fill leaves and the group's
//   part
//          of the bundles is a whole number of links; else SW(g) with links of the worst level's share of the bandwidth
//          and the latency of the longest way, half of it up and half down
//   RI(k)  members s apart, s interleaved groups on every link: RI(g) where they close the ring, else LI(g); a link of
//          1/s of the bandwidth and s times the alpha, which is what s hops in turn with s-1 others take
//   LI(k)  LI(g) likewise
// A ring of two members has one link each way instead of the two paths of the original, with the sum of their
// bandwidths.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tenex/design/design_point.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/workload/parallelization.hpp"
#include "training/collective_models.hpp"

namespace tenex {

/// A group's network: its dimension i is the one of span.shares[i].
struct GroupNetwork {
  Shape shape;
  ShapeLinks links;                     ///< per link, one alpha and one bandwidth for each dimension
  std::vector<std::size_t> dimensions;  ///< of the whole shape, from 0
  bool operator==(const GroupNetwork& other) const {
    return shape == other.shape && links.alpha == other.links.alpha && links.bandwidth == other.links.bandwidth;
  }
};

/// The value of a dimension in a list that has one value per dimension, or one for all.
template <class T>
[[nodiscard]] const T& of_dimension(const std::vector<T>& values, std::size_t dimension) {
  return values[std::min(dimension, values.size() - 1)];
}

/// The network of a group that spans `span` of the product shape `shape`. `alpha` and `npu_bandwidth` have one value
/// per dimension, or one for all. Quotients of bandwidths are rounded down; build_topology() refuses a bandwidth of
/// zero. O(dimensions).
[[nodiscard]] GroupNetwork group_network(const GroupSpan& span, const Shape& shape, const std::vector<SimTime>& alpha,
                                         const std::vector<Bandwidth>& npu_bandwidth);

/// A collective point on one group's network, with the training point's chunks, attempts, engine, occupancy and seed.
/// It has one group of all NPUs. Switches of dimensions that the key `in_network` names add and copy. The caller sets
/// `algorithm` and may set more. `communication` must be a collective (InvariantError for a point-to-point message).
[[nodiscard]] DesignPoint group_point(const TrainingNetwork& network, const GroupNetwork& group,
                                      const Communication& communication);

}  // namespace tenex
