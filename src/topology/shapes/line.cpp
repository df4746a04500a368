// LI(k): a line, a link each way between consecutive NPUs.
#include <algorithm>

#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

void add_line_links(const Dimension& dimension, TopologyBuilder& builder) {
  for (std::size_t npu = 0; npu < dimension.npus; ++npu) {
    const std::uint32_t at = dimension.position(npu);
    if (at + 1 < dimension.size) dimension.connect(builder, npu, dimension.moved(npu, at + 1));
    if (at > 0) dimension.connect(builder, npu, dimension.moved(npu, at - 1));
  }
}

/// The sum over distances d of 2 (k-d) d.
std::int64_t line_total_hops(const Block& block) {
  const std::int64_t k = block.size;
  return (k - 1) * k * (k + 1) / 3;
}

/// The closer group uses all links between its neighbours both ways. A message of the wider group that leaves the
/// closer group's block crosses two links in succession, and one of them is inside the block.
bool line_parts_share(const LinePart& closer, const LinePart& wider) {
  return std::uint64_t{closer.stride} * closer.members <= wider.stride;
}

}  // namespace

constinit const BlockRule kLineRule{
    .name = "LI",
    .description = "line",
    .long_name = "line",
    .also = "chain path bus",
    .add_links = add_line_links,
    .count_links = [](const Dimension& d) { return 2 * std::uint64_t{d.lines()} * (d.size - 1); },
    // The ends too, so that every link of the line is alike; a line of one NPU has no link to share with.
    .bandwidth_shares = [](std::uint32_t size) { return size > 1 ? 2U : 1U; },
    .hops = [](std::uint32_t from, std::uint32_t to, const Block&) { return from < to ? to - from : from - to; },
    .mean_hops = [](const Block& block) { return (block.size - 1 / static_cast<double>(block.size)) / 3; },
    .degree = [](std::uint32_t size) { return std::min(size - 1, 2U); },
    .diameter_hops = [](const Block& block) { return block.size - 1; },
    .total_hops = line_total_hops,
    .step_toward = [](std::uint32_t from, std::uint32_t to, std::uint32_t) { return from < to ? from + 1 : from - 1; },
    // A member at an end of the line has one neighbour.
    .part =
        [](const Block&, const LinePart& p) {
          return BlockPart{{&kLineRule, p.members}, p.stride, 1, 1};
        },
    .parts_share = line_parts_share,
    .translations = [](std::uint32_t size) { return std::vector<std::uint32_t>(size == 2 ? 1 : 0, 1); },
    // There are k - 1 links each way; one of each k - 1 crosses the middle.
    .links_per_middle_link = [](std::uint32_t size) { return 2 * (size - 1); },
    .stepwise = true,
};

}  // namespace tenex
