// The weights that the strength bound tries, and the time of each.
#include "tenex/bound/strength.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "bound/vertex_partition.hpp"
#include "bound/weighted_links.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostWays = std::size_t{1} << 21;
constexpr std::size_t kMostTrees = 1024;
constexpr std::size_t kMostSteps = 24;  ///< partitions tried

/// A way from one vertex to another over links, through plain switches only.
struct Way {
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t begin;  ///< its links, in Ways::links
  std::uint32_t end;
};

struct Ways {
  std::vector<Way> ways;
  std::vector<LinkId> links;
};

/// All ways that visit no switch twice; nullopt if there are too many.
class WayFinder {
 public:
  explicit WayFinder(const Topology& topology) : topology_(topology), visited_(topology.vertices()) {}

  std::optional<Ways> find() {
    for (std::size_t v = 0; v < topology_.vertices(); ++v)
      if (!is_plain_switch(topology_, VertexId::at(v)) && !go_on(VertexId::at(v), VertexId::at(v))) return std::nullopt;
    return std::move(found_);
  }

 private:
  bool go_on(VertexId from, VertexId at) {
    for (const auto link : topology_.out_links(at)) {
      const auto next = topology_.target(link);
      if (next == from || visited_[next.index()]) continue;
      path_.push_back(link);
      if (is_plain_switch(topology_, next)) {
        visited_[next.index()] = true;
        if (!go_on(from, next)) return false;
        visited_[next.index()] = false;
      } else {
        if (found_.links.size() + path_.size() > 2 * kMostWays || found_.ways.size() == kMostWays) return false;
        const auto begin = static_cast<std::uint32_t>(found_.links.size());
        found_.links.insert(found_.links.end(), path_.begin(), path_.end());
        found_.ways.push_back({from.value(), next.value(), begin, static_cast<std::uint32_t>(found_.links.size())});
      }
      path_.pop_back();
    }
    return true;
  }

  const Topology& topology_;
  std::vector<bool> visited_;
  std::vector<LinkId> path_;
  Ways found_;
};

/// Weighs ways, and joins vertices over the lightest of them.
class Forest {
 public:
  Forest(const BoundProblem& problem, Ways ways)
      : problem_(problem), ways_(std::move(ways)), order_(ways_.ways.size()), weight_(ways_.ways.size()) {}

  /// Link visits of one call of join().
  [[nodiscard]] std::uint64_t work() const {
    const auto count = order_.size() + 1;
    return (ways_.links.size() + count * std::bit_width(count)) * problem_.collective.groups().size();
  }

  /// Calls visit(group, way, weight, counts) for every way that joins two parts, for each group; it counts if both have
  /// members of the group.
  template <class Weight, class Visit>
  void join(const std::vector<Weight>& weight_of_link, Visit&& visit) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      weight_[i] = 0;
      for (auto l = ways_.ways[i].begin; l < ways_.ways[i].end; ++l)
        weight_[i] += static_cast<double>(weight_of_link[ways_.links[l].index()]);
    }
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
      return weight_[a] != weight_[b] ? weight_[a] < weight_[b] : a < b;
    });
    for (std::size_t g = 0; g < problem_.collective.groups().size(); ++g) {
      DisjointSets parts(problem_.topology.vertices());
      std::vector<bool> has_member(problem_.topology.vertices());
      for (const auto member : problem_.collective.groups()[g].members) has_member[member.index()] = true;
      for (const auto i : order_) {
        const auto a = parts.find(ways_.ways[i].from);
        const auto b = parts.find(ways_.ways[i].to);
        if (a == b) continue;
        visit(g, ways_.ways[i], weight_[i], has_member[a] && has_member[b]);
        const bool either = has_member[a] || has_member[b];
        has_member[parts.unite(a, b)] = either;
      }
    }
  }

  [[nodiscard]] std::span<const LinkId> links_of(const Way& way) const {
    return std::span(ways_.links).subspan(way.begin, way.end - way.begin);
  }

 private:
  const BoundProblem& problem_;
  Ways ways_;
  std::vector<std::uint32_t> order_;
  std::vector<double> weight_;
};

/// The time that weights prove.
SimTime time_of(const BoundProblem& problem, Forest& forest, const LinkWeights& weights) {
  Exact needed = 0;  // weights are whole, so sums below 2^53 are exact
  forest.join(weights, [&](std::size_t group, const Way&, double weight, bool counts) {
    const auto chunks = static_cast<Exact>(problem.collective.chunks_in(GroupId::at(group)));
    if (counts) needed += 2 * chunks * static_cast<Exact>(weight);
  });
  return time_to_carry(problem, weights, needed);
}

