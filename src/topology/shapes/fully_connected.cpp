// FC(k): a link from every NPU of a line to every other one.
#include <algorithm>

#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

void add_links(const Dimension& dimension, TopologyBuilder& builder) {
  if (dimension.size == 1) return;
  for (std::size_t npu = 0; npu < dimension.npus; ++npu) {
    const std::uint32_t at = dimension.position(npu);
    for (std::uint32_t to = 0; to < dimension.size; ++to) {
      if (to != at) dimension.connect(builder, npu, dimension.moved(npu, to));
    }
  }
}

}  // namespace

constinit const BlockRule kFullyConnectedRule{
    .kind = BlockKind::fully_connected,
    .name = "FC",
    .add_links = add_links,
    .count_links = [](const Dimension& d) { return std::uint64_t{d.npus} * (d.size - 1); },
    .count_switches = [](const Dimension&) { return std::uint64_t{0}; },
    .bandwidth_shares = [](const Dimension& d) { return std::max<std::uint32_t>(d.size - 1, 1); },
    .diameter_hops = [](std::uint32_t size) { return size > 1 ? 1U : 0U; },
    .step_toward = [](std::uint32_t, std::uint32_t to, std::uint32_t) { return to; },
};

}  // namespace tenex
