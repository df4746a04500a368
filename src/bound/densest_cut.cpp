// Newton's method on minimum cuts (Dinkelbach, "On nonlinear fractional programming", Management Science 13, 1967).
//
// For a ratio y = p/q of capacity to members, no set is denser than 1/y exactly if every member t can receive p units
// from every other member at once over links of q times their capacity (maximum flow, minimum cut). If some t cannot,
// the minimum cut is a denser set, and y becomes its ratio. As y only falls, members that were checked stay checked.
// A denser set that lacks a checked member would have been found there, so checked members count as sources of any
// amount. Hence after one flow over the whole network each member is usually served by its neighbours: members are
// checked breadth-first from the one with the least capacity into it, and a flow is searched backward from t.
//
// The flow (base/graph/max_flow.hpp) has its levels from t up to the nearest supply.
//
// Toward one target the same holds with weights: every member sends it p units times its own weight.
//
// Sums stay in 63 bits: capacities are at most 2^20 (scaled by the caller), links and members fewer than 2^21 each.
#include "bound/densest_cut.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "tenex/base/graph/max_flow.hpp"

namespace tenex {

namespace {

/// More than all that a flow wants, but for flows that it was added to.
constexpr std::int64_t kAnyAmount = std::numeric_limits<std::int64_t>::max() / 2;

/// One maximum flow after another into single vertices, each searched backward from its target; memory O(vertices +
/// links).
class PulledFlow {
 public:
  PulledFlow(const CutSearch& search, std::uint64_t& work)
      : search_(search),
        topology_(search.topology),
        work_(work),
        supply_(topology_.vertices(), 0),
        taken_(topology_.vertices(), 0),
        flow_(topology_.links(), 0) {}

  void set_supply(VertexId vertex, std::int64_t amount) { supply_[vertex.index()] = amount; }
  void scale_links(std::int64_t factor) { factor_ = factor; }

  /// Whether `wanted` units reach `target`. Otherwise inside() is the minimum cut's set. False also where the work has
  /// come to its end.
  [[nodiscard]] bool reaches(VertexId target, std::int64_t wanted) {
    forget();
    target_ = target.value();
    levels_.begin(target_, topology_.vertices());
    while (wanted > 0) {
      if (!levels_.find_levels(*this)) return false;
      wanted -= levels_.push(*this, wanted);
    }
    return true;
  }

  /// The vertices that the last search for levels did not meet.
  [[nodiscard]] VertexSet inside() const {
    VertexSet set(topology_.vertices());
    for (std::uint32_t v = 0; v < set.size(); ++v) set[v] = !levels_.is_met(v);
    return set;
  }

 private:
  struct Way {
    LinkId link;
    bool along = true;  ///< over the link; otherwise the flow on it becomes less
  };
  friend FlowSearch<Way>;  // which takes this for its network
  static constexpr bool kOneGoal = false;

  /// The links into a vertex, then those from it.
  struct Ways {
    std::span<const LinkId> into;
    std::span<const LinkId> from;
    [[nodiscard]] std::size_t size() const { return into.size() + from.size(); }
    [[nodiscard]] Way operator[](std::size_t number) const {
      return number < into.size() ? Way{into[number], true} : Way{from[number - into.size()], false};
    }
  };

  [[nodiscard]] Ways ways(std::uint32_t vertex) const {
    const auto in = topology_.in_links(VertexId(vertex));
    const auto out = topology_.out_links(VertexId(vertex));
    return search_.backward ? Ways{out, in} : Ways{in, out};
  }
  /// The vertex from which a way comes: the search goes backward.
  [[nodiscard]] std::uint32_t end(Way way) const {
    return (way.along != search_.backward ? topology_.source(way.link) : topology_.target(way.link)).value();
  }
  [[nodiscard]] std::int64_t residual(Way way) const {
    const auto flow = flow_[way.link.index()];
    return way.along ? search_.capacity[topology_.class_of(way.link)] * factor_ - flow : flow;
  }
  [[nodiscard]] std::int64_t takes(std::uint32_t vertex) const {
    return vertex == target_ ? 0 : supply_[vertex] - taken_[vertex];
  }
  void push(Way way, std::int64_t amount) {
    auto& flow = flow_[way.link.index()];
    if (flow == 0) changed_.push_back(way.link);
    flow += way.along ? amount : -amount;
  }
  void take(std::uint32_t vertex, std::int64_t amount) {
    if (taken_[vertex] == 0) served_.push_back(vertex);
    taken_[vertex] += amount;
  }
  bool visit(std::uint64_t count) {
    work_ -= std::min(work_, count);
    return work_ > 0;
  }

  void forget() {
    for (const auto link : changed_) flow_[link.index()] = 0;
    for (const auto vertex : served_) taken_[vertex] = 0;
    changed_.clear();
    served_.clear();
  }

  const CutSearch& search_;
  const Topology& topology_;
  std::uint64_t& work_;
  std::int64_t factor_ = 1;
  std::uint32_t target_ = 0;
  std::vector<std::int64_t> supply_;
  std::vector<std::int64_t> taken_;
  std::vector<std::int64_t> flow_;
  std::vector<LinkId> changed_;
  std::vector<std::uint32_t> served_;
  FlowSearch<Way> levels_;
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