/// A tree without the ways that lead to no member of the group.
std::vector<Way> without_dead_ends(const BoundProblem& problem, GroupId group, std::span<const Way> tree) {
  std::vector<std::vector<std::size_t>> at(problem.topology.vertices());  // numbers of ways
  for (std::size_t i = 0; i < tree.size(); ++i) {
    at[tree[i].from].push_back(i);
    at[tree[i].to].push_back(i);
  }
  std::vector<bool> is_member(at.size());
  for (const auto member : problem.collective.groups()[group.index()].members) is_member[member.index()] = true;
  std::vector<std::size_t> degree;
  std::vector<std::uint32_t> ends;
  for (std::uint32_t v = 0; v < at.size(); ++v) {
    degree.push_back(at[v].size());
    if (degree[v] == 1 && !is_member[v]) ends.push_back(v);
  }
  std::vector<bool> cut(tree.size());
  while (!ends.empty()) {
    const auto vertex = ends.back();
    ends.pop_back();
    for (const auto i : at[vertex]) {
      if (cut[i]) continue;
      cut[i] = true;
      const auto other = tree[i].from == vertex ? tree[i].to : tree[i].from;
      if (--degree[other] == 1 && !is_member[other]) ends.push_back(other);
    }
  }
  std::vector<Way> left;
  for (std::size_t i = 0; i < tree.size(); ++i)
    if (!cut[i]) left.push_back(tree[i]);
  return left;
}

/// The average of the weights of many spanning trees, each the lightest under exp(load / capacity) / capacity, where
/// the load is that of the trees before. A dual solution of the packing.
std::vector<double> average_weights(const BoundProblem& problem, Forest& forest, std::size_t trees) {
  constexpr double kEagerness = 2;
  const auto& topology = problem.topology;
  const auto capacity = relative_capacities(problem);
  std::vector<double> load(topology.links(), 0);
  std::vector<double> weight(topology.links());
  std::vector<double> average(topology.links(), 0);
  std::vector<std::vector<Way>> of_group(problem.collective.groups().size());
  for (std::size_t tree = 0; tree < trees; ++tree) {
    double most = 0;
    for (std::size_t l = 0; l < load.size(); ++l) most = std::max(most, load[l] / capacity[l]);
    double total = 0;
    for (std::size_t l = 0; l < load.size(); ++l) {
      weight[l] = std::exp(kEagerness * (load[l] / capacity[l] - most)) / capacity[l];
      total += weight[l] * capacity[l];
    }
    for (std::size_t l = 0; l < load.size(); ++l) average[l] += weight[l] / total;
    for (auto& ways : of_group) ways.clear();
    forest.join(weight, [&](std::size_t group, const Way& way, double, bool) { of_group[group].push_back(way); });
    for (std::size_t g = 0; g < of_group.size(); ++g)
      for (const auto& way : without_dead_ends(problem, GroupId::at(g), of_group[g]))
        for (const auto link : forest.links_of(way)) load[link.index()] += 1;
  }
  return average;
}

/// One for links between the parts that links lighter than `least` join, improved where the topology is small, else
/// zero. A plain switch stands outside all parts, and its links have one from `least` on.
LinkWeights between_parts(const BoundProblem& problem, const std::vector<double>& weights, double least) {
  constexpr std::size_t kMostImproved = 1024;  // vertices
  const auto& topology = problem.topology;
  const auto plain = [&](VertexId vertex) { return is_plain_switch(topology, vertex); };
  bool any_plain = false;
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) any_plain = any_plain || plain(VertexId::at(v));
  VertexPartition partition(problem, weights, least);
  if (!any_plain && topology.vertices() <= kMostImproved) partition.improve(8);
  LinkWeights between;
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    const bool beside_plain = plain(topology.source(link)) || plain(topology.target(link));
    between.push_back((beside_plain ? weights[l] >= least : partition.separates(link)) ? 1 : 0);
  }
  return between;
}

/// The least weights of links that the largest relative steps between sorted weights leave above them.
std::vector<double> largest_steps(std::vector<double> weights) {
  std::ranges::sort(weights);
  std::vector<std::pair<double, double>> steps;  // ratio, weight above
  for (std::size_t i = 1; i < weights.size(); ++i)
    if (weights[i] > weights[i - 1]) steps.emplace_back(weights[i] / std::max(weights[i - 1], 1e-300), weights[i]);
  std::ranges::sort(steps, std::ranges::greater{});
  if (steps.size() > kMostSteps) steps.resize(kMostSteps);
  std::vector<double> above;
  for (const auto& step : steps) above.push_back(step.second);
  return above;
}

}  // namespace

std::optional<CertifiedBound> strength_bound(const BoundProblem& problem, std::uint64_t work_limit) {
  const auto& topology = problem.topology;
  if (problem.collective.kind() != CollectiveKind::all_reduce || topology.links() == 0) return std::nullopt;
  auto ways = WayFinder(topology).find();
  if (!ways) return std::nullopt;
  Forest forest(problem, *std::move(ways));
  BestWeights best;
  const auto try_weights = [&](const LinkWeights& weights) {
    const auto time = time_of(problem, forest, weights);
    best.offer(time, weights);
  };
  try_weights(LinkWeights(topology.links(), 1));
  try_weights(between_parts(problem, std::vector<double>(topology.links(), 1), 1));
  for (std::size_t k = 0; topology.classes().size() > 1 && k < std::min(kMostSteps, topology.classes().size()); ++k)
    try_weights(weights_of_class(topology, k));
  const auto trees = std::min<std::uint64_t>(kMostTrees, work_limit / forest.work());
  if (trees > 0) {
    const auto average = average_weights(problem, forest, trees);
    try_weights(rounded(average));
    for (const double least : largest_steps(average)) try_weights(between_parts(problem, average, least));
  }
  return best.take();
}

}  // namespace tenex
