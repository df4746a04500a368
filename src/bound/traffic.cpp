// Traffic: volume times distance, and the chunks of an All-to-All that cross the middle of a line.
//
// Every chunk goes from its source to its destination over at least as many links as the distance between them, and all
// these sends share the links. In an intact product shape a step along dimension i uses a link of dimension i, so for
// an All-to-All each dimension's links must carry the distances along it, summed over all pairs; the slowest dimension
// binds. Elsewhere all links together carry the sum of all distances, which is found breadth-first where that takes
// less than a second. Chunks with several destinations, and those of mixed groups, count as in journeys.hpp, with a
// weight of one for every link.
//
// On a line of k the links in the middle carry more than the average: between positions j-1 and j, j(k-j) of the k^2
// pairs of positions go each way, over one link per line. In blocks where every position sees the same network, the
// middle links carry the average. Source: the volume argument is folklore; Dally and Towles, Principles and Practices
// of Interconnection Networks, 2004, chapter 3, has both.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "bound/capacity.hpp"
#include "bound/journeys.hpp"
#include "bound/methods.hpp"
#include "bound/product_links.hpp"
#include "bound/sized_needs.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/distance.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostTrafficWork = std::size_t{1} << 26;  ///< link visits: below a second

/// The factor by which a block's total hops give the sends of its dimension: pairs of lines (n/k)^2, c chunks each.
std::int64_t chunks_per_position_pair(const BoundProblem& problem, const Block& block) {
  const auto lines = static_cast<std::int64_t>(problem.topology.npus() / block.size);
  return lines * lines * problem.collective.chunks_per_npu();
}

SimTime distances_by_dimension(const BoundProblem& problem) {
  const auto links = links_by_dimension(problem.topology);
  SimTime bound = SimTime::zero();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Block& block = problem.topology.shape()->blocks[i];
    const std::int64_t sends = block.rule->total_hops(block) * chunks_per_position_pair(problem, block);
    bound = std::max(bound, least_time(problem, links[i], problem.collective.chunk_sizes()[0], sends));
  }
  return bound;
}

/// Unreachable destinations count 0 (eccentricity reports them).
std::optional<SimTime> distances_by_search(const BoundProblem& problem) {
  const auto& collective = problem.collective;
  const auto& topology = problem.topology;
  const auto starts = journey_starts(collective);
  const auto searches = is_classic(collective) ? collective.npus() : starts.size();
  if (searches > kMostTrafficWork / std::max<std::size_t>(1, topology.links())) return std::nullopt;
  const std::vector<std::uint32_t> weights(topology.links(), 1);
  const auto into = lightest_links(topology, weights, true);
  const auto out_of = lightest_links(topology, weights, false);
  JourneySum sum(collective, into, out_of);
  for (const auto& start : starts) {
    const auto hops = hops_from(topology, vertex_of(start.from));
    sum.add(start, [&](NpuId npu) {
      const auto distance = hops[vertex_of(npu).index()];
      return distance == kNoHops ? 0 : distance;
    });
  }
  if (!is_classic(collective)) return time_to_carry_sizes(problem, weights, sparse_needs(sum.needed()));
  Exact sends = 0;
  for (const Exact each : sum.needed()) sends += each;
  std::vector<std::int64_t> links(topology.classes().size(), 0);
  for (std::size_t i = 0; i < topology.links(); ++i) ++links[topology.class_of(LinkId::at(i))];
  const auto smallest = *std::ranges::min_element(collective.chunk_sizes());
  return least_time(problem, links, smallest, static_cast<std::int64_t>(sends));
}

}  // namespace

std::optional<SimTime> volume_distance_bound(const BoundProblem& problem) {
  const auto kind = problem.collective.kind();
  if (kind != CollectiveKind::all_to_all && is_classic(problem.collective)) return std::nullopt;
  if (kind == CollectiveKind::all_to_all && is_plain_product(problem)) return distances_by_dimension(problem);
  return distances_by_search(problem);
}

std::optional<SimTime> middle_cut_bound(const BoundProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_to_all || !is_plain_product(problem)) return std::nullopt;
  const auto links = links_by_dimension(problem.topology);
  SimTime bound = SimTime::zero();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Block& block = problem.topology.shape()->blocks[i];
    if (block.rule->links_per_middle_link == nullptr || block.size < 2) continue;
    const auto k = static_cast<std::int64_t>(block.size);
    auto middle = links[i];
    for (auto& count : middle) count /= block.rule->links_per_middle_link(block.size);
    const std::int64_t sends = (k / 2) * (k - k / 2) * chunks_per_position_pair(problem, block);
    bound = std::max(bound, least_time(problem, middle, problem.collective.chunk_sizes()[0], sends));
  }
  return bound;
}

}  // namespace tenex
