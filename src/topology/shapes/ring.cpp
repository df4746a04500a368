// RI(k): a bidirectional ring. RI(2) is one link each way, RI(1) nothing.
#include <algorithm>

#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

std::uint32_t ring_neighbours(std::uint32_t size) { return std::min<std::uint32_t>(size - 1, 2); }

void add_ring_links(const Dimension& dimension, TopologyBuilder& builder) {
  const std::uint32_t size = dimension.size;
  if (size == 1) return;
  for (std::size_t npu = 0; npu < dimension.npus; ++npu) {
    const std::uint32_t at = dimension.position(npu);
    dimension.connect(builder, npu, dimension.moved(npu, (at + 1) % size));
    if (size > 2) dimension.connect(builder, npu, dimension.moved(npu, (at + size - 1) % size));
  }
}

/// The next position along the shorter way; ties go toward increasing positions.
std::uint32_t step_toward(std::uint32_t from, std::uint32_t to, std::uint32_t size) {
  const std::uint32_t upward = to >= from ? to - from : to + (size - from);
  return upward <= size - upward ? (from + 1) % size : (from + size - 1) % size;
}

std::uint32_t ring_hops(std::uint32_t from, std::uint32_t to, const Block& block) {
  const std::uint32_t apart = from < to ? to - from : from - to;
  return std::min(apart, block.size - apart);
}

double ring_mean_hops(const Block& block) {
  const double k = block.size;
  return block.size % 2 == 0 ? k / 4 : (k - 1 / k) / 4;
}

/// Summed over the positions: the sum over offsets of the shorter way.
std::int64_t ring_total_hops(const Block& block) {
  const std::int64_t k = block.size;
  return k * (k / 2) * ((k + 1) / 2);
}

/// Members that are spaced evenly all around form a ring; two such members have both ways round. Other members form a
/// line.
BlockPart part(const Block& block, const LinePart& part) {
  if (std::uint64_t{part.members} * part.stride != part.extent) return kLineRule.part(block, part);
  const std::uint32_t paths = part.members == 2 && part.extent > 2 ? 2 : 1;
  return {{&kRingRule, part.members}, part.stride, paths, ring_neighbours(part.extent)};
}

/// As on a line, if the closer group's block is no longer than half of the ring.
bool ring_parts_share(const LinePart& closer, const LinePart& wider) {
  const auto block = std::uint64_t{closer.stride} * closer.members;
  return block <= wider.stride && 2 * block <= closer.extent;
}

std::vector<std::uint32_t> ring_translations(std::uint32_t size) {
  if (size == 2) return {1};
  return {1, size - 1};
}

}  // namespace

constinit const BlockRule kRingRule{
    .name = "RI",
    .description = "ring, bidirectional",
    .long_name = "ring",
    .also = "cycle loop",
    .add_links = add_ring_links,
    .count_links = [](const Dimension& d) { return std::uint64_t{d.npus} * ring_neighbours(d.size); },
    .bandwidth_shares = [](std::uint32_t size) { return std::max<std::uint32_t>(ring_neighbours(size), 1); },
    .hops = ring_hops,
    .mean_hops = ring_mean_hops,
    .degree = ring_neighbours,
    .diameter_hops = [](const Block& block) { return block.size / 2; },
    .total_hops = ring_total_hops,
    .step_toward = step_toward,
    .part = part,
    .parts_share = ring_parts_share,
    .translations = ring_translations,
    .stepwise = true,
};

}  // namespace tenex
