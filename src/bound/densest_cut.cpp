// Newton's method on minimum cuts (Dinkelbach, "On nonlinear fractional programming", Management Science 13, 1967).
//
// For a ratio y = p/q of capacity to members, no set is denser than 1/y exactly if every member t can receive p units
// from every other member at once over links of q times their capacity (maximum flow, minimum cut). If some t cannot,
// the minimum cut is a denser set, and y becomes its ratio. As y only falls, members that were checked stay checked.
// A denser set that lacks a checked member would have been found there, so checked members count as sources of any
// amount. Hence after one flow over the whole network each member is usually served by its neighbours: members are
// checked breadth-first from the one with the least capacity into it, and a flow is searched backward from t.
//
// The flow is Dinic's ("Algorithm for solution of a problem of maximum flow in networks with power estimation", 1970):
// levels from t up to the nearest supply, then paths that fall by one level, until none is left.
//
// Toward one target the same holds with weights: every member sends it p units times its own weight.
//
// Sums stay in 63 bits: capacities are at most 2^20 (scaled by the caller), links and members fewer than 2^21 each.
#include "bound/densest_cut.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace tenex {

namespace {

constexpr std::int64_t kAnyAmount = std::numeric_limits<std::int64_t>::max() / 2;

/// One maximum flow after another into single vertices; memory O(vertices + links).
class PulledFlow {
 public:
  PulledFlow(const CutSearch& search, std::uint64_t& work)
      : search_(search),
        topology_(search.topology),
        work_(work),
        supply_(topology_.vertices(), 0),
        taken_(topology_.vertices(), 0),
        flow_(topology_.links(), 0),
        level_(topology_.vertices(), 0),
        next_(topology_.vertices(), 0) {}

  void set_supply(VertexId vertex, std::int64_t amount) { supply_[vertex.index()] = amount; }
  [[nodiscard]] std::int64_t supply(VertexId vertex) const { return supply_[vertex.index()]; }
  void scale_links(std::int64_t factor) { factor_ = factor; }

  /// Whether `wanted` units reach `target`. Otherwise inside() is the minimum cut's set. False also where the work has
  /// come to its end.
  [[nodiscard]] bool reaches(VertexId target, std::int64_t wanted) {
    forget();
    target_ = target;
    while (wanted > 0) {
      if (!find_levels()) return false;
      wanted -= push(wanted);
    }
    return true;
  }

  /// The vertices that the last search for levels did not meet.
  [[nodiscard]] VertexSet inside() const {
    VertexSet set(topology_.vertices());
    for (std::size_t v = 0; v < set.size(); ++v) set[v] = level_[v] == 0;
    return set;
  }

 private:
  struct Hop {
    LinkId link;
    bool along = true;  ///< over the link; otherwise the flow on it becomes less
  };

  [[nodiscard]] std::span<const LinkId> into(VertexId vertex) const {
    return search_.backward ? topology_.out_links(vertex) : topology_.in_links(vertex);
  }
  [[nodiscard]] std::span<const LinkId> from(VertexId vertex) const {
    return search_.backward ? topology_.in_links(vertex) : topology_.out_links(vertex);
  }
  [[nodiscard]] std::size_t hops(VertexId vertex) const { return into(vertex).size() + from(vertex).size(); }
  [[nodiscard]] Hop hop(VertexId vertex, std::size_t number) const {
    const auto in = into(vertex);
    return number < in.size() ? Hop{in[number], true} : Hop{from(vertex)[number - in.size()], false};
  }
  /// The vertex from which a hop comes.
  [[nodiscard]] VertexId origin(Hop hop) const {
    return hop.along != search_.backward ? topology_.source(hop.link) : topology_.target(hop.link);
  }
  [[nodiscard]] std::int64_t residual(Hop hop) const {
    const auto flow = flow_[hop.link.index()];
    return hop.along ? search_.capacity[topology_.class_of(hop.link)] * factor_ - flow : flow;
  }
  [[nodiscard]] std::int64_t left(VertexId vertex) const {
    return vertex == target_ ? 0 : supply_[vertex.index()] - taken_[vertex.index()];
  }

  void forget() {
    for (const auto link : changed_) flow_[link.index()] = 0;
    for (const auto vertex : served_) taken_[vertex.index()] = 0;
    changed_.clear();
    served_.clear();
  }

