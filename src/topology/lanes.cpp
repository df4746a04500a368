// Bundles by sorting the links between switches; fabrics by union-find.
#include "topology/lanes.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tenex {

namespace {

bool joins_switches(const Topology& topology, LinkId link) {
  return !topology.is_npu(topology.source(link)) && !topology.is_npu(topology.target(link));
}

/// The least number that is joined with `at`, with shorter ways for the next time.
std::size_t find(std::vector<std::size_t>& least, std::size_t at) {
  while (least[at] != at) at = least[at] = least[least[at]];
  return at;
}

}  // namespace

Fabrics::Fabrics(const Topology& topology) : npus_(topology.npus()), fabric_of_(topology.switches()) {
  std::iota(fabric_of_.begin(), fabric_of_.end(), std::size_t{0});
  for (std::size_t i = 0; i < topology.links(); ++i) {
    const LinkId link = LinkId::at(i);
    if (!joins_switches(topology, link)) continue;
    const std::size_t a = find(fabric_of_, topology.source(link).index() - npus_);
    const std::size_t b = find(fabric_of_, topology.target(link).index() - npus_);
    fabric_of_[std::max(a, b)] = std::min(a, b);
  }
  for (std::size_t hub = 0; hub < fabric_of_.size(); ++hub) {
    fabric_of_[hub] = find(fabric_of_, hub);
    const VertexId at = VertexId::at(npus_ + hub);
    for (const LinkId link : topology.out_links(at))
      if (topology.is_npu(topology.target(link))) attached_.emplace_back(fabric_of_[hub], topology.target(link));
    for (const LinkId link : topology.in_links(at))
      if (topology.is_npu(topology.source(link))) attached_.emplace_back(fabric_of_[hub], topology.source(link));
  }
  std::sort(attached_.begin(), attached_.end());
  attached_.erase(std::unique(attached_.begin(), attached_.end()), attached_.end());
}

std::size_t Fabrics::rank(VertexId at_switch, VertexId npu) const {
  const std::size_t fabric = fabric_of_[at_switch.index() - npus_];
  const auto first = std::lower_bound(attached_.begin(), attached_.end(), std::pair(fabric, VertexId(0)));
  return static_cast<std::size_t>(std::lower_bound(first, attached_.end(), std::pair(fabric, npu)) - first);
}

Bundles::Bundles(const Topology& topology) : topology_(&topology) {
  if (topology.switches() < 2) return;
  const auto ends = [&](LinkId link) { return std::pair(topology.source(link), topology.target(link)); };
  std::vector<LinkId> joins;
  for (std::size_t i = 0; i < topology.links(); ++i)
    if (joins_switches(topology, LinkId::at(i))) joins.push_back(LinkId::at(i));
  std::stable_sort(joins.begin(), joins.end(), [&](LinkId a, LinkId b) { return ends(a) < ends(b); });
  for (std::size_t i = 0; i < joins.size(); ++i)
    if ((i > 0 && ends(joins[i]) == ends(joins[i - 1])) ||
        (i + 1 < joins.size() && ends(joins[i]) == ends(joins[i + 1])))
      links_.push_back(joins[i]);
  if (!links_.empty()) fabrics_ = Fabrics(topology);
}

std::span<const LinkId> Bundles::bundle_of(LinkId link) const {
  if (empty() || !joins_switches(*topology_, link)) return {};
  const auto ends = [this](LinkId each) { return std::pair(topology_->source(each), topology_->target(each)); };
  const auto wanted = ends(link);
  const auto first = std::lower_bound(links_.begin(), links_.end(), wanted,
                                      [&](LinkId each, const auto& pair) { return ends(each) < pair; });
  const auto last =
      std::upper_bound(first, links_.end(), wanted, [&](const auto& pair, LinkId each) { return pair < ends(each); });
  return {first, last};
}

LinkId Bundles::first_of(LinkId link) const { return numbered(link, 0); }

LinkId Bundles::lane(LinkId link, VertexId end) const {
  return bundle_of(link).empty() ? link : numbered(link, rank(topology_->source(link), end));
}

LinkId Bundles::numbered(LinkId link, std::uint64_t number) const {
  const auto bundle = bundle_of(link);
  return bundle.empty() ? link : bundle[number % bundle.size()];
}

}  // namespace tenex
