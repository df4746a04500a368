// The strength bound's best weights where plain switches stand between members. A routing is a spanning tree of ways.
//
// The weight of a tree is linear in the weights of links only if every vertex is a member or a plain switch: elsewhere
// a tree may pass through vertices whose joining does not count.
#include <span>
#include <vector>

#include "bound/exact/methods.hpp"
#include "bound/exact/weight_program.hpp"
#include "bound/ways.hpp"
#include "bound/weighted_links.hpp"
#include "tenex/bound/strength.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostTreeWays = std::size_t{1} << 18;

/// The one group is the one source.
class TreeRouting final : public LightestRouting {
 public:
  explicit TreeRouting(WayForest& forest) : forest_(forest) {}

  [[nodiscard]] std::size_t sources() const override { return 1; }
  double route(const std::vector<double>& weights, std::span<double> loads) override {
    double needed = 0;
    forest_.join(weights, [&](std::size_t, const Way& way, double weight, bool) {
      needed += weight;
      for (const auto link : forest_.links_of(way)) loads[link.index()] += 1;
    });
    return needed;
  }

 private:
  WayForest& forest_;
};

/// One for every link into a member: every way weighs as much as its last link. What link_total counts, in case that
/// the search ends before it proves as much.
LinkWeights into_members(const Topology& topology) {
  LinkWeights weights;
  for (std::size_t l = 0; l < topology.links(); ++l)
    weights.push_back(topology.is_npu(topology.target(LinkId::at(l))) ? 1 : 0);
  return weights;
}

/// Whether one group has every vertex but plain switches as its member.
bool is_all_members(const BoundProblem& problem) {
  const auto& topology = problem.topology;
  const auto& groups = problem.collective.groups();
  if (groups.size() != 1 || groups.front().members.size() != topology.npus()) return false;
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (!is_plain_switch(topology, VertexId::at(v))) return false;
  return true;
}

}  // namespace

std::optional<CertifiedBound> exact_strength_bound(const BoundProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_reduce || problem.topology.links() == 0) return std::nullopt;
  if (!is_all_members(problem)) return std::nullopt;
  auto ways = find_ways(problem.topology, kMostTreeWays);
  if (!ways) return std::nullopt;
  WayForest forest(problem, *std::move(ways));
  TreeRouting lightest(forest);
  const auto found = best_weights(relative_capacities(problem), lightest, kExactWork);
  BestWeights best;
  for (const auto& weights : {into_members(problem.topology), rounded(found), rounded(found, kManyFractions)})
    if (!weights.empty()) best.offer(strength_time(problem, weights), weights);
  return best.take();
}

}  // namespace tenex
