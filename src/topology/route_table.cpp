// What given routes say of a message, and what is left of them after a fault.
#include "topology/route_table.hpp"

#include <algorithm>
#include <utility>

#include "topology/hop_check.hpp"

namespace tenex {

std::span<const LinkId> RouteTable::links_of(const Hop& hop, VertexId at) const {
  if (hop.link == kAnyLink) return links_->between(at, hop.next);
  const auto named = rules_->first.between(at, hop.next).subspan(hop.link, 1);
  if (now_.empty()) return named;
  const LinkId& today = now_[named.front().index()];
  return today.exists() ? std::span(&today, 1) : std::span<const LinkId>();
}

std::span<const LinkId> RouteTable::links_of(const Way& way, std::size_t hop, NpuId source, NpuId destination) const {
  const auto vertex = [&](std::size_t i) { return rules_->vertices[way.first_vertex + i]; };
  const VertexId from = hop == 0 ? vertex_of(source) : vertex(hop - 1);
  const VertexId to = hop == way.vertices ? vertex_of(destination) : vertex(hop);
  return links_of({to, way.names_links ? rules_->links[way.first_link + hop] : kAnyLink}, from);
}

bool RouteTable::is_whole(const Way& way, NpuId source, NpuId destination) const {
  for (std::size_t hop = 0; hop <= way.vertices; ++hop)
    if (links_of(way, hop, source, destination).empty()) return false;
  return true;
}

std::span<const LinkId> RouteTable::next(VertexId at, NpuId source, NpuId destination) const {
  if (const auto number = rules_->pairs.find(source.value(), destination)) {
    const Way& way = rules_->ways[*number];
    if (now_.empty() || is_whole(way, source, destination)) {
      if (at == vertex_of(source)) return links_of(way, 0, source, destination);
      const auto vertices = std::span(rules_->vertices).subspan(way.first_vertex, way.vertices);
      const auto found = std::ranges::find(vertices, at);
      if (found != vertices.end())
        return links_of(way, static_cast<std::size_t>(found - vertices.begin()) + 1, source, destination);
    }
  }
  return next_of_hops(at, destination);
}

std::span<const LinkId> RouteTable::next_of_hops(VertexId at, NpuId destination) const {
  if (forgotten_.size() > 0 && forgotten_.test(destination.index())) return {};
  const auto number = rules_->next_hops.find(at.value(), destination);
  return number ? links_of(rules_->hops[*number], at) : std::span<const LinkId>();
}

std::shared_ptr<const RouteTable> RouteTable::without(const std::vector<bool>& drop, const Topology& kept) const {
  std::vector<LinkId> renamed(drop.size(), LinkId::none());
  std::uint32_t next = 0;
  for (std::size_t link = 0; link < drop.size(); ++link)
    if (!drop[link]) renamed[link] = LinkId(next++);
  auto table = std::make_shared<RouteTable>(*this);
  if (now_.empty()) {
    table->now_ = std::move(renamed);
  } else {
    for (LinkId& link : table->now_)
      if (link.exists()) link = renamed[link.index()];
  }
  table->links_ = std::make_shared<const LinksByTarget>(kept);
  table->forget_broken_hops(kept);
  return table;
}

void RouteTable::forget_broken_hops(const Topology& topology) {
  if (rules_->next_hops.empty()) return;
  if (forgotten_.size() == 0) forgotten_ = Bitset(topology.npus());
  HopCheck check(topology, *this);
  for (const NpuId destination : check.destinations())
    if (!forgotten_.test(destination.index()) && check.flaw(destination)) forgotten_.set(destination.index());
}

}  // namespace tenex
