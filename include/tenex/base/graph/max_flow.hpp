// Maximum flows.
//
// Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation" (Soviet Mathematics
// Doklady 11, 1970): levels breadth-first from one end of the flow, over ways that have something left, up to the
// nearest vertex that takes some of it; then paths that rise by one level per way, until none is left. Each round has
// more levels than the one before, so there are at most as many rounds as vertices. When no level takes anything, the
// vertices that were met are one side of a minimum cut (Ford and Fulkerson, 1956): the smaller one among all minimum
// cuts, whichever maximum flow was found.
//
// FlowSearch is the algorithm, over any network that can list the ways on from a vertex: so a flow over a topology
// needs no copy of its links. FlowNetwork is a stored network, whose edges come and go from flow to flow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace tenex {

/// The rounds of one flow after another, from one vertex to any vertices that take some of it. A network has
///
///   auto ways(vertex);                      // over which units go on, in a fixed order: size() and [] give each Way
///   std::uint32_t end(way);                 // the vertex to which it leads
///   std::int64_t residual(way);             // what is left of it
///   std::int64_t takes(vertex);             // how much more may end here
///   void push(way, amount), take(vertex, amount);
///   bool visit(ways);                       // told before ways are looked at; false: the search for levels ends
///   static constexpr bool kOneGoal;         // whether takes() is positive for one vertex at most
///
/// Vertices are numbers below `vertices`. Memory: O(vertices + longest path).
template <class Way>
class FlowSearch {
 public:
  /// A flow from `start`. O(1), and O(vertices) where their number has grown.
  void begin(std::uint32_t start, std::size_t vertices) {
    start_ = start;
    if (level_.size() >= vertices) return;
    level_.resize(vertices, 0);
    next_.resize(vertices, 0);
  }

  /// Levels from the start, which has 1, up to the first level that takes some. False where there is none, or visit()
  /// said so. O(ways).
  template <class Network>
  [[nodiscard]] bool find_levels(Network& network) {
    for (const std::uint32_t vertex : queue_) level_[vertex] = 0;
    queue_.assign(1, start_);
    level_[start_] = 1;
    last_level_ = kNoLevel;
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const std::uint32_t vertex = queue_[head];
      const std::uint32_t level = level_[vertex];
      next_[vertex] = 0;
      if (network.takes(vertex) > 0) last_level_ = level;
      if (level >= last_level_) continue;
      const auto ways = network.ways(vertex);
      if (!network.visit(ways.size())) return false;
      for (std::size_t i = 0; i < ways.size(); ++i) {
        const Way way = ways[i];
        const std::uint32_t there = network.end(way);
        if (level_[there] != 0 || network.residual(way) == 0) continue;
        level_[there] = level + 1;
        queue_.push_back(there);
        if constexpr (Network::kOneGoal) {
          if (network.takes(there) == 0) continue;
          for (++head; head < queue_.size(); ++head) next_[queue_[head]] = 0;
          last_level_ = level + 1;
          return true;
        }
      }
    }
    return last_level_ != kNoLevel;
  }

  /// Pushes up to `most` units over paths that rise by one level per way, until none is left. Returns how many.
  /// O(paths * levels + ways).
  template <class Network>
  std::int64_t push(Network& network, std::int64_t most) {
    std::int64_t pushed = 0;
    path_.clear();
    std::uint32_t vertex = start_;
    while (pushed < most) {
      if (level_[vertex] == last_level_ && network.takes(vertex) > 0) {
        pushed += push_path(network, vertex, most - pushed);
        if (pushed < most) vertex = back_up(network, vertex);
      } else if (step(network, vertex)) {
        vertex = network.end(path_.back().way);
      } else if (path_.empty()) {
        break;
      } else {
        vertex = path_.back().from;
        path_.pop_back();
        ++next_[vertex];
      }
    }
    return pushed;
  }

  /// Whether the last search for levels met a vertex.
  [[nodiscard]] bool is_met(std::uint32_t vertex) const { return level_[vertex] != 0; }

 private:
  static constexpr std::uint32_t kNoLevel = std::numeric_limits<std::uint32_t>::max();
  struct Step {
    std::uint32_t from;
    Way way;
  };

  /// Takes the first way on that may still lead to a vertex that takes some.
  template <class Network>
  bool step(Network& network, std::uint32_t vertex) {
    const std::uint32_t level = level_[vertex] + 1;
    if (level > last_level_) return false;
    const auto ways = network.ways(vertex);
    for (std::size_t& i = next_[vertex]; i < ways.size(); ++i) {
      const Way way = ways[i];
      (void)network.visit(1);
      const std::uint32_t there = network.end(way);
      if (level_[there] != level || network.residual(way) == 0) continue;
      if (level == last_level_ && network.takes(there) == 0) continue;
      path_.push_back({vertex, way});
      return true;
    }
    return false;
  }

  template <class Network>
  std::int64_t push_path(Network& network, std::uint32_t end, std::int64_t most) {
    std::int64_t amount = std::min(most, network.takes(end));
    for (const Step& step : path_) amount = std::min(amount, network.residual(step.way));
    for (const Step& step : path_) network.push(step.way, amount);
    network.take(end, amount);
    return amount;
  }

  /// Goes back over the path to the first vertex whose way on is used up: the next path begins with what is before.
  template <class Network>
  std::uint32_t back_up(Network& network, std::uint32_t end) {
    const auto used_up = [&](const Step& step) { return network.residual(step.way) == 0; };
    const auto first = std::find_if(path_.begin(), path_.end(), used_up);
    (void)network.visit(static_cast<std::size_t>(first - path_.begin()));
    if (first == path_.end()) return end;
    const std::uint32_t vertex = first->from;
    path_.erase(first, path_.end());
    return vertex;
  }

  std::uint32_t start_ = 0;
  std::uint32_t last_level_ = kNoLevel;
  std::vector<std::uint32_t> level_;  ///< per vertex; 0: not met
  std::vector<std::size_t> next_;     ///< per vertex: the first way that may still lead on
  std::vector<std::uint32_t> queue_;
  std::vector<Step> path_;
};

