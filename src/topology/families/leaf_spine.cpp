// leaf_spine(n,l,s): l leaf switches with n NPUs each, and s spine switches, each joined with every leaf.
//
// NPU u is on leaf u / n. Leaves are numbered before spines. With equal links the n NPUs of a leaf share s links up:
// the oversubscription is n : s. A folded Clos network of two levels (Clos, 1953). All NPUs are alike.
#include "topology/families/family.hpp"

namespace tenex {

namespace {

void add_leaf_spine_links(FamilyArguments arguments, std::span<const LinkClass> links, TopologyBuilder& builder) {
  const std::size_t per_leaf = arguments[0];
  const std::size_t leaves = arguments[1];
  const std::size_t spines = arguments[2];
  const std::size_t npus = per_leaf * leaves;
  for (std::size_t i = 0; i < leaves + spines; ++i) builder.add_switch();
  for (std::size_t npu = 0; npu < npus; ++npu) add_family_pair(builder, links[0], npu, npus + npu / per_leaf);
  for (std::size_t leaf = 0; leaf < leaves; ++leaf)
    for (std::size_t spine = 0; spine < spines; ++spine)
      add_family_pair(builder, links[1], npus + leaf, npus + leaves + spine);
}

/// Two hops on a leaf, four between leaves.
FamilyHops leaf_spine_hops(FamilyArguments arguments) {
  const double per_leaf = arguments[0];
  const double leaves = arguments[1];
  const double beyond = leaves > 1 ? 2 : 0;
  return {2 * (1 - 1 / (per_leaf * leaves)) + beyond * (1 - 1 / leaves), 2 + beyond / per_leaf};
}

/// Between leaves over any spine.
EqualLinks leaf_spine_next_links(FamilyArguments arguments, std::size_t at, std::size_t to) {
  const std::size_t per_leaf = arguments[0];
  const std::size_t leaves = arguments[1];
  const std::uint32_t spines = arguments[2];
  const std::size_t npus = per_leaf * leaves;
  const std::size_t leaf_of_target = to / per_leaf;
  const auto to_spine = [&](std::size_t leaf, std::size_t spine) { return 2 * (npus + leaf * spines + spine); };
  if (at < npus) return {2 * at};
  if (at >= npus + leaves) return {to_spine(leaf_of_target, at - npus - leaves) + 1};
  if (at - npus == leaf_of_target) return {2 * to + 1};
  return {to_spine(at - npus, 0), spines, 1};
}

constexpr std::string_view kLeafSpineLevels[] = {"NPU-leaf", "leaf-spine"};

}  // namespace

constinit const FamilyRule kLeafSpineFamily{
    .name = "leaf_spine",
    .usage = "leaf_spine(n,l,s)",
    .description = "l leaf switches with n NPUs each, all joined with s spine switches",
    .also = "clos spine_leaf",
    .arguments = 3,
    .npus = [](FamilyArguments a) { return std::uint64_t{a[0]} * a[1]; },
    .switches = [](FamilyArguments a) { return std::uint64_t{a[1]} + a[2]; },
    .domains = [](FamilyArguments a) { return std::vector{std::uint64_t{a[0]} * a[1]}; },
    .levels =
        [](FamilyArguments a) {
          return std::vector<FamilyLevel>{{2 * std::uint64_t{a[0]} * a[1], 1}, {2 * std::uint64_t{a[1]} * a[2], 1}};
        },
    .level_names = kLeafSpineLevels,
    .add_links = add_leaf_spine_links,
    .hops = leaf_spine_hops,
    .next_links = leaf_spine_next_links,
    .most_routes = [](FamilyArguments arguments) { return std::uint64_t{arguments[2]}; },
    .representatives = [](FamilyArguments) { return std::vector<std::uint32_t>{0}; },
};

}  // namespace tenex
