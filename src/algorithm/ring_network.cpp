// The graphs over which cycles are laid (ring_network.hpp).
#include "algorithm/ring_network.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "tenex/topology/routes.hpp"

namespace tenex {

void RingNetwork::add_arc(Arc arc, std::span<const std::uint32_t> links) {
  const auto id = static_cast<std::uint32_t>(arcs_.size());
  arc_[std::size_t{arc.from} * members_ + arc.to] = id;
  arcs_.push_back(arc);
  links_of_.insert(links_of_.end(), links.begin(), links.end());
  first_link_.push_back(links_of_.size());
  from_[arc.from].push_back(id);
}

std::uint32_t RingNetwork::add_link(std::int64_t capacity) {
  capacity_.push_back(capacity);
  return static_cast<std::uint32_t>(capacity_.size() - 1);
}

std::vector<std::vector<std::uint32_t>> RingNetwork::cuts() const {
  std::vector<std::int64_t> speed;  // by arc: that of its slowest link
  std::vector<std::uint32_t> slowest;
  for (std::uint32_t a = 0; a < arcs_.size(); ++a) {
    slowest.push_back(*std::ranges::min_element(links(a), {}, [&](auto link) { return capacity_[link]; }));
    speed.push_back(capacity_[slowest.back()]);
  }
  std::set<std::vector<std::uint32_t>> cuts;
  const auto add_cuts = [&](const std::vector<std::uint32_t>& part_of, std::uint32_t parts) {
    // Any link of each arc will do: the first ones, the last ones and the slowest ones are three cuts.
    std::vector<std::array<std::set<std::uint32_t>, 6>> around(parts);
    for (std::uint32_t a = 0; a < arcs_.size(); ++a) {
      const auto from = part_of[arcs_[a].from];
      const auto to = part_of[arcs_[a].to];
      if (from == to) continue;
      const std::array chosen{links(a).front(), links(a).back(), slowest[a]};
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        around[from][2 * i].insert(chosen[i]);
        around[to][2 * i + 1].insert(chosen[i]);
      }
    }
    if (parts == 1) return;
    for (const auto& sets : around)
      for (const auto& set : sets) cuts.emplace(set.begin(), set.end());
  };
  std::vector<std::uint32_t> part_of(members_);
  std::iota(part_of.begin(), part_of.end(), 0U);
  add_cuts(part_of, members_);
  const std::set<std::int64_t, std::greater<>> speeds(speed.begin(), speed.end());
  std::size_t looked_at = 0;
  for (const auto least : speeds) {
    if (looked_at++ == kMostSpeeds) break;
    const auto parts = join_parts(speed, least, part_of);
    add_cuts(part_of, parts);
  }
  return {cuts.begin(), cuts.end()};
}

std::uint32_t RingNetwork::join_parts(const std::vector<std::int64_t>& speed, std::int64_t least,
                                      std::vector<std::uint32_t>& part_of) const {
  std::vector<std::uint32_t> root(members_);
  std::iota(root.begin(), root.end(), 0U);
  const auto root_of = [&](std::uint32_t u) {
    while (root[u] != u) u = root[u] = root[root[u]];
    return u;
  };
  for (std::uint32_t a = 0; a < arcs_.size(); ++a)
    if (speed[a] >= least) root[root_of(arcs_[a].from)] = root_of(arcs_[a].to);
  std::map<std::uint32_t, std::uint32_t> part;
  for (std::uint32_t u = 0; u < members_; ++u)
    part_of[u] = part.try_emplace(root_of(u), static_cast<std::uint32_t>(part.size())).first->second;
  return static_cast<std::uint32_t>(part.size());
}

Digest RingNetwork::digest() const {
  DigestText text;
  text.add_size(members_);
  for (std::uint32_t arc = 0; arc < arcs_.size(); ++arc) {
    text.add(std::int64_t{arcs_[arc].from} << 32U | arcs_[arc].to);
    text.add_size(links(arc).size());
    for (const auto link : links(arc)) text.add(link);
  }
  for (const auto capacity : capacity_) text.add(capacity);
  return text.digest();
}

bool RingNetwork::symmetric() const {
  return std::ranges::all_of(arcs_, [&](const Arc& each) {
    const auto back = arc(each.to, each.from);
    if (back == kNoArc) return false;
    const auto one_way = links(arc(each.from, each.to));
    const auto other = links(back);
    return std::equal(one_way.begin(), one_way.end(), other.rbegin(), other.rend(),
                      [&](std::uint32_t x, std::uint32_t y) { return capacity_[x] == capacity_[y]; });
  });
}

namespace {

/// The links of the route from one NPU to another; empty if it passes another NPU or does not arrive.
std::vector<LinkId> path_over_switches(const Topology& topology, Router& router, NpuId from, NpuId to) {
  std::vector<LinkId> path;
  const VertexId goal(to.value());
  VertexId at(from.value());
  do {
    const auto link = router.next_link(at, from, to);
    if (!link.exists()) return {};
    path.push_back(link);
    at = topology.target(link);
  } while (at != goal && !topology.is_npu(at));
  return at == goal ? path : std::vector<LinkId>{};
}

/// Calls `visit(arc, links)` for each arc of a group. Destinations are in the outer loop, because the router keeps
/// trees by destination.
template <class Visit>
void for_each_arc(const Topology& topology, Router& router, const std::vector<NpuId>& members, const Visit& visit) {
  for (std::uint32_t to = 0; to < members.size(); ++to)
    for (std::uint32_t from = 0; from < members.size(); ++from) {
      if (from == to) continue;
      const auto links = path_over_switches(topology, router, members[from], members[to]);
      if (!links.empty()) visit(RingNetwork::Arc{from, to}, links);
    }
}

/// By link, the number of groups whose arcs take it.
std::vector<std::int64_t> sharers_of(const Topology& topology, Router& router, const Collective& collective) {
  std::vector<std::int64_t> sharers(topology.links(), 0);
  std::vector<std::size_t> last(topology.links(), SIZE_MAX);
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    for_each_arc(topology, router, collective.groups()[g].members, [&](auto /*arc*/, const auto& links) {
      for (const auto link : links) sharers[link.index()] += std::exchange(last[link.index()], g) == g ? 0 : 1;
    });
  return sharers;
}

}  // namespace

std::vector<RingNetwork> ring_networks(const Topology& topology, const Collective& collective, RouteChoice routes) {
  Router router(topology, routes);
  const bool alone = collective.groups().size() == 1;
  const auto sharers =
      alone ? std::vector<std::int64_t>(topology.links(), 1) : sharers_of(topology, router, collective);
  std::vector<RingNetwork> networks;
  for (const auto& group : collective.groups()) {
    auto& network = networks.emplace_back(static_cast<std::uint32_t>(group.members.size()));
    std::map<LinkId, std::uint32_t> number;
    std::vector<std::uint32_t> numbers;
    for_each_arc(topology, router, group.members, [&](auto arc, const auto& links) {
      numbers.clear();
      for (const auto link : links) {
        const auto [known, fresh] = number.try_emplace(link, 0);
        if (fresh) known->second = network.add_link(topology.bandwidth(link).count() / sharers[link.index()]);
        numbers.push_back(known->second);
      }
      network.add_arc(arc, numbers);
    });
  }
  return networks;
}

}  // namespace tenex
