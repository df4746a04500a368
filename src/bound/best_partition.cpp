// Newton's method on partitions (Cunningham, "Optimal attack and reinforcement of a network", Journal of the ACM 32,
// 1985).
//
// For a ratio a/b of capacity to parts (less one), another partition is better exactly if the sum over its parts S of
// g(S) = b * (capacity of the links of S to others, both directions) - 2a is below -2a, which is that of one part. The
// least sum over all partitions comes greedily (Narayanan, "Submodular functions and electrical networks", 1997,
// chapter 10): vertex by vertex, x(i) is the least g(S) - x(S without i) over the sets S of i and earlier vertices, a
// minimum cut. Sets with x(S) = g(S) that meet have that union too, so joining all that meet gives the parts.
//
// The cuts are Dinic's maximum flows ("Algorithm for solution of a problem of maximum flow in networks with power
// estimation", 1970) in a network with a source, which has the vertex and the earlier vertices with positive x, and a
// sink, which has later vertices and those with negative x. Sums stay in 63 bits while vertices * links is below 2^42.
// The work of a search bounds the depth of push(): a flow visits every arc at least once for each vertex.
#include "bound/best_partition.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace tenex {

namespace {

constexpr std::int64_t kAnyAmount = std::numeric_limits<std::int64_t>::max() / 4;

/// Links of both directions between two vertices, as one.
struct Edge {
  std::uint32_t a;
  std::uint32_t b;
  std::int64_t capacity;
};

std::vector<Edge> edges_of(const Topology& topology, const std::vector<std::int64_t>& capacity) {
  std::vector<Edge> all;
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    const auto from = topology.source(link).value();
    const auto to = topology.target(link).value();
    all.push_back({std::min(from, to), std::max(from, to), capacity[topology.class_of(link)]});
  }
  std::ranges::sort(all, {}, [](const Edge& edge) { return std::pair(edge.a, edge.b); });
  std::vector<Edge> edges;
  for (const Edge& edge : all) {
    if (!edges.empty() && edges.back().a == edge.a && edges.back().b == edge.b)
      edges.back().capacity += edge.capacity;
    else
      edges.push_back(edge);
  }
  return edges;
}

/// A network whose capacities are set anew for each flow. Arcs come in pairs: 2k and its opposite 2k + 1.
class FlowNetwork {
 public:
  explicit FlowNetwork(std::size_t vertices) : begin_(vertices + 1, 0), level_(vertices), next_(vertices) {}

  void add_arcs(std::uint32_t from, std::uint32_t to) {
    to_.push_back(to);
    to_.push_back(from);
    residual_.resize(to_.size());
  }
  /// Must be called once, after all arcs.
  void freeze() {
    for (std::size_t arc = 0; arc < to_.size(); ++arc) ++begin_[to_[arc ^ 1U] + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    arcs_.resize(to_.size());
    auto at = begin_;
    for (std::size_t arc = 0; arc < to_.size(); ++arc) arcs_[at[to_[arc ^ 1U]]++] = static_cast<std::uint32_t>(arc);
  }
  void set_capacity(std::size_t arcs, std::int64_t forward, std::int64_t backward) {
    residual_[2 * arcs] = forward;
    residual_[2 * arcs + 1] = backward;
  }

  /// Saturates all ways. Returns false where the work has come to its end.
  bool flood(std::uint32_t source, std::uint32_t sink, std::uint64_t& work) {
    while (find_levels(source, sink)) {
      const std::uint64_t visits = to_.size();
      work -= std::min(work, visits);
      if (work == 0) return false;
      for (std::size_t v = 0; v < next_.size(); ++v) next_[v] = begin_[v];
      while (push(source, sink, kAnyAmount) > 0) {
      }
    }
    return true;
  }

  /// Whether the last flow leaves a way from the source to a vertex.
  [[nodiscard]] bool is_reached(std::uint32_t vertex) const { return level_[vertex] != 0; }

 private:
  [[nodiscard]] std::span<const std::uint32_t> arcs(std::uint32_t vertex) const {
    return std::span(arcs_).subspan(begin_[vertex], begin_[vertex + 1] - begin_[vertex]);
  }

  bool find_levels(std::uint32_t source, std::uint32_t sink) {
    std::ranges::fill(level_, 0U);
    queue_.assign(1, source);
    level_[source] = 1;
    for (std::size_t head = 0; head < queue_.size(); ++head)
      for (const auto arc : arcs(queue_[head]))
        if (residual_[arc] > 0 && level_[to_[arc]] == 0) {
          level_[to_[arc]] = level_[queue_[head]] + 1;
          queue_.push_back(to_[arc]);
        }
    return level_[sink] != 0;
  }

  /// Pushes over one way along rising levels; the depth is that of the levels.
  std::int64_t push(std::uint32_t vertex, std::uint32_t sink, std::int64_t most) {
    if (vertex == sink) return most;
    for (auto& i = next_[vertex]; i < begin_[vertex + 1]; ++i) {
      const auto arc = arcs_[i];
      if (residual_[arc] == 0 || level_[to_[arc]] != level_[vertex] + 1) continue;
      const auto pushed = push(to_[arc], sink, std::min(most, residual_[arc]));
      if (pushed == 0) continue;
      residual_[arc] -= pushed;
      residual_[arc ^ 1U] += pushed;
      return pushed;
    }
    return 0;
  }

  std::vector<std::uint32_t> to_;
  std::vector<std::int64_t> residual_;
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> arcs_;  ///< by the vertex that they leave
  std::vector<std::uint32_t> level_;
  std::vector<std::size_t> next_;
  std::vector<std::uint32_t> queue_;
};

class PartitionSearch {
 public:
  PartitionSearch(const Topology& topology, const std::vector<std::int64_t>& capacity)
      : vertices_(static_cast<std::uint32_t>(topology.vertices())),
        edges_(edges_of(topology, capacity)),
        network_(vertices_ + 2) {
    for (const Edge& edge : edges_) network_.add_arcs(edge.a, edge.b);
    for (std::uint32_t v = 0; v < vertices_; ++v) network_.add_arcs(source(), v);
    for (std::uint32_t v = 0; v < vertices_; ++v) network_.add_arcs(v, sink());
    network_.freeze();
  }

