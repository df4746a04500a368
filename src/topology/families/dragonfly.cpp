// dragonfly(a,g): g groups of a fully connected NPUs, one link each way per pair of groups.
//
// NPU u is in group u / a. Group G reaches the group at offset o (G + o mod g, 1 <= o < g) through its NPU (o-1) mod a:
// offsets are assigned to NPUs in turn. At the other end the same link has offset g - o. After Kim, Dally, Scott and
// Abts (ISCA 2008), with one link per pair. Group G can be renamed G + 1, so the NPUs of one group represent all.
#include <algorithm>
#include <numeric>

#include "topology/families/family.hpp"

namespace tenex {

namespace {

void add_dragonfly_links(FamilyArguments arguments, std::span<const LinkClass> links, TopologyBuilder& builder) {
  const std::size_t per_group = arguments[0];
  const std::size_t groups = arguments[1];
  const std::size_t npus = per_group * groups;
  for (std::size_t npu = 0; npu < npus; ++npu) {
    const std::size_t first = npu / per_group * per_group;
    for (std::size_t peer = first; peer < first + per_group; ++peer)
      if (peer != npu) add_family_link(builder, links[0], npu, peer);
  }
  for (std::size_t npu = 0; npu < npus; ++npu) {
    for (std::size_t offset = npu % per_group + 1; offset < groups; offset += per_group) {
      const std::size_t peer = (npu / per_group + offset) % groups;
      add_family_link(builder, links[1], npu, peer * per_group + (groups - offset - 1) % per_group);
    }
  }
}

/// The links between groups are shared by as many as NPU 0 of each group has, which gets the first offset.
std::vector<FamilyLevel> dragonfly_levels(FamilyArguments arguments) {
  const std::uint32_t per_group = arguments[0];
  const std::uint32_t groups = arguments[1];
  const auto most = (std::uint64_t{groups} - 1 + per_group - 1) / per_group;
  return {{std::uint64_t{groups} * per_group * (per_group - 1), std::max<std::uint32_t>(per_group - 1, 1)},
          {std::uint64_t{groups} * (groups - 1), std::max<std::uint32_t>(static_cast<std::uint32_t>(most), 1)}};
}

/// One hop within a group. Between groups one, and one more at each end unless the NPU has the link itself.
FamilyHops dragonfly_hops(FamilyArguments arguments) {
  const double per_group = arguments[0];
  const double groups = arguments[1];
  const double within = 1 - 1 / per_group;
  const double between = groups > 1 ? 1 + 2 * within : 0;
  return {within / groups + between * (1 - 1 / groups), within + between / per_group};
}

constexpr std::string_view kDragonflyLevels[] = {"within a group", "between groups"};

}  // namespace

constinit const FamilyRule kDragonflyFamily{
    .name = "dragonfly",
    .usage = "dragonfly(a,g)",
    .description = "g groups FC(a), one link per pair of groups",
    .arguments = 2,
    .npus = [](FamilyArguments a) { return std::uint64_t{a[0]} * a[1]; },
    .levels = dragonfly_levels,
    .level_names = kDragonflyLevels,
    .add_links = add_dragonfly_links,
    .hops = dragonfly_hops,
    .representatives =
        [](FamilyArguments a) {
          std::vector<std::uint32_t> first_group(a[0]);
          std::iota(first_group.begin(), first_group.end(), 0U);
          return first_group;
        },
};

}  // namespace tenex
