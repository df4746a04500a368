// The weights that the strength bound tries, and the time of each.
#include "tenex/bound/strength.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "bound/best_partition.hpp"
#include "bound/crossings.hpp"
#include "bound/product_links.hpp"
#include "bound/product_partition.hpp"
#include "bound/vertex_partition.hpp"
#include "bound/ways.hpp"
#include "bound/weighted_links.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostTrees = 1024;
constexpr std::size_t kMostSteps = 24;  ///< partitions tried

/// What a group counts in the search: chunks where all run one All-Reduce, else bytes.
double worth_of(const Collective& collective, GroupId group) {
  const auto chunks = static_cast<double>(collective.chunks_in(group));
  if (is_classic(collective)) return chunks;
  return crossings(collective.kind(group)) * chunks *
         static_cast<double>(collective.chunk_sizes()[collective.size_class(group)].count());
}

/// The time that weights prove.
SimTime time_of_strength(const BoundProblem& problem, WayForest& forest, std::span<const std::uint32_t> weights) {
  const auto& collective = problem.collective;
  std::vector<Exact> needed(collective.chunk_sizes().size(), 0);  // weights are whole, so sums below 2^53 are exact
  forest.join(weights, [&](std::size_t g, const Way&, double weight, bool counts) {
    const auto group = GroupId::at(g);
    const Exact chunks = crossings(collective.kind(group)) * static_cast<Exact>(collective.chunks_in(group));
    if (counts) needed[collective.size_class(group)] += chunks * static_cast<Exact>(weight);
  });
  return time_of_crossings(problem, weights, needed);
}

/// Dual solutions of the packing of trees: the weights of the round that proved most, and averages of all rounds and of
/// the later ones.
struct TreeWeights {
  std::vector<double> best;
  std::vector<double> average;
  std::vector<double> later;
};

/// Packs many spanning trees, each the lightest under exp(load / capacity) / capacity, where the load is that of the
/// trees before.
TreeWeights weights_of_trees(const BoundProblem& problem, WayForest& forest, std::uint64_t trees) {
  constexpr double kEagerness = 2;
  const auto capacity = relative_capacities(problem);
  const auto links = capacity.size();
  std::vector<double> load(links, 0);
  std::vector<double> weight(links);
  TreeWeights found{std::vector<double>(links, 0), std::vector<double>(links, 0), std::vector<double>(links, 0)};
  double most_proved = 0;
  std::vector<std::vector<Way>> of_group(problem.collective.groups().size());
  for (std::uint64_t tree = 0; tree < trees; ++tree) {
    double most = 0;
    for (std::size_t l = 0; l < links; ++l) most = std::max(most, load[l] / capacity[l]);
    double total = 0;
    for (std::size_t l = 0; l < links; ++l) {
      weight[l] = std::exp(kEagerness * (load[l] / capacity[l] - most)) / capacity[l];
      total += weight[l] * capacity[l];
    }
    for (std::size_t l = 0; l < links; ++l) found.average[l] += weight[l] / total;
    if (2 * tree >= trees)
      for (std::size_t l = 0; l < links; ++l) found.later[l] += weight[l] / total;
    for (auto& ways : of_group) ways.clear();
    double proved = 0;
    forest.join(weight, [&](std::size_t group, const Way& way, double its_weight, bool counts) {
      of_group[group].push_back(way);
      if (counts) proved += its_weight * worth_of(problem.collective, GroupId::at(group));
    });
    if (proved / total > most_proved) {
      most_proved = proved / total;
      found.best = weight;
    }
    for (std::size_t g = 0; g < of_group.size(); ++g)
      for (const auto& way : without_dead_ends(problem, GroupId::at(g), of_group[g]))
        for (const auto link : forest.links_of(way)) load[link.index()] += 1;
  }
  return found;
}

/// One for every link that joins two switches; empty where there is none.
LinkWeights weights_between_switches(const Topology& topology) {
  LinkWeights weights(topology.links(), 0);
  bool any = false;
  for (std::size_t i = 0; i < topology.links(); ++i) {
    const LinkId link = LinkId::at(i);
    if (topology.is_npu(topology.source(link)) || topology.is_npu(topology.target(link))) continue;
    weights[i] = 1;
    any = true;
  }
  if (!any) weights.clear();
  return weights;
}

