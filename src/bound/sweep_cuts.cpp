// Landmarks are chosen farthest first. The idea is that of embeddings by distances to few vertices (Linial, London and
// Rabinovich, "The geometry of graphs and some of its algorithmic applications", Combinatorica 15, 1995), whose cuts
// come near the sparsest.
#include "bound/sweep_cuts.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "bound/leaving.hpp"
#include "bound/sized_needs.hpp"
#include "bound/weighted_links.hpp"
#include "tenex/topology/distance.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostLandmarks = 8;

/// Grows a set vertex by vertex, and remembers where most had to leave it per capacity.
class VertexSweep {
 public:
  explicit VertexSweep(const BoundProblem& problem)
      : topology_(problem.topology),
        rate_of_class_(rates(problem)),
        has_(topology_.vertices()),
        needs_(problem.collective) {}

  /// The densest first part of an order.
  [[nodiscard]] VertexSet densest(std::span<const std::uint32_t> order) {
    double most = 0;
    std::size_t best = 0;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      enter(VertexId(order[i]));
      if (needs_.leaving() <= most * leaving_) continue;
      most = needs_.leaving() / leaving_;
      best = i + 1;
    }
    VertexSet set(topology_.vertices());
    for (std::size_t i = 0; i < best; ++i) set[order[i]] = true;
    return set;
  }

 private:
  void enter(VertexId vertex) {
    has_[vertex.index()] = true;
    for (const auto link : topology_.out_links(vertex))
      if (!has_[topology_.target(link).index()]) leaving_ += rate_of_class_[topology_.class_of(link)];
    for (const auto link : topology_.in_links(vertex))
      if (has_[topology_.source(link).index()]) leaving_ -= rate_of_class_[topology_.class_of(link)];
    leaving_ = std::max(leaving_, 0.0);
    if (topology_.is_npu(vertex)) needs_.enter(NpuId(vertex.value()));
  }

  const Topology& topology_;
  std::vector<double> rate_of_class_;
  std::vector<bool> has_;
  GrowingSet needs_;
  double leaving_ = 0;
};

/// The distances of all vertices from landmarks, each of which lies farthest from those before.
std::vector<std::vector<SimTime>> landmark_distances(const BoundProblem& problem, std::uint64_t& work) {
  const auto& topology = problem.topology;
  const auto size = *std::ranges::max_element(problem.collective.chunk_sizes());
  const auto cost = 2 * topology.links();
  std::vector<std::vector<SimTime>> distances;
  if (work < cost) return distances;
  work -= cost;
  std::vector<VertexId> npus;  // that have links: others are far from everything
  for (std::size_t npu = 0; npu < topology.npus(); ++npu)
    if (!is_isolated(topology, VertexId::at(npu))) npus.push_back(VertexId::at(npu));
  if (npus.empty()) return distances;
  auto nearest = arrival_times(topology, npus.front(), size);  // only to find the first landmark
  for (std::size_t k = 0; k < std::min(kMostLandmarks, npus.size()) && work >= cost; ++k) {
    work -= cost;
    const auto farthest = std::ranges::max(npus, {}, [&](VertexId npu) { return nearest[npu.index()]; });
    distances.push_back(arrival_times(topology, farthest, size));
    if (k == 0) nearest = distances.back();
    for (std::size_t v = 0; v < nearest.size(); ++v) nearest[v] = std::min(nearest[v], distances.back()[v]);
  }
  return distances;
}

}  // namespace

std::vector<VertexSet> sweep_cuts(const BoundProblem& problem, std::uint64_t& work) {
  const auto& topology = problem.topology;
  const auto distances = landmark_distances(problem, work);
  const bool both_ways = !is_classic(problem.collective);  // what goes one way says little of the other
  const auto cost = (both_ways ? 2 : 1) * (4 * topology.links() + 4 * condition_visits(problem.collective));
  std::vector<VertexSet> sets;
  std::vector<std::uint32_t> order(topology.vertices());
  for (std::size_t b = 1; b < distances.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      if (work < cost) return sets;
      work -= cost;
      std::iota(order.begin(), order.end(), 0U);
      std::ranges::stable_sort(order, {},
                               [&](std::uint32_t v) { return distances[a][v].count() - distances[b][v].count(); });
      sets.push_back(VertexSweep(problem).densest(order));
      if (!both_ways) continue;
      std::ranges::reverse(order);
      sets.push_back(VertexSweep(problem).densest(order));
    }
  return sets;
}

}  // namespace tenex
