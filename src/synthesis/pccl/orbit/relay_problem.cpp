#include "synthesis/pccl/orbit/relay_problem.hpp"

#include <utility>

#include "tenex/schedule/views/relayed.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

std::optional<RelayProblem> RelayProblem::of(const SynthesisProblem& problem) {
  if (problem.collective.chunk_sizes().size() != 1 || !may_be_relayed(problem.topology, problem.collective.kind()))
    return std::nullopt;
  auto ways = relay_wires_of(problem.topology, problem.collective.chunk_sizes()[0]);
  if (!ways) return std::nullopt;
  const auto shared = std::make_shared<const Topology>(*std::move(ways));
  SynthesisProblem same{{*shared, problem.collective, problem.occupancy}};
  same.seed = problem.seed;
  same.attempts = problem.attempts;
  same.threads = problem.threads;
  same.memory_limit_bytes = problem.memory_limit_bytes;
  return RelayProblem{shared, same};
}

Synthesis RelayProblem::relayed(Synthesis made) const {
  const bool same = made.schedule.storage() == made.without_overlap.storage();
  made.without_overlap = tenex::relayed(made.without_overlap, ways);
  made.schedule = same ? made.without_overlap : tenex::relayed(made.schedule, ways);
  return made;
}

double relay_bytes(const Topology& topology) {
  if (!topology.shape() || !topology.shape()->is_product()) return 0;
  return static_cast<double>(wire_bytes(topology.npus(), count_wires(*topology.shape())));
}

}  // namespace tenex
