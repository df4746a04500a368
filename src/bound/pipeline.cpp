// Pipeline: several chunks pass an NPU's ports one after another, and each travels the farthest distance after or
// before that.
//
// Bound: T >= E + t, where t is the first instant by which k sends can have started at the ports of an NPU.
//
// Outward: k chunks start at an NPU (its own in All-Gather and Broadcast; its contributions to all nc chunks in
// All-Reduce) and leave in k distinct sends. At most floor(t/b) + 1 sends start by t on a link that each send keeps
// busy for b. So the last chunk starts no earlier than the first t at which these counts add up to k. From there to the
// farthest member it takes the eccentricity E. Inward: k sums end at an NPU (its own in Reduce-Scatter and Reduce; all
// nc in All-Reduce). Each takes an arrival that carries the farthest member's contribution: k distinct sends, none of
// which arrives before E. From E on, a link delivers at most floor((T-E)/b) + 1 of them, so again T >= E + t. On a
// 3-NPU line with 4 chunks an All-Reduce gets 2 + 11 = 13 steps, which is also enough.
//
// Sends of several chunks (BoundProblem::single_chunks): b is beta*m rounded down, and E stays. Outward: give the j-th
// chunk of a send at t the start t + (j-1) b. Starts over a link are b apart, and the chunk is at the link's end no
// earlier than its start + alpha + beta*m rounded up, as the send carries j chunks at least. Inward: the sends of K
// chunks over a link that bring the farthest contribution start at E - alpha - beta*m or later, rounded up, and keep it
// busy for K b in all, and for 1 ps more where beta*m is no whole number.
#include <algorithm>
#include <vector>

#include "bound/capacity.hpp"
#include "bound/demand.hpp"
#include "bound/eccentricities.hpp"
#include "bound/methods.hpp"

namespace tenex {

namespace {

/// The first t at which `links` can have begun `chunks` sends.
SimTime last_start(const BoundProblem& problem, std::span<const LinkId> links, Bytes size, std::int64_t chunks) {
  std::vector<std::int64_t> links_of_class(problem.topology.classes().size(), 0);
  for (const LinkId link : links) ++links_of_class[problem.topology.class_of(link)];
  auto bundles = bundles_of(problem, links_of_class, size);
  for (auto& bundle : bundles) bundle.hop.latency = SimTime::zero();
  return least_time(bundles, chunks);
}

SimTime pipeline(const BoundProblem& problem, Direction direction) {
  SimTime bound = SimTime::zero();
  for (const auto& [group, rank, distance] : eccentricities(problem, direction)) {
    const NpuDemand demand = npu_demand(problem.collective, group, rank);
    const VertexId vertex = vertex_of(problem.collective.groups()[group.index()].members[rank]);
    const SimTime waiting =
        last_start(problem, links_of(problem.topology, vertex, direction),
                   problem.collective.chunk_bytes(problem.collective.first_chunk(group)), demand.in(direction));
    bound = std::max(bound, distance > SimTime::max() - waiting ? SimTime::max() : distance + waiting);
  }
  return bound;
}

}  // namespace

std::optional<SimTime> pipeline_bound(const BoundProblem& problem) {
  if (!problem.follows_chunks()) return std::nullopt;
  switch (problem.collective.kind()) {
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
      return pipeline(problem, Direction::outward);
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce:
      return pipeline(problem, Direction::inward);
    case CollectiveKind::all_reduce:
      return std::max(pipeline(problem, Direction::outward), pipeline(problem, Direction::inward));
    default:
      return std::nullopt;  // the chunks that wait longest at an NPU need not be those that go farthest
  }
}

}  // namespace tenex
