// The registry entry `pccl`: an engine for the whole collective.
//
// `auto` takes the first engine that suits. Small problems are also routed condition by condition, which may be a
// little better where a plan for all NPUs must round; the better one is kept, the first among equals.
#include "synthesis/pccl/engines.hpp"
#include "synthesis/pccl/paths/paths.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// By estimates from sizes alone, so that the choice is the same everywhere.
constexpr double kSecondsToTryPaths = 0.25;
/// Over plain switches that cut through the plan for all NPUs is near the bound of their ports, and a search looks at
/// every physical link that a path shares, which its estimate does not count. Only the search uses switches that copy
/// or add.
constexpr double kSecondsToTryPathsOverWires = 0.005;
/// Over switches that store and forward the plan for all NPUs loses nothing where they copy, and does not exist where
/// they could add and copy. Trees that grow destination by destination take some times their estimate.
constexpr double kSecondsToTryPathsOverSwitches = 0.05;

bool any_copies_or_adds(const Topology& network) {
  for (std::size_t v = network.npus(); v < network.vertices(); ++v) {
    const SwitchProperties& properties = network.switch_properties(VertexId::at(v));
    if (properties.copy || properties.reduce) return true;
  }
  return false;
}

double most_seconds_to_try_paths(const Topology& topology) {
  if (topology.switches() > 0) return kSecondsToTryPathsOverSwitches;
  const Wires* wires = topology.wires();
  return wires != nullptr && !any_copies_or_adds(wires->network()) ? kSecondsToTryPathsOverWires : kSecondsToTryPaths;
}

/// Whether `auto` also routes condition by condition.
bool tries_paths(const SynthesisProblem& problem, const SynthesisEngine& chosen) {
  return problem.engine == kAutomaticEngine && chosen.name != pccl_engine::paths && !paths_unsuitable(problem) &&
         paths_seconds(problem) <= most_seconds_to_try_paths(problem.topology) &&
         paths_bytes(problem) <= problem.memory_limit_bytes;
}

}  // namespace

Result<Synthesis> synthesize_pccl(const SynthesisProblem& problem) {
  const auto engine = choose_engine(pccl_engines(), problem);
  if (!engine) return engine.errors();
  auto made = (*engine)->synthesize(problem);
  if (!made || !tries_paths(problem, **engine) || made->time <= best_cheap_bound({problem, true}).time) return made;
  auto routed = pccl_engines().back().synthesize(problem);
  return routed && routed->time < made->time ? routed : made;
}

std::size_t pccl_bytes(const SynthesisProblem& problem) {
  const auto chosen = choose_engine(pccl_engines(), problem);
  const SynthesisEngine& engine = chosen ? **chosen : pccl_engines().back();
  const auto bytes = engine.bytes(problem);
  return tries_paths(problem, engine) ? bytes + paths_bytes(problem) : bytes;
}

double pccl_seconds(const SynthesisProblem& problem) {
  const auto chosen = choose_engine(pccl_engines(), problem);
  const SynthesisEngine& engine = chosen ? **chosen : pccl_engines().back();
  return engine.seconds(problem) + (tries_paths(problem, engine) ? paths_seconds(problem) : 0);
}

}  // namespace tenex
