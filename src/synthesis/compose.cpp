// The compositions.
#include "synthesis/compose.hpp"

#include <string>
#include <utility>

#include "tenex/schedule/retime.hpp"
#include "tenex/schedule/views.hpp"

namespace tenex {

namespace {

/// The partner whose time reversal is the reduction.
CollectiveKind partner_of(CollectiveKind reduction) {
  return reduction == CollectiveKind::reduce ? CollectiveKind::broadcast : CollectiveKind::all_gather;
}

SynthesisProblem with(const SynthesisProblem& problem, const Topology& topology, const Collective& collective) {
  return {topology, collective, problem.occupancy, problem.seed, problem.attempts, problem.threads, problem.engine};
}

Result<Gathered> reduce_by_reversal(const SynthesisProblem& problem, const Collective& reduction, Gatherer gather) {
  const Topology turned = problem.topology.reversed();
  const Collective partner = reduction.as(partner_of(reduction.kind()));
  auto gathered = gather(with(problem, turned, partner));
  if (gathered) gathered->schedule = reversed(problem.topology, reduction, problem.occupancy, gathered->schedule);
  return gathered;
}

Synthesis from(Gathered part, std::string_view engine) {
  Synthesis synthesis;
  synthesis.without_overlap = part.schedule;
  synthesis.schedule = std::move(part.schedule);
  synthesis.time = synthesis.time_without_overlap = part.time;
  synthesis.engine = std::string(engine);
  synthesis.best_attempt = part.best_attempt;
  synthesis.pruned_waste = part.pruned_waste;
  return synthesis;
}

Result<Synthesis> all_reduce(const SynthesisProblem& problem, Gatherer gather, std::string_view engine) {
  const auto& [topology, collective, occupancy, seed, attempts, threads, engine_choice] = problem;
  const Collective scattering = collective.as(CollectiveKind::reduce_scatter);
  const Collective gathering = collective.as(CollectiveKind::all_gather);
  auto reduction = reduce_by_reversal(problem, scattering, gather);
  if (!reduction) return reduction.errors();
  auto gathered = gather(with(problem, topology, gathering));
  if (!gathered) return gathered.errors();
  Synthesis synthesis = from(std::move(*gathered), engine);
  synthesis.pruned_waste += reduction->pruned_waste;
  synthesis.without_overlap = then_gather(topology, collective, occupancy, reduction->schedule, synthesis.schedule);
  synthesis.time_without_overlap = reduction->time + synthesis.time;
  synthesis.schedule = retime(topology, collective, occupancy, synthesis.without_overlap);
  synthesis.time = last_arrival(topology, collective, occupancy, synthesis.schedule);
  return synthesis;
}

}  // namespace

Result<Synthesis> compose(const SynthesisProblem& problem, Gatherer gather, std::string_view engine) {
  const auto kind = problem.collective.kind();
  if (kind == CollectiveKind::all_reduce) return all_reduce(problem, gather, engine);
  auto part = reduces(kind) ? reduce_by_reversal(problem, problem.collective, gather) : gather(problem);
  if (!part) return part.errors();
  return from(std::move(*part), engine);
}

Gathered without_waste(const SynthesisProblem& problem, const Schedule& schedule) {
  const auto& [topology, collective, occupancy, seed, attempts, threads, engine_choice] = problem;
  Gathered gathered;
  gathered.schedule = prune_waste(topology, collective, occupancy, schedule);
  gathered.time = last_arrival(topology, collective, occupancy, gathered.schedule);
  gathered.pruned_waste = schedule.sends() - gathered.schedule.sends();
  return gathered;
}

}  // namespace tenex
