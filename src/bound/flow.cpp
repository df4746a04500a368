// The weights that the flow bound tries. A round searches the lightest paths from every member, sends every chunk along
// them (in equal parts where several links are as good), and makes loaded links heavier.
#include "tenex/bound/flow.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "bound/flow_routing.hpp"
#include "bound/journeys.hpp"
#include "bound/leaving.hpp"
#include "bound/lightest_paths.hpp"
#include "bound/product_links.hpp"
#include "bound/sized_needs.hpp"
#include "bound/weighted_links.hpp"
#include "bound/zero_one_paths.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/topology/family.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kMostFlowRounds = 1024;
/// That weights of zero and one save: 64 sources at a time. On networks of many hops they take up to a hop's worth of
/// visits for each, and sends, of which the work is a share, are as many more.
constexpr std::uint64_t kVisitsAtOnce = 64;

/// The time that weights prove. `search` finds the distances of `paths` from a vertex. O(starts * search).
template <class Paths, class Search>
SimTime time_of_flow(const BoundProblem& problem, const Paths& paths, const Search& search,
                     std::span<const std::uint32_t> weights) {
  const auto into = lightest_links(problem.topology, weights, true);
  const auto out_of = lightest_links(problem.topology, weights, false);
  JourneySum sum(problem.collective, into, out_of);
  for (const auto& start : journey_starts(problem.collective)) {
    search(vertex_of(start.from));
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

/// The same by searches for lightest paths. O(starts * links log links).
SimTime time_of_flow(const BoundProblem& problem, LightestPaths& paths, std::span<const std::uint32_t> weights) {
  return time_of_flow(
      problem, paths, [&](VertexId from) { paths.search(from, weights); }, weights);
}

/// The same for weights of zero and one, by breadth-first searches; nullopt where they do not suffice.
std::optional<SimTime> time_of_zero_one_flow(const BoundProblem& problem, const LinkWeights& weights) {
  std::vector<VertexId> sources;
  for (const auto& start : journey_starts(problem.collective)) sources.push_back(vertex_of(start.from));
  auto paths = ZeroOnePaths::of(problem.topology, weights, sources);
  if (!paths) return std::nullopt;
  return time_of_flow(
      problem, *paths, [&](VertexId from) { paths->search(from); }, weights);
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

/// Weights of zero and one that follow from the network's classes, dimensions and levels.
std::vector<LinkWeights> first_weights(const BoundProblem& problem) {
  constexpr std::size_t kMostClasses = 8;
  const auto& topology = problem.topology;
  std::vector<LinkWeights> all{LinkWeights(topology.links(), 1)};
  if (const auto classes = topology.classes().size(); classes > 1)
    for (std::size_t k = 0; k < std::min(kMostClasses, classes); ++k) all.push_back(weights_of_class(topology, k));
  if (is_plain_product(problem))
    for (std::size_t d = 0; d < topology.shape()->dimensions(); ++d) all.push_back(weights_of_dimension(topology, d));
  if (topology.shape() && !topology.shape()->is_product())
    std::ranges::move(weights_of_levels(topology), std::back_inserter(all));
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
  if (of_round / kVisitsAtOnce > work_limit) return std::nullopt;
  LightestPaths paths(topology);
  BestWeights best;
  for (const auto& weights : first_weights(problem)) {
    const auto quick = time_of_zero_one_flow(problem, weights);
    if (!quick && of_round > work_limit) continue;
    best.offer(quick ? *quick : time_of_flow(problem, paths, weights), weights);
  }
  const auto rounds = std::min(kMostFlowRounds, work_limit / of_round);
  if (rounds > 0) {
    const auto found = weights_of_rounds(problem, paths, rounds);
    for (const auto& weights : {rounded(found.best), rounded(found.average)})
      if (!weights.empty()) best.offer(time_of_flow(problem, paths, weights), weights);
  }
  auto bound = best.take();
  if (bound) bound->cut_short = rounds < kMostFlowRounds;
  TENEX_ENSURES(!bound || check_flow(problem, bound->weights) == bound->time, "a time that the checker gives");
  return bound;
}

}  // namespace tenex