  /// The capacity between parts.
  [[nodiscard]] std::int64_t between(const std::vector<std::uint32_t>& part_of) const {
    std::int64_t sum = 0;
    for (const Edge& edge : edges_)
      if (part_of[edge.a] != part_of[edge.b]) sum += edge.capacity;
    return sum;
  }

  /// The partition of the least sum of g for the ratio a/b. False where the work has come to its end.
  bool minimize(std::int64_t a, std::int64_t b, std::vector<std::uint32_t>& part_of, std::uint64_t& work) {
    std::iota(part_of.begin(), part_of.end(), 0U);
    std::vector<std::int64_t> x(vertices_, 0);
    for (std::uint32_t vertex = 0; vertex < vertices_; ++vertex) {
      set_capacities(vertex, b, x);
      if (!network_.flood(source(), sink(), work)) return false;
      x[vertex] = join(vertex, a, b, x, part_of);
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint32_t source() const { return vertices_; }
  [[nodiscard]] std::uint32_t sink() const { return vertices_ + 1; }

  void set_capacities(std::uint32_t vertex, std::int64_t b, const std::vector<std::int64_t>& x) {
    for (std::size_t e = 0; e < edges_.size(); ++e)
      network_.set_capacity(e, b * edges_[e].capacity, b * edges_[e].capacity);
    for (std::uint32_t v = 0; v < vertices_; ++v) {
      const bool earlier = v < vertex;
      const auto from_source = v == vertex ? kAnyAmount : earlier ? std::max<std::int64_t>(0, x[v]) : 0;
      const auto to_sink = v == vertex ? 0 : earlier ? std::max<std::int64_t>(0, -x[v]) : kAnyAmount;
      network_.set_capacity(edges_.size() + v, from_source, 0);
      network_.set_capacity(edges_.size() + vertices_ + v, to_sink, 0);
    }
  }

  /// Joins the parts that the vertex's set meets. Returns x(vertex).
  std::int64_t join(std::uint32_t vertex, std::int64_t a, std::int64_t b, const std::vector<std::int64_t>& x,
                    std::vector<std::uint32_t>& part_of) const {
    std::int64_t value = -2 * a;
    for (const Edge& edge : edges_)
      if (network_.is_reached(edge.a) != network_.is_reached(edge.b)) value += b * edge.capacity;
    std::vector<bool> meets(vertices_);
    for (std::uint32_t v = 0; v < vertex; ++v) {
      if (!network_.is_reached(v)) continue;
      value -= x[v];
      meets[part_of[v]] = true;
    }
    for (std::uint32_t v = 0; v < vertex; ++v)
      if (meets[part_of[v]]) part_of[v] = vertex;
    return value;
  }

  std::uint32_t vertices_;
  std::vector<Edge> edges_;
  FlowNetwork network_;
};

std::int64_t count_parts(const std::vector<std::uint32_t>& part_of) {
  std::vector<bool> used(part_of.size());
  for (const auto part : part_of) used[part] = true;
  return std::ranges::count(used, true);
}

}  // namespace

FoundPartition best_partition(const Topology& topology, const std::vector<std::int64_t>& capacity,
                              std::uint64_t& work) {
  PartitionSearch search(topology, capacity);
  FoundPartition best{std::vector<std::uint32_t>(topology.vertices()), true};
  std::iota(best.part_of.begin(), best.part_of.end(), 0U);
  auto least = search.between(best.part_of);
  auto joints = static_cast<std::int64_t>(topology.vertices()) - 1;
  std::vector<std::uint32_t> other(topology.vertices());
  while (joints > 0 && least > 0) {
    const auto common = std::gcd(least, joints);
    if (!search.minimize(least / common, joints / common, other, work)) {
      best.ended = false;
      break;
    }
    const auto between = search.between(other);
    const auto others = count_parts(other) - 1;
    __extension__ using Wide = __int128;
    if (others == 0 || Wide{between} * joints >= Wide{least} * others) break;
    best.part_of = other;
    least = between;
    joints = others;
  }
  return best;
}

}  // namespace tenex
