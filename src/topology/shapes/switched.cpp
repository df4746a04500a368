// SW(k): one switch per line, a link from every NPU to it and back. SW(1) has nothing to connect and no switch.
//
// Where switches cut through, their paths are wires (tenex/topology/wires.hpp): links from every NPU to every other
// one, as in FC(k), but with one port per NPU.
#include <vector>

#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

void add_links(const Dimension& dimension, TopologyBuilder& builder) {
  if (dimension.size == 1) return;
  std::vector<VertexId> switches;
  for (std::size_t line = 0; line < dimension.lines(); ++line) switches.push_back(builder.add_switch());
  for (std::size_t npu = 0; npu < dimension.npus; ++npu) {
    const std::size_t hub = switches[dimension.line_of(npu)].index();
    dimension.connect(builder, npu, hub);
    dimension.connect(builder, hub, npu);
  }
}

}  // namespace

extern const BlockRule kWiredSwitchRule;

constinit const BlockRule kWiredSwitchRule{
    .name = "SW",
    .description = "switch that cuts through",
    .add_links = [](const Dimension& d, TopologyBuilder& builder) { kFullyConnectedRule.add_links(d, builder); },
    .count_links = [](const Dimension& d) { return kFullyConnectedRule.count_links(d); },
    .bandwidth_shares = [](std::uint32_t) { return 1U; },
    .hops = [](std::uint32_t from, std::uint32_t to, std::uint32_t) { return from == to ? 0U : 1U; },
    .mean_hops = [](std::uint32_t size) { return kFullyConnectedRule.mean_hops(size); },
    .degree = [](std::uint32_t size) { return size - 1; },
    .diameter_hops = [](std::uint32_t size) { return size > 1 ? 1U : 0U; },
    .total_hops = [](std::uint32_t size) { return std::int64_t{size} * (size - 1); },
    .step_toward = [](std::uint32_t, std::uint32_t to, std::uint32_t) { return to; },
    .part =
        [](const LinePart& p) {
          return BlockPart{{&kWiredSwitchRule, p.members}, 1, 1, 1};
        },
    .parts_share = [](const LinePart&, const LinePart&) { return true; },
    .translations = [](std::uint32_t size) { return kFullyConnectedRule.translations(size); },
    .one_port = true,
    .all_neighbours = true,
};

constinit const BlockRule kSwitchRule{
    .name = "SW",
    .description = "switch",
    .add_links = add_links,
    .count_links = [](const Dimension& d) { return d.size > 1 ? 2 * std::uint64_t{d.npus} : 0; },
    .count_switches = [](const Dimension& d) { return d.size > 1 ? std::uint64_t{d.lines()} : 0; },
    .bandwidth_shares = [](std::uint32_t) { return 1U; },
    .hops = [](std::uint32_t from, std::uint32_t to, std::uint32_t) { return from == to ? 0U : 2U; },
    .mean_hops = [](std::uint32_t size) { return 2 * (1 - 1 / static_cast<double>(size)); },
    .degree = [](std::uint32_t size) { return size > 1 ? 1U : 0U; },
    .diameter_hops = [](std::uint32_t size) { return size > 1 ? 2U : 0U; },
    .total_hops = [](std::uint32_t size) { return 2 * std::int64_t{size} * (size - 1); },
    .step_toward = [](std::uint32_t, std::uint32_t to, std::uint32_t) { return to; },
    .part =
        [](const LinePart& p) {
          return BlockPart{{&kSwitchRule, p.members}, 1, 1, 1};
        },
    .parts_share = [](const LinePart&, const LinePart&) { return true; },  // every member uses its link to the switch
    .through_switch = true,
    .wired = &kWiredSwitchRule,
    .one_port = true,
};

}  // namespace tenex