/// One for links between the parts that links lighter than `least` join, improved where the topology is small, else
/// zero. A plain switch stands outside all parts, and its links have one from `least` on.
LinkWeights between_parts(const BoundProblem& problem, const std::vector<double>& weights, double least,
                          std::uint64_t& work) {
  constexpr int kMostRounds = 8;
  const auto& topology = problem.topology;
  const auto plain = [&](VertexId vertex) { return is_plain_switch(topology, vertex); };
  bool any_plain = false;
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) any_plain = any_plain || plain(VertexId::at(v));
  VertexPartition partition(problem, weights, least);
  if (!any_plain) partition.improve(kMostRounds, work);
  LinkWeights between;
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    const bool beside_plain = plain(topology.source(link)) || plain(topology.target(link));
    between.push_back((beside_plain ? weights[l] >= least : partition.separates(link)) ? 1 : 0);
  }
  return between;
}

/// Bandwidths of links, the largest first, at most kMostSteps of them.
std::vector<Bandwidth> distinct_bandwidths(const Topology& topology) {
  std::vector<Bandwidth> found;
  for (const auto& link_class : topology.classes()) found.push_back(link_class.effective_bandwidth());
  std::ranges::sort(found, std::ranges::greater{});
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.size() > kMostSteps) found.resize(kMostSteps);
  return found;
}

/// One for links that leave a part: what links of this bandwidth or more join, and the switches that only have vertices
/// of that part below them. A switch that has several parts below it stands outside, and its links down have zero, so
/// that a way over it counts once. (Dies in pairs with a switch for each pair, below one switch: AMD's boxes.)
LinkWeights out_of_parts(const Topology& topology, Bandwidth least) {
  auto joined = join_ends(topology, [&](LinkId link) { return topology.bandwidth(link) >= least; });
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> part(topology.vertices(), kNone);
  std::vector<bool> has_npus(topology.vertices());
  for (std::size_t v = 0; v < topology.vertices(); ++v) {
    const auto set = joined.find(static_cast<std::uint32_t>(v));
    if (v < topology.npus()) has_npus[set] = true;
    if (has_npus[set]) part[v] = set;
  }
  for (bool more = true; more;) {  // from the NPUs up: a switch below another one has its part first
    more = false;
    auto next = part;
    for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
      if (part[v] != kNone) continue;
      std::uint32_t only = kNone;
      bool several = false;
      for (const LinkId link : topology.out_links(VertexId::at(v))) {
        const auto other = part[topology.target(link).index()];
        if (other == kNone) continue;
        several = several || (only != kNone && only != other);
        only = other;
      }
      if (only == kNone || several) continue;
      next[v] = only;
      more = true;
    }
    part = std::move(next);
  }
  LinkWeights weights;
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto from = part[topology.source(LinkId::at(l)).index()];
    weights.push_back(from != kNone && from != part[topology.target(LinkId::at(l)).index()] ? 1 : 0);
  }
  return weights;
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

/// Weights of one for the links between the parts of a partition; `best`: no other is better.
struct PartitionWeights {
  LinkWeights weights;
  bool best = true;
};

/// The members and their links; nullopt where another vertex has links. Link classes stay.
std::optional<Topology> only_members(const Topology& topology, std::span<const NpuId> members) {
  std::vector<VertexId> kept;
  for (const NpuId member : members) kept.push_back(vertex_of(member));
  std::ranges::sort(kept);
  for (std::size_t v = 0; v < topology.vertices(); ++v)
    if (!std::ranges::binary_search(kept, VertexId::at(v)) && !is_isolated(topology, VertexId::at(v)))
      return std::nullopt;
  return kept.size() == topology.vertices() ? topology : keep_vertices(topology, kept);
}

