// LI(k): a line, a link each way between consecutive NPUs.
#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

void add_links(const Dimension& dimension, TopologyBuilder& builder) {
  for (std::size_t npu = 0; npu < dimension.npus; ++npu) {
    const std::uint32_t at = dimension.position(npu);
    if (at + 1 < dimension.size) dimension.connect(builder, npu, dimension.moved(npu, at + 1));
    if (at > 0) dimension.connect(builder, npu, dimension.moved(npu, at - 1));
  }
}

}  // namespace

constinit const BlockRule kLineRule{
    .kind = BlockKind::line,
    .name = "LI",
    .add_links = add_links,
    .count_links = [](const Dimension& d) { return 2 * std::uint64_t{d.lines()} * (d.size - 1); },
    .count_switches = [](const Dimension&) { return std::uint64_t{0}; },
    // The ends too, so that every link of the line is alike; a line of one NPU has no link to share with.
    .bandwidth_shares = [](const Dimension& d) { return d.size > 1 ? 2U : 1U; },
    .diameter_hops = [](std::uint32_t size) { return size - 1; },
    .step_toward = [](std::uint32_t from, std::uint32_t to, std::uint32_t) { return from < to ? from + 1 : from - 1; },
};

}  // namespace tenex
