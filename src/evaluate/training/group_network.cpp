// One process group's part of the network.
#include "group_network.hpp"

#include <algorithm>
#include <cstddef>

namespace tenex {
namespace {

template <class T>
const T& pick(const std::vector<T>& values, std::size_t dimension) {
  return values[std::min(dimension, values.size() - 1)];
}

/// Members that follow one another all around: the last is as far from the first as neighbours are.
bool closes_ring(const Block& block, const DimensionShare& share) {
  return block.kind == BlockKind::ring && std::uint64_t{share.members} * share.stride == share.extent;
}

Block block_of(const Block& block, const DimensionShare& share) {
  if (block.kind == BlockKind::ring && !closes_ring(block, share)) return {BlockKind::line, share.members};
  return {block.kind, share.members};
}

/// How many hops between neighbouring members, and groups on each link.
std::int64_t hops_between(const Block& block, const DimensionShare& share) {
  const bool stepwise = block.kind == BlockKind::ring || block.kind == BlockKind::line;
  return stepwise ? share.stride : 1;
}

}  // namespace

GroupNetwork group_network(const GroupSpan& span, const Shape& shape, const std::vector<SimTime>& alpha,
                           const std::vector<Bandwidth>& npu_bandwidth) {
  ensure(shape.is_product(), "groups span dimensions of a product shape");
  GroupNetwork network;
  for (const auto& share : span.shares) {
    const auto& block = shape.blocks[share.dimension];
    const auto hops = hops_between(block, share);
    const std::int64_t links = bandwidth_shares(shape, share.dimension);
    const std::int64_t paths = closes_ring(block, share) && share.members == 2 && share.extent > 2 ? 2 : 1;
    network.shape.blocks.push_back(block_of(block, share));
    network.links.alpha.push_back(pick(alpha, share.dimension) * hops);
    network.links.bandwidth.push_back(pick(npu_bandwidth, share.dimension) / links * paths / hops);
  }
  return network;
}

DesignPoint group_point(const TrainingNetwork& network, const GroupNetwork& group, const Communication& communication) {
  const auto kind = collective_of(communication.kind);
  ensure(kind.has_value(), "a point-to-point message is no collective");
  DesignPoint point;
  point.topology.shape = group.shape;
  point.topology.links = group.links;
  point.topology.text = to_string(group.shape);
  point.topology.unwind = network.point.topology.unwind;
  point.collective().kind = *kind;
  point.collective().size = communication.size;
  point.chunks = network.point.chunks;
  point.occupancy = network.point.occupancy;
  point.attempts = network.point.attempts;
  point.engine = network.point.engine;
  point.seed = network.point.seed;
  return point;
}

}  // namespace tenex
