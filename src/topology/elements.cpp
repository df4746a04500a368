// The fabric from a shape's own order of links, or from their bandwidths; its switches by a search from the leaves.
// Where every switch that the slowest links lead to is a NIC, the fabric begins behind the NICs.
#include "tenex/topology/elements.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "tenex/topology/family.hpp"
#include "tenex/topology/shape.hpp"
#include "topology/dimensions.hpp"

namespace tenex {

namespace {

/// Where the links of each dimension or level end, in the order of links; empty without a shape.
std::vector<std::uint64_t> link_ends_by_level(const Topology& topology) {
  std::vector<std::uint64_t> ends;
  if (!topology.shape()) return ends;
  const Shape& shape = *topology.shape();
  std::uint64_t links = 0;
  if (!shape.is_product())
    for (const FamilyLevel& level : shape.family->levels(shape.arguments)) ends.push_back(links += level.links);
  for (std::size_t i = 0; i < shape.blocks.size(); ++i)
    ends.push_back(links += shape.blocks[i].rule->count_links(dimension_of(shape, i)));
  return ends;
}

bool leads_into_switch(const Topology& topology, LinkId link) {
  return topology.is_npu(topology.source(link)) && !topology.is_npu(topology.target(link));
}

/// The range of links among which those of an NPU into a switch are NICs.
std::pair<std::size_t, std::size_t> fabric_links(const Topology& topology) {
  const auto ends = link_ends_by_level(topology);
  for (std::size_t i = ends.size(); i-- > 0;) {
    const std::size_t first = i == 0 ? 0 : ends[i - 1];
    for (std::size_t link = first; link < ends[i]; ++link)
      if (leads_into_switch(topology, LinkId::at(link))) return {first, ends[i]};
  }
  return {0, topology.links()};
}

/// The switch that `hub` has links to; none where there are several, or no one.
VertexId only_switch_beside(const Topology& topology, VertexId hub) {
  VertexId only = VertexId::none();
  for (const LinkId link : topology.out_links(hub)) {
    const VertexId next = topology.target(link);
    if (topology.is_npu(next) || next == only) continue;
    if (only.exists()) return VertexId::none();
    only = next;
  }
  return only;
}

}  // namespace

std::vector<std::uint32_t> boxes_without(const Topology& topology, const std::vector<VertexId>& switches) {
  constexpr auto kUnseen = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> box(topology.vertices(), kUnseen);
  for (std::uint32_t npu = 0; npu < topology.npus(); ++npu) {
    if (box[npu] != kUnseen) continue;
    box[npu] = npu;
    std::vector<VertexId> reached{VertexId(npu)};
    for (std::size_t i = 0; i < reached.size(); ++i)
      for (const LinkId link : topology.out_links(reached[i])) {
        const VertexId next = topology.target(link);
        if (box[next.index()] != kUnseen || std::ranges::binary_search(switches, next)) continue;
        box[next.index()] = npu;
        reached.push_back(next);
      }
  }
  return box;
}

std::string_view to_string(NetworkElement element) {
  switch (element) {
    case NetworkElement::npu:
      return "npu";
    case NetworkElement::nic:
      return "nic";
    case NetworkElement::leaf:
      return "leaf";
    case NetworkElement::spine:
      return "spine";
    case NetworkElement::plane:
      return "plane";
    case NetworkElement::link:
      return "link";
  }
  return {};
}

NetworkElements::NetworkElements(const Topology& topology) : npus_(topology.npus()) {
  for (std::size_t link = 0; link < topology.links(); ++link)
    linked_.push_back(std::minmax({topology.source(LinkId::at(link)), topology.target(LinkId::at(link))}));
  std::sort(linked_.begin(), linked_.end());
  linked_.erase(std::unique(linked_.begin(), linked_.end()), linked_.end());
  find_nics(topology);
  find_planes(topology);
}

std::size_t NetworkElements::count(NetworkElement element) const {
  switch (element) {
    case NetworkElement::npu:
      return npus_;
    case NetworkElement::nic:
      return nics_.size();
    case NetworkElement::leaf:
      return leaves_.size();
    case NetworkElement::spine:
      return spines_.size();
    case NetworkElement::plane:
      return planes_.size();
    case NetworkElement::link:
      return linked_.size();
  }
  return 0;
}

void NetworkElements::find_nics(const Topology& topology) {
  const auto [first, end] = fabric_links(topology);
  Bandwidth slowest = Bandwidth::max();
  for (std::size_t link = first; link < end && !topology.shape(); ++link)
    if (leads_into_switch(topology, LinkId::at(link)))
      slowest = std::min(slowest, topology.bandwidth(LinkId::at(link)));
  for (std::size_t npu = 0; npu < npus_; ++npu) {
    std::map<VertexId, std::uint32_t> seen;
    for (const LinkId link : topology.out_links(VertexId::at(npu))) {
      const VertexId hub = topology.target(link);
      const std::uint32_t parallel = seen[hub]++;
      const bool of_fabric = link.index() >= first && link.index() < end && topology.bandwidth(link) <= slowest;
      if (!topology.is_npu(hub) && of_fabric) nics_.push_back({VertexId::at(npu), hub, parallel, {NpuId::at(npu)}});
    }
  }
  if (!topology.shape()) climb_to_fabric(topology);
  for (const NicLink& nic : nics_) leaves_.push_back(nic.hub);
  std::sort(leaves_.begin(), leaves_.end());
  leaves_.erase(std::unique(leaves_.begin(), leaves_.end()), leaves_.end());
}

/// Replaces the links to hubs by those of the hubs into the fabric, where every hub is a NIC.
void NetworkElements::climb_to_fabric(const Topology& topology) {
  std::map<VertexId, std::vector<NpuId>> below;  // by hub
  for (const NicLink& nic : nics_) {
    auto& npus = below[nic.hub];
    if (npus.empty() || npus.back() != nic.npus.front()) npus.push_back(nic.npus.front());
  }
  std::vector<VertexId> hubs;
  for (const auto& entry : below) hubs.push_back(entry.first);
  const auto box = boxes_without(topology, hubs);
  std::vector<NicLink> climbed;
  for (const auto& [hub, npus] : below) {
    const auto box_of = [&](NpuId npu) { return box[npu.index()]; };
    const VertexId leaf = only_switch_beside(topology, hub);
    if (!leaf.exists() || std::ranges::adjacent_find(npus, std::ranges::not_equal_to(), box_of) != npus.end()) return;
    std::uint32_t parallel = 0;
    for (const LinkId link : topology.out_links(hub))
      if (topology.target(link) == leaf) climbed.push_back({hub, leaf, parallel++, npus});
  }
  nics_ = std::move(climbed);
}

/// A search over switches from each leaf that no plane has yet; another one, from all leaves, counts the levels.
void NetworkElements::find_planes(const Topology& topology) {
  constexpr auto kUnseen = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> level(topology.vertices(), kUnseen);
  std::vector<VertexId> all = leaves_;
  for (const VertexId leaf : leaves_) level[leaf.index()] = 0;
  const auto visit_switches = [&](VertexId at, const auto& visit) {
    for (const LinkId link : topology.out_links(at))
      if (!topology.is_npu(topology.target(link))) visit(topology.target(link));
  };
  for (std::size_t i = 0; i < all.size(); ++i)
    visit_switches(all[i], [&](VertexId next) {
      if (level[next.index()] != kUnseen) return;
      level[next.index()] = level[all[i].index()] + 1;
      all.push_back(next);
    });
  std::uint32_t highest = 0;
  for (const VertexId hub : all) highest = std::max(highest, level[hub.index()]);
  for (const VertexId hub : all)
    if (highest > 0 && level[hub.index()] == highest) spines_.push_back(hub);
  std::sort(spines_.begin(), spines_.end());

  std::vector<bool> placed(topology.vertices(), false);
  for (const VertexId leaf : leaves_) {
    if (placed[leaf.index()]) continue;
    placed[leaf.index()] = true;
    std::vector<VertexId> plane{leaf};
    for (std::size_t i = 0; i < plane.size(); ++i)
      visit_switches(plane[i], [&](VertexId next) {
        if (placed[next.index()]) return;
        placed[next.index()] = true;
        plane.push_back(next);
      });
    std::sort(plane.begin(), plane.end());
    planes_.push_back(std::move(plane));
  }
}

}  // namespace tenex
