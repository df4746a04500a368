// The global links of dragonfly(a,g): g groups of a NPUs, one link each way per pair of groups.
//
// The groups follow the dimension FC(a), so the stride here is a and the position is the group. Group G reaches the
// group at offset o (G + o mod g, 1 <= o < g) through its NPU (o-1) mod a: offsets are assigned to NPUs in turn. At the
// other end the same link has offset g - o. After Kim, Dally, Scott and Abts (ISCA 2008), with one link per pair.
#include <algorithm>

#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

void add_links(const Dimension& dimension, TopologyBuilder& builder) {
  const std::size_t groups = dimension.size;
  const std::size_t per_group = dimension.stride;
  for (std::size_t npu = 0; npu < dimension.npus; ++npu) {
    const std::size_t group = npu / per_group;
    for (std::size_t offset = npu % per_group + 1; offset < groups; offset += per_group) {
      const std::size_t peer = (group + offset) % groups;
      dimension.connect(builder, npu, peer * per_group + (groups - offset - 1) % per_group);
    }
  }
}

/// The most global links that one NPU has: those of NPU 0 of each group, which gets the first offset.
std::uint32_t bandwidth_shares(std::uint32_t groups, std::size_t per_group) {
  const auto most = (groups - 1 + per_group - 1) / per_group;
  return std::max<std::uint32_t>(static_cast<std::uint32_t>(most), 1);
}

}  // namespace

constinit const BlockRule kDragonflyGroupsRule{
    .name = "",  // written as dragonfly(a,g), see aliases.cpp
    .description = "groups of a dragonfly",
    .add_links = add_links,
    .count_links = [](const Dimension& d) { return std::uint64_t{d.size} * (d.size - 1); },
    .bandwidth_shares = bandwidth_shares,
    // One hop in the source's group, one between the groups, one in the target's group. A dragonfly is no product:
    // routes and distances are searched for.
    .hops = [](std::uint32_t from, std::uint32_t to, std::uint32_t) { return from == to ? 0U : 3U; },
    .mean_hops = [](std::uint32_t) { return 2.0; },
};

}  // namespace tenex
