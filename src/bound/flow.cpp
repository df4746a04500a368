// The weights that the flow bound tries. A round searches the lightest paths from every member, sends every chunk along
// them (in equal parts where several links are as good), and makes loaded links heavier.
#include "tenex/bound/flow.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "bound/flow_routing.hpp"
#include "bound/journeys.hpp"
#include "bound/leaving.hpp"
#include "bound/lightest_paths.hpp"
#include "bound/product_links.hpp"
#include "bound/sized_needs.hpp"
#include "bound/weighted_links.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/topology/family.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostFlowRounds = 1024;

/// The time that weights prove. O(starts * links log links).
SimTime time_of_flow(const BoundProblem& problem, LightestPaths& paths, std::span<const std::uint32_t> weights) {
  const auto into = lightest_links(problem.topology, weights, true);
  const auto out_of = lightest_links(problem.topology, weights, false);
  JourneySum sum(problem.collective, into, out_of);
  for (const auto& start : journey_starts(problem.collective)) {
    paths.search(vertex_of(start.from), weights);
    const bool reached = sum.add(start, [&](NpuId to) {
      const double distance = paths.distance(vertex_of(to));
      return distance == std::numeric_limits<double>::infinity() ? -1 : static_cast<std::int64_t>(distance);
    });
    if (!reached) return SimTime::max();
  }
  if (!is_classic(problem.collective)) return time_to_carry_sizes(problem, weights, sparse_needs(sum.needed()));
  Exact needed = 0;
  for (const Exact each : sum.needed()) needed += each;
  return time_to_carry(problem, weights, needed);
}

/// Dual solutions of the concurrent flow: the weights of the round that proved most, and the average of later rounds.
struct RoundWeights {
  std::vector<double> best;
  std::vector<double> average;
};

RoundWeights weights_of_rounds(const BoundProblem& problem, LightestPaths& paths, std::uint64_t rounds) {
  const FlowRouting routing(problem);
  const auto capacity = relative_capacities(problem);
  const auto links = problem.topology.links();
  std::vector<double> sum(links, 0);  // of load per capacity, in units of the first round's largest
  std::vector<double> weight(links);
  RoundWeights found{std::vector<double>(links, 0), std::vector<double>(links, 0)};
  // Small steps are more precise and need more rounds: log(links) / step^2 of them.
  const double step =
      std::clamp(std::sqrt(std::log(static_cast<double>(links)) / static_cast<double>(rounds)), 0.05, 1.0);
  double unit = 0;
  double most_proved = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const double most = *std::ranges::max_element(sum);
    double total = 0;
    for (std::size_t l = 0; l < links; ++l) {
      weight[l] = std::max(1e-12, std::exp(step * (sum[l] - most))) / capacity[l];
      total += weight[l] * capacity[l];
    }
    const auto load = routing.loads(paths, weight);
    double carried = 0;
    for (std::size_t l = 0; l < links; ++l) {
      carried += weight[l] * load[l];
      if (round == 0) unit = std::max(unit, load[l] / capacity[l]);
      if (round >= rounds / 2) found.average[l] += weight[l] / total;
    }
    if (unit == 0) break;
    for (std::size_t l = 0; l < links; ++l) sum[l] += load[l] / capacity[l] / unit;
    if (carried / total <= most_proved) continue;
    most_proved = carried / total;
    found.best = weight;
  }
  return found;
}

/// One for the links along a dimension, zero for all others: the volume times distance of the dimension.
LinkWeights weights_of_dimension(const Topology& topology, std::size_t dimension) {
  LinkWeights weights;
  for (std::size_t l = 0; l < topology.links(); ++l)
    weights.push_back(dimension_of(topology, LinkId::at(l)) == dimension ? 1 : 0);
  return weights;
}

/// The same for each level of a family, whose links are ordered by level.
std::vector<LinkWeights> weights_of_levels(const Topology& topology) {
  std::vector<LinkWeights> all;
  std::size_t first = 0;
  for (const FamilyLevel& level : topology.shape()->family->levels(topology.shape()->arguments)) {
    const std::size_t end = first + static_cast<std::size_t>(level.links);
    auto& weights = all.emplace_back(topology.links(), 0);
    std::fill(weights.begin() + static_cast<std::ptrdiff_t>(first), weights.begin() + static_cast<std::ptrdiff_t>(end),
              1);
    first = end;
  }
  return all;
}

}  // namespace

SimTime flow_time(const BoundProblem& problem, std::span<const std::uint32_t> weights) {
  TENEX_EXPECTS(weights.size() == problem.topology.links(), "one weight per link");
  LightestPaths paths(problem.topology);
  const SimTime time = time_of_flow(problem, paths, weights);
  TENEX_ENSURES(check_flow(problem, weights) == time, "the time that the checker gives");
  return time;
}

std::optional<CertifiedBound> flow_bound(const BoundProblem& problem, std::uint64_t work_limit) {
  const auto& topology = problem.topology;
  const auto kind = problem.collective.kind();
  if (kind != CollectiveKind::all_to_all && is_classic(problem.collective)) return std::nullopt;
  if (topology.links() == 0) return std::nullopt;
  const auto starts = journey_starts(problem.collective).size();
  const auto of_round = kind == CollectiveKind::all_to_all
                            ? 2 * starts * topology.links()
                            : 2 * ((1 + starts) * topology.links() + condition_visits(problem.collective));
  if (of_round > work_limit) return std::nullopt;
  LightestPaths paths(topology);
  BestWeights best;
  const auto try_weights = [&](const LinkWeights& weights) {
    if (weights.empty()) return;
    const auto time = time_of_flow(problem, paths, weights);
    best.offer(time, weights);
  };
  try_weights(LinkWeights(topology.links(), 1));
  for (std::size_t k = 0; topology.classes().size() > 1 && k < std::min<std::size_t>(8, topology.classes().size()); ++k)
    try_weights(weights_of_class(topology, k));
  if (is_plain_product(problem))
    for (std::size_t d = 0; d < topology.shape()->dimensions(); ++d) try_weights(weights_of_dimension(topology, d));
  if (topology.shape() && !topology.shape()->is_product())
    for (const LinkWeights& weights : weights_of_levels(topology)) try_weights(weights);
  const auto found = weights_of_rounds(problem, paths, std::min(kMostFlowRounds, work_limit / of_round));
  try_weights(rounded(found.best));
  try_weights(rounded(found.average));
  auto bound = best.take();
  TENEX_ENSURES(!bound || check_flow(problem, bound->weights) == bound->time, "a time that the checker gives");
  return bound;
}

}  // namespace tenex
