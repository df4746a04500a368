// FC(k): a link from every NPU of a line to every other one.
#include <algorithm>
#include <numeric>

#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

void add_fully_connected_links(const Dimension& dimension, TopologyBuilder& builder) {
  if (dimension.size == 1) return;
  for (std::size_t npu = 0; npu < dimension.npus; ++npu) {
    const std::uint32_t at = dimension.position(npu);
    for (std::uint32_t to = 0; to < dimension.size; ++to) {
      if (to != at) dimension.connect(builder, npu, dimension.moved(npu, to));
    }
  }
}

/// Links are in the order of their targets; at position 0 the targets are the steps.
std::vector<std::uint32_t> fully_connected_translations(std::uint32_t size) {
  std::vector<std::uint32_t> steps(size - 1);
  std::iota(steps.begin(), steps.end(), 1U);
  return steps;
}

}  // namespace

constinit const BlockRule kFullyConnectedRule{
    .name = "FC",
    .description = "fully connected",
    .long_name = "fully_connected",
    .also = "full_mesh clique complete",
    .add_links = add_fully_connected_links,
    .count_links = [](const Dimension& d) { return std::uint64_t{d.npus} * (d.size - 1); },
    .bandwidth_shares = [](std::uint32_t size) { return std::max<std::uint32_t>(size - 1, 1); },
    .hops = [](std::uint32_t from, std::uint32_t to, const Block&) { return from == to ? 0U : 1U; },
    .mean_hops = [](const Block& block) { return 1 - 1 / static_cast<double>(block.size); },
    .degree = [](std::uint32_t size) { return size - 1; },
    .diameter_hops = [](const Block& block) { return block.size > 1 ? 1U : 0U; },
    .total_hops = [](const Block& block) { return std::int64_t{block.size} * (block.size - 1); },
    .step_toward = [](std::uint32_t, std::uint32_t to, std::uint32_t) { return to; },
    .part =
        [](const Block&, const LinePart& p) {
          return BlockPart{{&kFullyConnectedRule, p.members}, 1, 1, p.members - 1};
        },
    .parts_share = [](const LinePart&, const LinePart&) { return false; },
    .translations = fully_connected_translations,
    .all_neighbours = true,
};

}  // namespace tenex