  /// Levels from the target, which has 1, up to the first level with a supply. False where there is none.
  [[nodiscard]] bool find_levels() {
    for (const auto vertex : queue_) level_[vertex.index()] = 0;
    queue_.assign(1, target_);
    level_[target_.index()] = 1;
    last_level_ = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const VertexId vertex = queue_[head];
      const auto level = level_[vertex.index()];
      next_[vertex.index()] = 0;
      if (left(vertex) > 0) last_level_ = level;
      if (level >= last_level_) continue;
      const auto count = hops(vertex);
      work_ -= std::min<std::uint64_t>(work_, count);
      if (work_ == 0) return false;
      for (std::size_t i = 0; i < count; ++i) {
        const Hop way = hop(vertex, i);
        const VertexId there = origin(way);
        if (level_[there.index()] != 0 || residual(way) == 0) continue;
        level_[there.index()] = level + 1;
        queue_.push_back(there);
      }
    }
    return last_level_ != std::numeric_limits<std::uint32_t>::max();
  }

  /// Pushes up to `wanted` units over paths that fall by one level per hop, until none is left. Returns the amount.
  std::int64_t push(std::int64_t wanted) {
    std::int64_t pushed = 0;
    path_.clear();
    VertexId vertex = target_;
    while (pushed < wanted) {
      if (level_[vertex.index()] == last_level_ && left(vertex) > 0) {
        pushed += push_path(vertex, wanted - pushed);
        path_.clear();
        vertex = target_;
      } else if (const auto way = next_hop(vertex)) {
        path_.push_back(*way);
        vertex = origin(*way);
      } else if (path_.empty()) {
        break;
      } else {
        vertex = end_of(path_.back());
        path_.pop_back();
        ++next_[vertex.index()];
      }
    }
    return pushed;
  }

  [[nodiscard]] VertexId end_of(Hop hop) const { return origin({hop.link, !hop.along}); }

  std::optional<Hop> next_hop(VertexId vertex) {
    if (level_[vertex.index()] >= last_level_) return std::nullopt;
    for (auto& i = next_[vertex.index()]; i < hops(vertex); ++i) {
      const Hop way = hop(vertex, i);
      work_ -= std::min<std::uint64_t>(work_, 1);
      if (level_[origin(way).index()] == level_[vertex.index()] + 1 && residual(way) > 0) return way;
    }
    return std::nullopt;
  }

  std::int64_t push_path(VertexId begin, std::int64_t most) {
    std::int64_t amount = std::min(most, left(begin));
    for (const Hop way : path_) amount = std::min(amount, residual(way));
    for (const Hop way : path_) {
      auto& flow = flow_[way.link.index()];
      if (flow == 0) changed_.push_back(way.link);
      flow += way.along ? amount : -amount;
    }
    if (taken_[begin.index()] == 0) served_.push_back(begin);
    taken_[begin.index()] += amount;
    return amount;
  }

  const CutSearch& search_;
  const Topology& topology_;
  std::uint64_t& work_;
  std::int64_t factor_ = 1;
  VertexId target_;
  std::vector<std::int64_t> supply_;
  std::vector<std::int64_t> taken_;
  std::vector<std::int64_t> flow_;
  std::vector<std::uint32_t> level_;  ///< 0: not met
  std::uint32_t last_level_ = 0;
  std::vector<std::size_t> next_;  ///< per vertex: the first hop that may still lead to a supply
  std::vector<VertexId> queue_;
  std::vector<Hop> path_;
  std::vector<LinkId> changed_;
  std::vector<VertexId> served_;
};

std::int64_t capacity_into(const CutSearch& search, VertexId vertex) {
  std::int64_t sum = 0;
  for (const auto link : search.backward ? search.topology.out_links(vertex) : search.topology.in_links(vertex))
    sum += search.capacity[search.topology.class_of(link)];
  return sum;
}

/// Members breadth-first over links of both directions, from `first`; those that are not met come last.
std::vector<NpuId> by_nearness(const CutSearch& search, NpuId first) {
  const auto& topology = search.topology;
  std::vector<bool> is_member(topology.npus());
  for (const auto member : search.members) is_member[member.index()] = true;
  std::vector<bool> met(topology.vertices());
  std::vector<VertexId> queue{vertex_of(first)};
  met[first.index()] = true;
  std::vector<NpuId> order;
  const auto meet = [&](VertexId vertex) {
    if (!met[vertex.index()]) queue.push_back(vertex);
    met[vertex.index()] = true;
  };
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const VertexId vertex = queue[head];
    if (topology.is_npu(vertex) && is_member[vertex.index()]) order.push_back(NpuId::at(vertex.index()));
    for (const auto link : topology.out_links(vertex)) meet(topology.target(link));
    for (const auto link : topology.in_links(vertex)) meet(topology.source(link));
  }
  for (const auto member : search.members)
    if (!met[member.index()]) order.push_back(member);
  return order;
}

