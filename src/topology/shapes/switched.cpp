// SW(k): one switch per line, a link from every NPU to it and back. SW(1) has nothing to connect and no switch.
// SW(k,l,..): a tree of switches per line instead of the one (switch_tree.hpp).
//
// Where switches cut through, their paths are wires (tenex/topology/wires.hpp): links from every NPU to every other
// one, as in FC(k), but with one port per NPU. Where a bundle of links joins two switches, a wire takes either the
// source's link of it or the target's, so two NPUs that meet above a bundle have up to two wires.
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "topology/shapes/block.hpp"
#include "topology/shapes/switch_tree.hpp"

namespace tenex {

namespace {

/// Joins the switches of one level to those above, all lines in turn. `first` is the first switch of the dimension.
void add_bundles(const Dimension& dimension, const SwitchTree& tree, std::size_t level, std::size_t first,
                 TopologyBuilder& builder) {
  for (std::size_t line = 0; line < dimension.lines(); ++line)
    for (std::uint32_t at = 0; at < dimension.size; at += tree.npus_below(level)) {
      const std::size_t lower = first + line * tree.switches() + tree.above(level, at);
      const std::size_t upper = first + line * tree.switches() + tree.above(level + 1, at);
      for (std::uint32_t lane = 0; lane < tree.lanes(level); ++lane) {
        dimension.connect(builder, lower, upper);
        dimension.connect(builder, upper, lower);
      }
    }
}

void add_switched_links(const Dimension& dimension, TopologyBuilder& builder) {
  if (dimension.size == 1) return;
  const SwitchTree tree(dimension.size, dimension.levels);
  std::vector<VertexId> switches;
  for (std::size_t i = 0; i < dimension.lines() * tree.switches(); ++i) switches.push_back(builder.add_switch());
  const std::size_t first = switches.front().index();
  for (std::size_t npu = 0; npu < dimension.npus; ++npu) {
    const std::size_t leaf = first + dimension.line_of(npu) * tree.switches() + tree.above(0, dimension.position(npu));
    dimension.connect(builder, npu, leaf);
    dimension.connect(builder, leaf, npu);
  }
  for (std::size_t level = 0; level < tree.top(); ++level) add_bundles(dimension, tree, level, first, builder);
}

std::uint64_t count_links(const Dimension& dimension) {
  if (dimension.size == 1) return 0;
  const SwitchTree tree(dimension.size, dimension.levels);
  std::uint64_t pairs = dimension.npus;
  for (std::size_t level = 0; level < tree.top(); ++level)
    pairs += std::uint64_t{dimension.lines()} * tree.switches(level) * tree.lanes(level);
  return 2 * pairs;
}

std::uint64_t count_switches_of(const Dimension& dimension) {
  return dimension.size > 1 ? dimension.lines() * SwitchTree(dimension.size, dimension.levels).switches() : 0;
}

std::uint32_t switched_hops(std::uint32_t from, std::uint32_t to, const Block& block) {
  if (from == to) return 0;
  return 2 * static_cast<std::uint32_t>(SwitchTree(block.size, block.levels).meeting(from, to) + 1);
}

std::uint32_t diameter_hops(const Block& block) {
  return block.size > 1 ? 2 * static_cast<std::uint32_t>(block.levels.size() + 1) : 0;
}

/// From each position, two hops more to those beyond each level.
std::int64_t switched_total_hops(const Block& block) {
  std::int64_t of_one = 2 * (std::int64_t{block.size} - 1);
  for (const SwitchLevel& level : block.levels) of_one += 2 * (std::int64_t{block.size} - level.npus);
  return block.size * of_one;
}

/// As switched_total_hops(), of a mean pair.
double switched_mean_hops(const Block& block) {
  double hops = 2 * (1 - 1 / static_cast<double>(block.size));
  for (const SwitchLevel& level : block.levels) hops += 2 * (1 - level.npus / static_cast<double>(block.size));
  return hops;
}

/// The levels that a group's messages climb, as a tree of its members: nullopt unless every one of its switches has
/// several members and a whole number of links for them.
std::optional<std::vector<SwitchLevel>> levels_of_part(const std::vector<SwitchLevel>& climbed, const LinePart& part) {
  std::vector<SwitchLevel> levels;
  std::uint32_t below = 1;
  std::uint32_t lanes = 1;
  for (const SwitchLevel& level : climbed) {
    const std::uint32_t members = level.npus / part.stride;
    if (level.npus % part.stride != 0 || members == below || part.members % members != 0) return std::nullopt;
    const std::uint32_t from_below = members / below * lanes;
    if (from_below % level.oversubscription != 0) return std::nullopt;
    lanes = from_below / level.oversubscription;
    below = members;
    levels.push_back({members, level.oversubscription});
  }
  return levels;
}

/// A group within one switch has that switch. One that climbs has a tree, where its members fill switches; where they
/// do not, it has its share of the narrowest level and the latency of the longest way.
BlockPart part_of(const Block& block, const LinePart& part) {
  const std::uint32_t span = part.members * part.stride;
  std::vector<SwitchLevel> climbed;
  for (const SwitchLevel& level : block.levels) {
    if (level.npus % span == 0) break;
    climbed.push_back(level);
  }
  if (auto levels = levels_of_part(climbed, part)) return {{block.rule, part.members, *std::move(levels)}, 1, 1, 1};
  BlockPart flat{{block.rule, part.members}, 1, 1, 1};
  flat.climb = static_cast<std::uint32_t>(climbed.size() + 1);
  for (const SwitchLevel& level : climbed) flat.oversubscription *= level.oversubscription;
  return flat;
}

/// One wire to every NPU on the same leaf, and beyond two: by the source's links and by the target's. They are one
/// where the two positions have the same remainder for every bundle on the way: the numbers of links divide the number
/// of NPUs below, so one in (their least common multiple) has.
std::uint64_t count_wires_of_tree(const Dimension& dimension) {
  const SwitchTree tree(dimension.size, dimension.levels);
  std::uint64_t of_npu = tree.npus_below(0) - 1;
  std::uint64_t period = 1;
  for (std::size_t level = 0; level < tree.top(); ++level) {
    const std::uint64_t beyond = tree.npus_below(level + 1) - tree.npus_below(level);
    period = std::lcm(period, std::uint64_t{tree.lanes(level)});
    of_npu += 2 * beyond - beyond / period;
  }
  return dimension.npus * of_npu;
}

}  // namespace

extern const BlockRule kWiredSwitchRule;
extern const BlockRule kWiredTreeRule;

/// The wires of a tree. No translation by one position keeps a tree, nor do two wires of a pair stand where those of a
/// fully connected block do, so nothing that relies on either applies.
constexpr BlockRule kWiredTree{
    .name = "SW",
    .description = "switches that cut through",
    .long_name = {},
    .add_links = [](const Dimension& d, TopologyBuilder& builder) { kFullyConnectedRule.add_links(d, builder); },
    .count_links = count_wires_of_tree,
    .bandwidth_shares = [](std::uint32_t) { return 1U; },
    .hops = [](std::uint32_t from, std::uint32_t to, const Block&) { return from == to ? 0U : 1U; },
    .mean_hops = [](const Block& block) { return kFullyConnectedRule.mean_hops(block); },
    .degree = [](std::uint32_t size) { return size - 1; },
    .diameter_hops = [](const Block& block) { return block.size > 1 ? 1U : 0U; },
    .total_hops = [](const Block& block) { return std::int64_t{block.size} * (block.size - 1); },
    .step_toward = [](std::uint32_t, std::uint32_t to, std::uint32_t) { return to; },
    .part = part_of,
    .parts_share = [](const LinePart&, const LinePart&) { return true; },
    .one_port = true,
};

constinit const BlockRule kWiredTreeRule = kWiredTree;

/// The wires of one switch: a tree of one level, which translations keep.
constinit const BlockRule kWiredSwitchRule = [] {
  BlockRule rule = kWiredTree;
  rule.description = "switch that cuts through";
  rule.count_links = [](const Dimension& d) { return kFullyConnectedRule.count_links(d); };
  rule.translations = [](std::uint32_t size) { return kFullyConnectedRule.translations(size); };
  rule.all_neighbours = true;
  return rule;
}();

constinit const BlockRule kSwitchRule{
    .name = "SW",
    .description = "switch; SW(32,8:2) is a tree: leaf switches of 8 NPUs, half as many links up",
    .long_name = "switch",
    .also = "crossbar star hub",
    .add_links = add_switched_links,
    .count_links = count_links,
    .count_switches = count_switches_of,
    .bandwidth_shares = [](std::uint32_t) { return 1U; },
    .hops = switched_hops,
    .mean_hops = switched_mean_hops,
    .degree = [](std::uint32_t size) { return size > 1 ? 1U : 0U; },
    .diameter_hops = diameter_hops,
    .total_hops = switched_total_hops,
    .step_toward = [](std::uint32_t, std::uint32_t to, std::uint32_t) { return to; },
    .part = part_of,
    .parts_share = [](const LinePart&, const LinePart&) { return true; },  // every member uses its link to the switch
    .through_switch = true,
    .takes_levels = true,
    .wired = [](const Block& block) { return block.levels.empty() ? &kWiredSwitchRule : &kWiredTreeRule; },
    .one_port = true,
};

}  // namespace tenex
