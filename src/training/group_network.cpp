// One process group's part of the network.
#include "training/group_network.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

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
    network.dimensions.push_back(share.dimension);
    network.links.alpha.push_back(of_dimension(alpha, share.dimension) * (hops * part.climb));
    network.links.bandwidth.push_back(of_dimension(npu_bandwidth, share.dimension) / links * std::int64_t{part.paths} /
                                      sharers);
  }
  return network;
}

namespace {

/// What the switches of the group's dimensions do: they add and copy where the key `in_network` says so.
void give_abilities(SwitchChoice& switches, const std::vector<bool>& in_network, const GroupNetwork& group) {
  std::vector<bool> able;
  for (const std::size_t dimension : group.dimensions)
    able.push_back(dimension < in_network.size() && in_network[dimension]);
  if (std::ranges::find(able, true) == able.end()) return;
  switches.copy = switches.reduce = SwitchAbility::yes;
  switches.able_dimensions = std::move(able);
}

}  // namespace

bool reduces_in_network(const DesignPoint& group_point) {
  return group_point.collective().kind == CollectiveKind::all_reduce &&
         group_point.topology.switches.reduce == SwitchAbility::yes;
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
  if (network.point.trains()) give_abilities(point.topology.switches, network.point.training().in_network, group);
  point.collective().kind = *kind;
  point.collective().size = communication.size;
  point.chunks = network.point.chunks;
  point.occupancy = network.point.occupancy;
  return point;
}

}  // namespace tenex
