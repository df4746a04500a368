// Searches and their lists.
#include "topology/equal_routes.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "tenex/topology/distance.hpp"
#include "tenex/topology/routes.hpp"

namespace tenex {

namespace {

constexpr std::size_t kTableBytes = std::size_t{64} << 20;
constexpr std::size_t kFewestTables = 4;
constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kLastLink = kNothing - 1;  // in tables: the vertex has links to the destination itself
constexpr std::uint64_t kLargestDivisor = std::uint64_t{1} << 32;

}  // namespace

EqualRouteSearch::EqualRouteSearch(const Topology& topology, bool counts)
    : topology_(topology),
      counts_(counts),
      capacity_(std::max(kFewestTables, kTableBytes / (topology.vertices() * (counts ? 6 : 4)))) {}

void EqualRouteSearch::group_destinations() {
  std::map<std::vector<VertexId>, std::uint32_t> groups;
  std::vector<VertexId> before;
  for (std::size_t npu = 0; npu < topology_.npus(); ++npu) {
    before.clear();
    for (const LinkId link : topology_.in_links(VertexId::at(npu))) before.push_back(topology_.source(link));
    std::sort(before.begin(), before.end());
    const auto [group, fresh] = groups.try_emplace(before, static_cast<std::uint32_t>(groups.size()));
    if (fresh) example_.push_back(NpuId::at(npu));
    group_of_.push_back(group->second);
  }
  slot_of_.assign(example_.size(), kNothing);
  lists_at_.resize(topology_.vertices());
  over_switches_.resize(topology_.vertices());
}

std::uint32_t EqualRouteSearch::slot_of_group(NpuId destination) {
  if (group_of_.empty()) group_destinations();
  const std::uint32_t group = group_of_[destination.index()];
  std::uint32_t& slot = slot_of_[group];
  if (slot == kNothing) {
    slot = claim_slot(group);
    search(group);
    auto& table = tables_[slot];
    table.assign(topology_.vertices(), kNothing);
    for (const VertexId vertex : queue_) choose(vertex, table[vertex.index()]);
    if (counts_) count_routes(group, slot);
  }
  return slot;
}

/// The queue has the nearest vertices first.
void EqualRouteSearch::count_routes(std::uint32_t group, std::uint32_t slot) {
  routes_.resize(tables_.size());
  auto& routes = routes_[slot];
  routes.assign(topology_.vertices(), 0);
  const VertexId goal = vertex_of(example_[group]);
  for (const VertexId at : queue_) {
    std::uint64_t count = 0;
    if (hops_[at.index()] == 1) {
      for (const LinkId link : topology_.out_links(at)) count += topology_.target(link) == goal ? 1 : 0;
    } else {
      const List& list = lists_[tables_[slot][at.index()]];
      for (const LinkId link : std::span(pool_).subspan(list.first, list.count))
        count += routes[topology_.target(link).index()];
    }
    routes[at.index()] = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, kMostRoutes));
  }
}

std::uint32_t EqualRouteSearch::routes(VertexId at, NpuId destination) {
  if (at == vertex_of(destination)) return 1;
  return routes_[slot_of_group(destination)][at.index()];
}

EqualRoutes EqualRouteSearch::next(VertexId at, NpuId destination) {
  const std::uint32_t list = tables_[slot_of_group(destination)][at.index()];
  if (list == kNothing) return {};
  if (list != kLastLink) {
    const List& found = lists_[list];
    return {std::span(pool_).subspan(found.first, found.count), found.over_npu, found.parted};
  }
  links_.clear();
  for (const LinkId link : topology_.in_links(vertex_of(destination)))
    if (topology_.source(link) == at) links_.push_back(link);
  return {links_};
}

/// A new slot as long as there is one, else the slot that was filled first.
std::uint32_t EqualRouteSearch::claim_slot(std::uint32_t group) {
  if (tables_.size() < capacity_) {
    tables_.emplace_back();
    tenants_.push_back(group);
    return static_cast<std::uint32_t>(tables_.size() - 1);
  }
  const std::size_t slot = oldest_;
  oldest_ = (oldest_ + 1) % tables_.size();
  slot_of_[tenants_[slot]] = kNothing;
  tenants_[slot] = group;
  return static_cast<std::uint32_t>(slot);
}