/// More than any capacity.
inline constexpr std::int64_t kAnyFlow = std::numeric_limits<std::int64_t>::max() / 4;

/// Nodes 0 .. nodes-1 and directed edges between different nodes. All edges between the same two nodes, in both
/// directions, are one pair of arcs: they flow as one. Sums of capacities other than kAnyFlow stay below kAnyFlow.
/// Memory: O(nodes + edges).
class FlowNetwork {
 public:
  explicit FlowNetwork(std::size_t nodes) : arcs_of_(nodes) {}

  std::uint32_t add_node();
  /// Removes the last node, which add_node() made, and the edges that were added after it. O(edges removed).
  void remove_last_node();
  /// The number of the edge. O(1).
  std::uint32_t add_edge(std::uint32_t from, std::uint32_t to, std::int64_t capacity);
  void set_capacity(std::uint32_t edge, std::int64_t capacity) {
    auto& [arc, own] = edges_[edge];
    arcs_[arc].capacity += capacity - own;
    arcs_[arc].left = arcs_[arc].capacity;
    own = capacity;
  }
  [[nodiscard]] std::int64_t capacity(std::uint32_t edge) const { return edges_[edge].capacity; }
  [[nodiscard]] std::size_t edges() const { return edges_.size(); }
  [[nodiscard]] std::size_t nodes() const { return arcs_of_.size(); }
  /// Two for each two nodes that edges join.
  [[nodiscard]] std::size_t arcs() const { return arcs_.size(); }

  /// The maximum flow from `source` to `sink`, or `enough` if it is larger. It is searched from the sink.
  /// O(nodes^2 * arcs) at worst.
  [[nodiscard]] std::int64_t flow(std::uint32_t source, std::uint32_t sink, std::int64_t enough);

  /// Whether the maximum flow from `source` to `sink` was found; then is_met() tells the source's side of the smallest
  /// minimum cut. Each round takes arcs() from `work`; where that leaves nothing, the answer is false.
  [[nodiscard]] bool find_cut(std::uint32_t source, std::uint32_t sink, std::uint64_t& work);
  [[nodiscard]] bool is_met(std::uint32_t node) const { return search_.is_met(node); }

 private:
  struct Edge {
    std::uint32_t arc = 0;
    std::int64_t capacity = 0;
  };
  /// Of a pair, arc a is one direction and arc a ^ 1 the other.
  struct Arc {
    std::int64_t capacity = 0;
    std::int64_t left = 0;
    std::uint32_t to = 0;
  };
  struct Added {
    std::size_t edges;
    std::size_t arcs;
  };
  template <bool backward>
  class Network;

  static std::uint64_t key(std::uint32_t a, std::uint32_t b) {
    return std::uint64_t{std::min(a, b)} << 32U | std::max(a, b);
  }
  /// Takes back what the last flow did.
  void take_back();

  std::vector<Edge> edges_;
  std::vector<Arc> arcs_;
  std::vector<std::vector<std::uint32_t>> arcs_of_;              ///< per node: the arcs that leave it
  std::unordered_map<std::uint64_t, std::uint32_t> rising_arc_;  ///< of two nodes: from the lower to the higher one
  std::vector<Added> before_;                                    ///< per added node: how many there were when it came
  std::vector<std::uint32_t> changed_;                           ///< arcs that have, or had, a flow
  FlowSearch<std::uint32_t> search_;
};

}  // namespace tenex
