#include "synthesis/pccl/engines.hpp"

#include "synthesis/pccl/grid/grid.hpp"
#include "synthesis/pccl/orbit/orbit.hpp"
#include "synthesis/pccl/paths/paths.hpp"
#include "synthesis/pccl/side_by_side.hpp"

namespace tenex {
namespace {

/// Routes one condition after the other, with the relays and passes that the problem asks for.
Result<Gathered> gather_as_asked(const SynthesisProblem& problem) {
  const auto improves = [&](Improvement one) { return problem.improve == one || problem.improve == Improvement::all; };
  PathsOptions options;
  options.outside = problem.relays == Relays::any;
  options.retime = improves(Improvement::retime);
  if (!improves(Improvement::reroute)) options.reroute_effort = 0;
  auto plan = plan_paths(problem, options);
  if (!plan) return plan.errors();
  for (const PathsPass& pass : plan->report.passes) {
    auto& run = plan->gathered.run;
    if (run.searched_time_ps < 0) {
      run.searched_time_ps = pass.before.count();
      run.retime_gain_ps = run.reroute_gain_ps = run.rerouted = 0;
    }
    const bool reroutes = pass.name == "reroute";
    if (reroutes) run.rerouted = static_cast<std::int64_t>(pass.work);
    (reroutes ? run.reroute_gain_ps : run.retime_gain_ps) += (pass.before - pass.after).count();
  }
  return std::move(plan->gathered);
}

Result<Synthesis> synthesize_paths(const SynthesisProblem& problem) {
  const auto& collective = problem.collective;
  if (collective.kind() == CollectiveKind::mixed && collective.has_sums())
    return compose_side_by_side(problem, gather_as_asked, pccl_engine::paths);
  return compose(problem, gather_as_asked, pccl_engine::paths);
}

Result<Synthesis> synthesize_grid(const SynthesisProblem& problem) {
  return compose(problem, grid_all_to_all, pccl_engine::grid);
}

/// Whether only members may relay although others could. The engines that move one plan take all NPUs as relays, and
/// have only members where one group has them all.
std::optional<std::string> forbids_relays(const SynthesisProblem& problem) {
  if (problem.relays == Relays::any || problem.collective.groups().size() == 1) return std::nullopt;
  return "it does not keep to the members of process groups";
}

std::optional<std::string> orbit_refusal(const SynthesisProblem& problem) {
  if (auto reason = forbids_relays(problem)) return reason;
  return pccl_orbit_unsuitable(problem);
}

}  // namespace

const std::vector<SynthesisEngine>& pccl_engines() {
  static const std::vector<SynthesisEngine> table = {
      {pccl_engine::orbit, orbit_refusal, synthesize_pccl_orbit, pccl_orbit_bytes, pccl_orbit_work},
      {pccl_engine::grid, grid_unsuitable, synthesize_grid, grid_bytes, grid_work},
      {pccl_engine::paths, paths_unsuitable, synthesize_paths, paths_bytes, paths_work},
  };
  return table;
}

}  // namespace tenex