/// Fills hops_, over_switches_ and queue_: the distances to an NPU of the group from all other vertices.
void EqualRouteSearch::search(std::uint32_t group) {
  hops_.assign(topology_.vertices(), kNothing);
  queue_.clear();
  for (const LinkId link : topology_.in_links(vertex_of(example_[group]))) {
    const VertexId from = topology_.source(link);
    if (hops_[from.index()] == 1) continue;
    hops_[from.index()] = 1;
    over_switches_[from.index()] = true;
    queue_.push_back(from);
  }
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const VertexId at = queue_[head];
    const std::uint32_t next = hops_[at.index()] + 1;
    const bool over_switches = over_switches_[at.index()] && !topology_.is_npu(at);
    for (const LinkId link : topology_.in_links(at)) {
      const VertexId from = topology_.source(link);
      if (hops_[from.index()] == kNothing) {
        hops_[from.index()] = next;
        over_switches_[from.index()] = false;
        queue_.push_back(from);
      }
      if (hops_[from.index()] == next && over_switches) over_switches_[from.index()] = true;
    }
  }
}

/// The list of a vertex in the last search.
void EqualRouteSearch::choose(VertexId at, std::uint32_t& list) {
  const std::uint32_t hops = hops_[at.index()];
  if (hops == 1) {
    list = kLastLink;
    return;
  }
  const bool over_npu = !over_switches_[at.index()];
  links_.clear();
  for (const LinkId link : topology_.out_links(at)) {
    const VertexId next = topology_.target(link);
    if (hops_[next.index()] != hops - 1) continue;
    if (!over_npu && (topology_.is_npu(next) || !over_switches_[next.index()])) continue;
    // Over an NPU one way is taken, and of parallel links on it those between switches.
    const bool between_switches = !topology_.is_npu(at) && !topology_.is_npu(next);
    if (over_npu && !links_.empty() && (topology_.target(links_[0]) != next || !between_switches)) continue;
    links_.push_back(link);
  }
  list = list_of(at, over_npu);
}

/// The number of links_ among the lists of a vertex.
std::uint32_t EqualRouteSearch::list_of(VertexId at, bool over_npu) {
  for (const std::uint32_t known : lists_at_[at.index()]) {
    const List& list = lists_[known];
    if (list.over_npu == over_npu && std::ranges::equal(std::span(pool_).subspan(list.first, list.count), links_))
      return known;
  }
  const bool parted = std::ranges::any_of(
      links_, [&](LinkId link) { return topology_.target(link) != topology_.target(links_.front()); });
  lists_.push_back({pool_.size(), static_cast<std::uint32_t>(links_.size()), over_npu, parted});
  pool_.insert(pool_.end(), links_.begin(), links_.end());
  lists_at_[at.index()].push_back(static_cast<std::uint32_t>(lists_.size() - 1));
  return lists_at_[at.index()].back();
}

std::uint64_t EqualRouteSearch::divisor(VertexId at) {
  if (topology_.is_npu(at)) return 1;
  if (level_.empty()) level_ = links_to_nearest_npu(topology_);
  const std::uint32_t level = level_[at.index()];
  if (divisor_.empty()) count_choices();
  return divisor_[std::min<std::size_t>(level, divisor_.size() - 1)];
}

/// The largest number of equal next links of each level, where some lead to different vertices; then their products.
void EqualRouteSearch::count_choices() {
  std::vector<std::uint64_t> most;
  for (std::uint32_t group = 0; group < example_.size(); ++group) {
    search(group);
    for (const VertexId at : queue_) {
      if (topology_.is_npu(at) || hops_[at.index()] == 1 || !over_switches_[at.index()]) continue;
      std::uint64_t count = 0;
      VertexId first = VertexId::none();
      bool differ = false;
      for (const LinkId link : topology_.out_links(at)) {
        const VertexId next = topology_.target(link);
        if (hops_[next.index()] != hops_[at.index()] - 1 || topology_.is_npu(next) || !over_switches_[next.index()])
          continue;
        differ = differ || (count > 0 && next != first);
        first = next;
        ++count;
      }
      const std::size_t level = level_[at.index()];
      if (most.size() <= level) most.resize(level + 1, 1);
      if (differ) most[level] = std::max(most[level], count);
    }
  }
  divisor_.assign(1, 1);
  for (const std::uint64_t count : most) divisor_.push_back(std::min(divisor_.back() * count, kLargestDivisor));
}

}  // namespace tenex