/// The capacity that leaves a set.
std::int64_t leaving(const CutSearch& search, const VertexSet& set) {
  std::int64_t sum = 0;
  for (std::size_t l = 0; l < search.topology.links(); ++l) {
    const auto link = LinkId::at(l);
    const bool source = set[search.topology.source(link).index()];
    const bool target = set[search.topology.target(link).index()];
    if (search.backward ? target && !source : source && !target) sum += search.capacity[search.topology.class_of(link)];
  }
  return sum;
}

}  // namespace

FoundCuts densest_cuts(const CutSearch& search, std::uint64_t& work) {
  const auto count = static_cast<std::int64_t>(search.members.size());
  const auto weakest = *std::ranges::min_element(
      search.members, {}, [&](NpuId member) { return capacity_into(search, vertex_of(member)); });
  FoundCuts found;
  found.sets.emplace_back(search.topology.vertices(), true);
  found.sets.back()[weakest.index()] = false;
  std::int64_t capacity = capacity_into(search, vertex_of(weakest));
  std::int64_t senders = count - 1;
  PulledFlow flow(search, work);
  std::vector<NpuId> unchecked = by_nearness(search, weakest);
  const auto set_ratio = [&](std::size_t checked) {
    const auto common = std::gcd(capacity, senders);
    capacity /= common;
    senders /= common;
    flow.scale_links(senders);
    for (std::size_t i = checked; i < unchecked.size(); ++i) flow.set_supply(vertex_of(unchecked[i]), capacity);
  };
  set_ratio(0);
  for (std::size_t i = 0; i < unchecked.size() && capacity > 0; ++i) {
    const auto target = vertex_of(unchecked[i]);
    while (capacity > 0 && !flow.reaches(target, capacity * (count - 1))) {
      if (work == 0) return found.ended = false, found;
      found.sets.push_back(flow.inside());
      const auto& set = found.sets.back();
      capacity = leaving(search, set);
      senders = std::ranges::count_if(search.members, [&](NpuId member) { return set[member.index()]; });
      set_ratio(i);
    }
    flow.set_supply(target, kAnyAmount);
  }
  return found;
}

FoundCuts densest_cuts_toward(const CutSearch& search, NpuId target, const std::vector<std::int64_t>& weight,
                              std::uint64_t& work) {
  FoundCuts found;
  found.sets.emplace_back(search.topology.vertices(), true);
  found.sets.back()[target.index()] = false;
  const auto weight_in = [&](const VertexSet& set) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < weight.size(); ++i)
      if (set[search.members[i].index()]) sum += weight[i];
    return sum;
  };
  const std::int64_t all = weight_in(found.sets.back());
  std::int64_t capacity = capacity_into(search, vertex_of(target));
  std::int64_t weighed = all;
  PulledFlow flow(search, work);
  while (capacity > 0) {  // a set that nothing leaves is as dense as can be
    const auto common = std::gcd(capacity, weighed);
    flow.scale_links(weighed / common);
    for (std::size_t i = 0; i < weight.size(); ++i)
      if (search.members[i] != target) flow.set_supply(vertex_of(search.members[i]), capacity / common * weight[i]);
    if (flow.reaches(vertex_of(target), capacity / common * all)) break;
    if (work == 0) return found.ended = false, found;
    found.sets.push_back(flow.inside());
    capacity = leaving(search, found.sets.back());
    weighed = weight_in(found.sets.back());
  }
  return found;
}

FoundCuts least_cuts(const CutSearch& search, NpuId root, std::uint64_t& work) {
  FoundCuts found;
  found.sets.emplace_back(search.topology.vertices(), false);
  found.sets.back()[root.index()] = true;
  std::int64_t capacity = leaving(search, found.sets.back());
  PulledFlow flow(search, work);
  flow.set_supply(vertex_of(root), kAnyAmount);
  for (const auto member : by_nearness(search, root)) {
    if (member == root) continue;
    while (!flow.reaches(vertex_of(member), capacity)) {
      if (work == 0) return found.ended = false, found;
      found.sets.push_back(flow.inside());
      capacity = leaving(search, found.sets.back());
    }
    flow.set_supply(vertex_of(member), kAnyAmount);
  }
  return found;
}

}  // namespace tenex
