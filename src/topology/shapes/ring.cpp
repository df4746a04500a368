// RI(k): a bidirectional ring. RI(2) is one link each way, RI(1) nothing.
#include <algorithm>

#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

std::uint32_t neighbours(std::uint32_t size) { return std::min<std::uint32_t>(size - 1, 2); }

void add_links(const Dimension& dimension, TopologyBuilder& builder) {
  const std::uint32_t size = dimension.size;
  if (size == 1) return;
  for (std::size_t npu = 0; npu < dimension.npus; ++npu) {
    const std::uint32_t at = dimension.position(npu);
    dimension.connect(builder, npu, dimension.moved(npu, (at + 1) % size));
    if (size > 2) dimension.connect(builder, npu, dimension.moved(npu, (at + size - 1) % size));
  }
}

/// The shorter way round; ties go toward increasing positions.
std::uint32_t step_toward(std::uint32_t from, std::uint32_t to, std::uint32_t size) {
  const std::uint32_t upward = to >= from ? to - from : to + (size - from);
  return upward <= size - upward ? (from + 1) % size : (from + size - 1) % size;
}

}  // namespace

constinit const BlockRule kRingRule{
    .kind = BlockKind::ring,
    .name = "RI",
    .add_links = add_links,
    .count_links = [](const Dimension& d) { return std::uint64_t{d.npus} * neighbours(d.size); },
    .count_switches = [](const Dimension&) { return std::uint64_t{0}; },
    .bandwidth_shares = [](const Dimension& d) { return std::max<std::uint32_t>(neighbours(d.size), 1); },
    .diameter_hops = [](std::uint32_t size) { return size / 2; },
    .step_toward = step_toward,
};

}  // namespace tenex
