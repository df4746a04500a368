// Newton's method on partitions (Cunningham, "Optimal attack and reinforcement of a network", Journal of the ACM 32,
// 1985).
//
// For a ratio a/b of capacity to parts (less one), another partition is better exactly if the sum over its parts S of
// g(S) = b * (capacity of the links of S to others, both directions) - 2a is below -2a, which is that of one part. The
// least sum over all partitions comes greedily (Narayanan, "Submodular functions and electrical networks", 1997,
// chapter 10): vertex by vertex, x(i) is the least g(S) - x(S without i) over the sets S of i and earlier vertices, a
// minimum cut. Sets with x(S) = g(S) that meet have that union too, so joining all that meet gives the parts.
//
// The cuts are maximum flows (base/graph/max_flow.hpp) in a network with a source, which has the vertex and the earlier
// vertices with positive x, and a sink, which has later vertices and those with negative x. Sums stay in 63 bits while
// vertices * links is below 2^42.
//
// The first steps ask for single vertices and the rest alone: one cut each instead of one per vertex (Goldberg,
// "Finding a maximum density subgraph", 1984). On networks with a few weak places the last of them is often the best of
// all.
#include "bound/best_partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tenex/base/graph/max_flow.hpp"

namespace tenex {

namespace {

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

class PartitionSearch {
 public:
  PartitionSearch(const Topology& topology, const std::vector<std::int64_t>& capacity)
      : vertices_(static_cast<std::uint32_t>(topology.vertices())),
        edges_(edges_of(topology, capacity)),
        network_(vertices_ + 2),
        degree_(vertices_, 0) {
    for (const Edge& edge : edges_) {
      network_.add_edge(edge.a, edge.b, 0);
      network_.add_edge(edge.b, edge.a, 0);
      degree_[edge.a] += edge.capacity;
      degree_[edge.b] += edge.capacity;
    }
    rest_ = static_cast<std::uint32_t>(std::ranges::max_element(degree_) - degree_.begin());
    for (std::uint32_t v = 0; v < vertices_; ++v) network_.add_edge(source(), v, 0);
    for (std::uint32_t v = 0; v < vertices_; ++v) network_.add_edge(v, sink(), 0);
  }

  /// The capacity between parts.
  [[nodiscard]] std::int64_t between(const std::vector<std::uint32_t>& part_of) const {
    std::int64_t sum = 0;
    for (const Edge& edge : edges_)
      if (part_of[edge.a] != part_of[edge.b]) sum += edge.capacity;
    return sum;
  }

  /// The partition of the least sum of g for the ratio a/b among those of single vertices and one part more, which has
  /// a vertex of the largest capacity: one minimum cut. The sum of 2a - g(v) over a set of single vertices is twice a
  /// for each of them, less twice b times the capacity of the links at them. False where the work has come to its end.
  bool loosen(std::int64_t a, std::int64_t b, std::vector<std::uint32_t>& part_of, std::uint64_t& work) {
    const auto both = set_capacities_of_edges(b);
    for (std::uint32_t v = 0; v < vertices_; ++v) {
      const auto worth = 2 * a - b * degree_[v];
      network_.set_capacity(both + v, v == rest_ ? 0 : std::max<std::int64_t>(0, worth));
      network_.set_capacity(both + vertices_ + v, v == rest_ ? kAnyFlow : std::max<std::int64_t>(0, -worth));
    }
    if (!network_.find_cut(source(), sink(), work)) return false;
    for (std::uint32_t v = 0; v < vertices_; ++v) part_of[v] = network_.is_met(v) ? v : rest_;
    return true;
  }

  /// The partition of the least sum of g for the ratio a/b. False where the work has come to its end.
  bool minimize(std::int64_t a, std::int64_t b, std::vector<std::uint32_t>& part_of, std::uint64_t& work) {
    std::iota(part_of.begin(), part_of.end(), 0U);
    std::vector<std::int64_t> x(vertices_, 0);
    for (std::uint32_t vertex = 0; vertex < vertices_; ++vertex) {
      set_capacities(vertex, b, x);
      if (!network_.find_cut(source(), sink(), work)) return false;
      x[vertex] = join(vertex, a, b, x, part_of);
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint32_t source() const { return vertices_; }
  [[nodiscard]] std::uint32_t sink() const { return vertices_ + 1; }

  /// Returns the number of arcs of edges.
  std::uint32_t set_capacities_of_edges(std::int64_t b) {
    const auto both = static_cast<std::uint32_t>(2 * edges_.size());
    for (std::uint32_t i = 0; i < both; ++i) network_.set_capacity(i, b * edges_[i / 2].capacity);
    return both;
  }

  void set_capacities(std::uint32_t vertex, std::int64_t b, const std::vector<std::int64_t>& x) {
    const auto both = set_capacities_of_edges(b);
    for (std::uint32_t v = 0; v < vertices_; ++v) {
      const bool earlier = v < vertex;
      const auto from_source = v == vertex ? kAnyFlow : earlier ? std::max<std::int64_t>(0, x[v]) : 0;
      const auto to_sink = v == vertex ? 0 : earlier ? std::max<std::int64_t>(0, -x[v]) : kAnyFlow;
      network_.set_capacity(both + v, from_source);
      network_.set_capacity(both + vertices_ + v, to_sink);
    }
  }

  /// Joins the parts that the vertex's set meets. Returns x(vertex).
  std::int64_t join(std::uint32_t vertex, std::int64_t a, std::int64_t b, const std::vector<std::int64_t>& x,
                    std::vector<std::uint32_t>& part_of) const {
    std::int64_t value = -2 * a;
    for (const Edge& edge : edges_)
      if (network_.is_met(edge.a) != network_.is_met(edge.b)) value += b * edge.capacity;
    std::vector<bool> meets(vertices_);
    for (std::uint32_t v = 0; v < vertex; ++v) {
      if (!network_.is_met(v)) continue;
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
  std::vector<std::int64_t> degree_;  ///< capacity of the links at a vertex
  std::uint32_t rest_ = 0;            ///< a vertex with the most
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
  // Takes the step's partition, and says whether it is better.
  const auto improves = [&](auto&& step) {
    const auto common = std::gcd(least, joints);
    best.ended = step(least / common, joints / common);
    if (!best.ended) return false;
    const auto between = search.between(other);
    const auto others = count_parts(other) - 1;
    __extension__ using Wide = __int128;
    if (others == 0 || Wide{between} * joints >= Wide{least} * others) return false;
    best.part_of = other;
    least = between;
    joints = others;
    return true;
  };
  const auto loosen = [&](std::int64_t a, std::int64_t b) { return search.loosen(a, b, other, work); };
  const auto minimize = [&](std::int64_t a, std::int64_t b) { return search.minimize(a, b, other, work); };
  while (joints > 0 && least > 0 && improves(loosen)) {
  }
  while (joints > 0 && least > 0 && improves(minimize)) {
  }
  return best;
}

}  // namespace tenex
