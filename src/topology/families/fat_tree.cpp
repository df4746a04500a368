// fat_tree(k): the three-level tree of k-port switches of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008), k even.
//
// k pods have k/2 edge switches and k/2 aggregation switches each; k/2 NPUs hang on an edge switch; there are (k/2)^2
// core switches. With h = k/2, NPU u is on edge switch u / h, and edge switch e is in pod e / h. Within a pod every
// edge switch is joined with every aggregation switch. Aggregation switch a of each pod is joined with the core
// switches a h .. a h + h - 1, so every core switch reaches every pod once. Switches are numbered edge, aggregation,
// core. A permutation of pods, of a pod's edge switches or of an edge switch's NPUs is a symmetry: all NPUs are alike.
#include <fmt/core.h>

#include "topology/families/family.hpp"

namespace tenex {

namespace {

std::optional<ArgumentFault> fat_tree_fault(FamilyArguments arguments) {
  const std::uint32_t ports = arguments[0];
  if (ports % 2 == 0) return std::nullopt;
  return ArgumentFault{0, fmt::format("half of a switch's {} ports lead down and half lead up", ports),
                       fmt::format("use fat_tree({})", ports + 1)};
}

std::uint64_t npus(FamilyArguments arguments) {
  const std::uint64_t half = arguments[0] / 2;
  return 2 * half * half * half;
}

void add_fat_tree_links(FamilyArguments arguments, std::span<const LinkClass> links, TopologyBuilder& builder) {
  const std::size_t half = arguments[0] / 2;
  const std::size_t pods = 2 * half;
  const std::size_t edge_switches = pods * half;
  const auto first_edge = static_cast<std::size_t>(npus(arguments));
  const std::size_t first_aggregation = first_edge + edge_switches;
  const std::size_t first_core = first_aggregation + edge_switches;
  for (std::size_t i = 0; i < 2 * edge_switches + half * half; ++i) builder.add_switch();
  for (std::size_t npu = 0; npu < first_edge; ++npu) add_family_pair(builder, links[0], npu, first_edge + npu / half);
  for (std::size_t edge = 0; edge < edge_switches; ++edge)
    for (std::size_t a = 0; a < half; ++a)
      add_family_pair(builder, links[1], first_edge + edge, first_aggregation + edge / half * half + a);
  for (std::size_t aggregation = 0; aggregation < edge_switches; ++aggregation)
    for (std::size_t c = 0; c < half; ++c)
      add_family_pair(builder, links[2], first_aggregation + aggregation, first_core + aggregation % half * half + c);
}

/// Every level has as many links as there are NPUs, each way.
std::vector<FamilyLevel> fat_tree_levels(FamilyArguments arguments) {
  const FamilyLevel level{2 * npus(arguments), 1};
  return {level, level, level};
}

/// Two hops over a common edge switch, four within a pod, six between pods.
FamilyHops fat_tree_hops(FamilyArguments arguments) {
  const double half = arguments[0] / 2;  // NOLINT(bugprone-integer-division): even
  const double n = 2 * half * half * half;
  const double same_edge = half / n;
  const double same_pod = half * half / n;
  const double pair = 2 * (same_edge - 1 / n) + 4 * (same_pod - same_edge) + 6 * (1 - same_pod);
  return {pair, 2 + 2 / half + 2 / (half * half)};
}

/// Up, over any of h links, until a switch above the destination; then down the one way. Aggregation switches of one
/// number lead to the same core switches, and edge switches choose the number, so the core follows from both choices.
EqualLinks fat_tree_next_links(FamilyArguments arguments, std::size_t at, std::size_t to) {
  const std::uint32_t half = arguments[0] / 2;
  const auto npus_of_all = static_cast<std::size_t>(npus(arguments));
  const std::size_t edge_switches = 2 * std::size_t{half} * half;
  const auto pair = [&](std::size_t level, std::size_t number) { return 2 * (level * npus_of_all + number); };
  if (at < npus_of_all) return {pair(0, at)};
  const std::size_t number = at - npus_of_all;
  const std::size_t edge_of_target = to / half;
  const std::size_t pod_of_target = edge_of_target / half;
  if (number < edge_switches) {
    if (number == edge_of_target) return {pair(0, to) + 1};
    return {pair(1, number * half), half, 1};
  }
  if (number < 2 * edge_switches) {
    const std::size_t aggregation = number - edge_switches;
    if (aggregation / half == pod_of_target) return {pair(1, edge_of_target * half + aggregation % half) + 1};
    return {pair(2, aggregation * half), half, half};
  }
  const std::size_t core = number - 2 * edge_switches;
  return {pair(2, (pod_of_target * half + core / half) * half + core % half) + 1};
}

constexpr std::string_view kFatTreeLevels[] = {"NPU-edge", "edge-aggregation", "aggregation-core"};

}  // namespace

constinit const FamilyRule kFatTreeFamily{
    .name = "fat_tree",
    .usage = "fat_tree(k)",
    .description = "k^3/4 NPUs under three levels of k-port switches",
    .also = "clos tree",
    .arguments = 1,
    .largest_argument = 2048,  // 2048^3 / 4 = 2^31
    .fault = fat_tree_fault,
    .npus = npus,
    .switches =
        [](FamilyArguments a) {
          const std::uint64_t half = a[0] / 2;
          return 5 * half * half;
        },
    .domains = [](FamilyArguments a) { return std::vector{npus(a)}; },
    .levels = fat_tree_levels,
    .level_names = kFatTreeLevels,
    .add_links = add_fat_tree_links,
    .hops = fat_tree_hops,
    .next_links = fat_tree_next_links,
    .most_routes = [](FamilyArguments k) { return std::uint64_t{k[0] / 2} * (k[0] / 2); },
    .representatives = [](FamilyArguments) { return std::vector<std::uint32_t>{0}; },
};

}  // namespace tenex