/// A partition by a closed form, or by flows.
std::optional<PartitionWeights> find_partition(const BoundProblem& problem, std::uint64_t& work) {
  const auto& topology = problem.topology;
  PartitionWeights partition;
  if (const auto product = product_partition(problem)) {
    for (std::size_t l = 0; l < topology.links(); ++l)
      partition.weights.push_back(product->joined[dimension_of(topology, LinkId::at(l))] ? 0 : 1);
    return partition;
  }
  const auto& groups = problem.collective.groups();
  if (groups.size() != 1) return std::nullopt;
  const auto members = only_members(topology, groups.front().members);
  if (!members) return std::nullopt;
  std::uint64_t left = work / 2;
  work -= left;
  const auto found = best_partition(*members, whole_capacities(problem), left);
  work += left;
  partition.best = found.ended;
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    const bool apart = found.part_of[members->source(link).index()] != found.part_of[members->target(link).index()];
    partition.weights.push_back(apart ? 1 : 0);
  }
  return partition;
}

/// Tries weights until the work is used up. Returns whether it was enough for all.
bool search_weights(const BoundProblem& problem, WayForest& forest, std::uint64_t work, BestWeights& best) {
  const auto& topology = problem.topology;
  const auto try_weights = [&](const LinkWeights& weights) {
    if (weights.empty()) return;
    best.offer(time_of_strength(problem, forest, weights), weights);
    work -= std::min(work, forest.work());
  };
  if (forest.work() > work) return false;
  try_weights(LinkWeights(topology.links(), 1));
  // Where a dimension is a tree of switches, groups that lie across its leaves share the links between switches alone.
  if (work > forest.work() && topology.shape() && topology.shape()->is_product())
    try_weights(weights_between_switches(topology));
  if (topology.vertices() > topology.npus())
    for (const Bandwidth least : distinct_bandwidths(topology))
      if (work > forest.work()) try_weights(out_of_parts(topology, least));
  if (work > forest.work()) try_weights(between_parts(problem, std::vector<double>(topology.links(), 1), 1, work));
  for (std::size_t k = 0; topology.classes().size() > 1 && k < std::min(kMostSteps, topology.classes().size()); ++k)
    if (work > forest.work()) try_weights(weights_of_class(topology, k));
  const auto of_tree = 2 * forest.work() + 8 * (topology.links() + topology.vertices());  // some are visited again
  const auto trees = std::min(kMostTrees, work / 2 / of_tree);
  if (trees == 0) return false;
  const auto found = weights_of_trees(problem, forest, trees);
  work -= trees * of_tree;
  for (const auto* weights : {&found.average, &found.later, &found.best}) try_weights(rounded(*weights));
  for (const double least : largest_steps(found.average))
    if (work > forest.work()) try_weights(between_parts(problem, found.average, least, work));
  return trees == kMostTrees;
}

}  // namespace

SimTime strength_time(const BoundProblem& problem, std::span<const std::uint32_t> weights) {
  TENEX_EXPECTS(weights.size() == problem.topology.links(), "one weight per link");
  WayForest forest(problem);
  const SimTime time = time_of_strength(problem, forest, weights);
  TENEX_ENSURES(check_strength(problem, weights) == time, "the time that the checker gives");
  return time;
}

std::optional<CertifiedBound> strength_bound(const BoundProblem& problem, std::uint64_t work_limit) {
  const auto& topology = problem.topology;
  if (!has_all_reduce(problem.collective) || topology.links() == 0) return std::nullopt;
  std::uint64_t work = work_limit;
  const auto partition = find_partition(problem, work);
  auto ways = find_ways(topology, partition ? kMostWays : std::min<std::uint64_t>(kMostWays, work / kVisitsPerWay));
  if (!ways && topology.npus() > work / kVisitsPerCheck / topology.links()) return std::nullopt;
  WayForest forest = ways ? WayForest(problem, *std::move(ways)) : WayForest(problem);
  BestWeights best;
  if (partition) best.offer(time_of_strength(problem, forest, partition->weights), partition->weights);
  const bool densest = partition && partition->best;
  const bool ended = densest || search_weights(problem, forest, work, best);
  auto found = best.take();
  if (found) {
    found->densest = densest;
    found->cut_short = !ended;
  }
  TENEX_ENSURES(!found || check_strength(problem, found->weights) == found->time, "a time that the checker gives");
  return found;
}

}  // namespace tenex
