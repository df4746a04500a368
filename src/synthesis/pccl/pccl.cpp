// The registry entry `pccl`: an engine for the whole collective.
//
// `auto` takes the first engine that suits. Small problems are also routed condition by condition, which may be a
// little better where a plan for all NPUs must round, and again in more orders than were asked for; the best one is
// kept, the first among equals.
#include "synthesis/pccl/engines.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "synthesis/pccl/paths/paths.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// By estimates from sizes alone, so that the choice is the same everywhere.
constexpr double kWeightToTryPaths = 0.25;
/// Over plain switches that cut through the plan for all NPUs is near the bound of their ports, and a search looks at
/// every physical link that a path shares, which its estimate does not count. Only the search uses switches that copy
/// or add.
constexpr double kWeightToTryPathsOverWires = 0.005;
/// Over switches that store and forward the plan for all NPUs loses nothing where they copy, and does not exist where
/// they could add and copy. Trees that grow destination by destination take some times their estimate.
constexpr double kWeightToTryPathsOverSwitches = 0.05;

bool any_copies_or_adds(const Topology& network) {
  for (std::size_t v = network.npus(); v < network.vertices(); ++v) {
    const SwitchProperties& properties = network.switch_properties(VertexId::at(v));
    if (properties.copy || properties.reduce) return true;
  }
  return false;
}

double most_weight_to_try_paths(const Topology& topology) {
  if (topology.switches() > 0) return kWeightToTryPathsOverSwitches;
  const Wires* wires = topology.wires();
  return wires != nullptr && !any_copies_or_adds(wires->network()) ? kWeightToTryPathsOverWires : kWeightToTryPaths;
}

/// More attempts where the search is the engine that suits: they take about as long again as the one before.
constexpr double kWeightOfMoreAttempts = 0.03;
/// The attempts of `auto`, in orders that the same seed draws.
constexpr std::uint32_t kAttemptsOfAuto = 8;

/// The problems that `auto` also routes condition by condition: with its attempts, and with more where they take no
/// time to speak of. A plan of more attempts is no worse before it is improved; after that it may be, so both are made.
std::vector<SynthesisProblem> problems_for_paths(const SynthesisProblem& problem, const SynthesisEngine& chosen) {
  std::vector<SynthesisProblem> problems;
  if (problem.engine != kAutomaticEngine || paths_unsuitable(problem)) return problems;
  const bool routes = chosen.name == pccl_engine::paths;
  const double most_weight = std::max(most_weight_to_try_paths(problem.topology), routes ? kWeightOfMoreAttempts : 0);
  for (const std::uint32_t attempts : {problem.attempts, kAttemptsOfAuto}) {
    const bool again = (routes || !problems.empty()) && attempts <= problem.attempts;
    if (again) continue;
    SynthesisProblem routed = problem;
    routed.attempts = attempts;
    if (paths_work(routed).weight() <= most_weight && paths_bytes(routed) <= problem.memory_limit_bytes)
      problems.push_back(std::move(routed));
  }
  return problems;
}

}  // namespace

Result<Synthesis> synthesize_pccl(const SynthesisProblem& problem) {
  const auto engine = choose_engine(pccl_engines(), problem);
  if (!engine) return engine.errors();
  auto made = (*engine)->synthesize(problem);
  if (!made) return made;
  const SimTime bound = best_cheap_bound({problem, true}).time;
  for (const SynthesisProblem& other : problems_for_paths(problem, **engine)) {
    if (made->time <= bound) break;
    auto routed = pccl_engines().back().synthesize(other);
    if (routed && routed->time < made->time) made = std::move(routed);
  }
  return made;
}

std::size_t pccl_bytes(const SynthesisProblem& problem) {
  const auto chosen = choose_engine(pccl_engines(), problem);
  const SynthesisEngine& engine = chosen ? **chosen : pccl_engines().back();
  std::size_t routing = 0;
  for (const auto& other : problems_for_paths(problem, engine)) routing = std::max(routing, paths_bytes(other));
  return engine.bytes(problem) + routing;
}

Work pccl_work(const SynthesisProblem& problem) {
  const auto chosen = choose_engine(pccl_engines(), problem);
  const SynthesisEngine& engine = chosen ? **chosen : pccl_engines().back();
  Work work = engine.work(problem);
  for (const auto& other : problems_for_paths(problem, engine)) work += paths_work(other);
  return work;
}

}  // namespace tenex
