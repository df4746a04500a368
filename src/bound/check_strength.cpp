// The checker of strength certificates. It shares no code with the search: a spanning tree by Prim's method, with a
// search through plain switches from each vertex, then the tree's links in order of weight.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

#include "bound/checked_time.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/bound/strength.hpp"

namespace tenex {

namespace {

using Distance = std::uint64_t;

/// The lightest links between the vertices that are no plain switches, each standing for a way.
struct TreeLink {
  Distance weight;
  std::size_t a;
  std::size_t b;
};

class LightestTree {
 public:
  LightestTree(const Topology& topology, std::span<const std::uint32_t> weights)
      : topology_(topology), weights_(weights) {
    in_tree_.resize(topology.vertices());
    for (std::size_t v = 0; v < topology.vertices(); ++v)
      if (!passes(v) && !in_tree_[v]) grow_from(v);
    std::ranges::sort(links_, {}, &TreeLink::weight);
  }

  /// The sum of the weights at which two parts with members join.
  [[nodiscard]] CheckedSum weight_for(const ProcessGroup& group) const {
    std::map<std::size_t, std::vector<std::size_t>> parts;  // name -> vertices; a part is renamed into the larger
    std::vector<std::size_t> part_of(topology_.vertices());
    std::vector<bool> has_member(topology_.vertices());
    for (std::size_t v = 0; v < part_of.size(); ++v) parts[part_of[v] = v] = {v};
    for (const auto member : group.members) has_member[member.index()] = true;
    CheckedSum sum = 0;
    for (const auto& link : links_) {
      auto from = part_of[link.a];
      auto into = part_of[link.b];
      if (has_member[from] && has_member[into]) sum += link.weight;
      if (parts[from].size() > parts[into].size()) std::swap(from, into);
      for (const auto vertex : parts[from]) {
        part_of[vertex] = into;
        parts[into].push_back(vertex);
      }
      has_member[into] = has_member[into] || has_member[from];
      parts.erase(from);
    }
    return sum;
  }

 private:
  using Candidate = std::tuple<Distance, std::size_t, std::size_t>;  ///< weight, new vertex, vertex of the tree

  /// Whether a vertex is a switch that neither adds nor copies.
  [[nodiscard]] bool passes(std::size_t vertex) const {
    const auto id = VertexId::at(vertex);
    if (topology_.is_npu(id)) return false;
    return !topology_.switch_properties(id).copy && !topology_.switch_properties(id).reduce;
  }

  void grow_from(std::size_t root) {
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> open;
    in_tree_[root] = true;
    offer_neighbours(root, open);
    while (!open.empty()) {
      const auto [weight, vertex, from] = open.top();
      open.pop();
      if (in_tree_[vertex]) continue;
      in_tree_[vertex] = true;
      links_.push_back({weight, from, vertex});
      offer_neighbours(vertex, open);
    }
  }

  template <class Queue>
  void offer_neighbours(std::size_t from, Queue& open) const {
    bool beside_switch = false;
    for (const bool forward : {true, false}) {
      const auto id = VertexId::at(from);
      for (const auto link : forward ? topology_.out_links(id) : topology_.in_links(id)) {
        const auto next = (forward ? topology_.target(link) : topology_.source(link)).index();
        beside_switch = beside_switch || passes(next);
        if (!passes(next) && !in_tree_[next]) open.emplace(weights_[link.index()], next, from);
      }
    }
    if (!beside_switch) return;
    for (const bool forward : {true, false}) {
      std::map<std::size_t, Distance> best{{from, 0}};
      std::priority_queue<std::pair<Distance, std::size_t>, std::vector<std::pair<Distance, std::size_t>>,
                          std::greater<>>
          reached;
      reached.emplace(0, from);
      while (!reached.empty()) {
        const auto [distance, vertex] = reached.top();
        reached.pop();
        if (best[vertex] < distance) continue;
        if (vertex != from && !passes(vertex)) {
          if (!in_tree_[vertex]) open.emplace(distance, vertex, from);
          continue;
        }
        const auto id = VertexId::at(vertex);
        for (const auto link : forward ? topology_.out_links(id) : topology_.in_links(id)) {
          const auto next = (forward ? topology_.target(link) : topology_.source(link)).index();
          const auto sum = distance + weights_[link.index()];
          const auto [known, fresh] = best.try_emplace(next, sum);
          if (!fresh && known->second <= sum) continue;
          known->second = sum;
          reached.emplace(sum, next);
        }
      }
    }
  }

  const Topology& topology_;
  std::span<const std::uint32_t> weights_;
  std::vector<bool> in_tree_;
  std::vector<TreeLink> links_;
};

/// How often each chunk crosses for each further part with a member.
CheckedSum ways_across(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

SimTime check_strength(const BoundProblem& problem, std::span<const std::uint32_t> weights) {
  ensure(weights.size() == problem.topology.links(), "a certificate has one weight per link");
  const auto& collective = problem.collective;
  const bool mixed = collective.kind() == CollectiveKind::mixed;
  if (!mixed && collective.kind() != CollectiveKind::all_reduce) return SimTime::zero();
  Bytes size = collective.chunk_sizes().front();
  for (const auto each : collective.chunk_sizes()) size = std::min(size, each);
  const LightestTree tree(problem.topology, weights);
  std::map<Bytes, CheckedSum> of_size;
  CheckedSum needed = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const GroupId group = GroupId::at(g);
    const auto weight = ways_across(collective.kind(group)) * static_cast<CheckedSum>(collective.chunks_in(group)) *
                        tree.weight_for(collective.groups()[g]);
    of_size[collective.chunk_bytes(collective.first_chunk(group))] += weight;
    needed += weight;
  }
  return mixed ? checked_time_of_sizes(problem, weights, of_size) : checked_time(problem, weights, size, needed);
}

}  // namespace tenex
