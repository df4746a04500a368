// One process group's part of the network.
#include "training/group_network.hpp"

#include <algorithm>
#include <cstddef>

#include "tenex/topology/block.hpp"

namespace tenex {

GroupNetwork group_network(const GroupSpan& span, const Shape& shape, const std::vector<SimTime>& alpha,
                           const std::vector<Bandwidth>& npu_bandwidth) {
  ensure(shape.is_product(), "groups span dimensions of a product shape");
  GroupNetwork network;
  for (const auto& share : span.shares) {
    const Block& block = shape.blocks[share.dimension];
    const auto part = block.rule->part(block, {share.extent, share.members, share.stride});
    const std::int64_t links = bandwidth_shares(shape, share.dimension);
    const std::int64_t hops = part.hops;
    const std::int64_t sharers = hops * part.oversubscription;
    network.shape.blocks.push_back(part.block);
    network.links.alpha.push_back(of_dimension(alpha, share.dimension) * (hops * part.climb));
    network.links.bandwidth.push_back(of_dimension(npu_bandwidth, share.dimension) / links * std::int64_t{part.paths} /
                                      sharers);
  }
  return network;
}

DesignPoint group_point(const TrainingNetwork& network, const GroupNetwork& group, const Communication& communication) {
  const auto kind = collective_of(communication.kind);
  ensure(kind.has_value(), "a point-to-point message is no collective");
  DesignPoint point;
  static_cast<SynthesisChoices&>(point) = network.point;
  point.topology.shape = group.shape;
  point.topology.links = group.links;
  point.topology.text = to_string(group.shape);
  point.topology.unwind = network.point.topology.unwind;
  point.topology.switches.forwarding = network.point.topology.switches.forwarding;
  point.collective().kind = *kind;
  point.collective().size = communication.size;
  point.chunks = network.point.chunks;
  point.occupancy = network.point.occupancy;
  return point;
}

}  // namespace tenex
