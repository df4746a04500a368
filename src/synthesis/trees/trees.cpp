// The registry entry `trees`: an engine for the whole collective. `auto` takes the first that suits, or a later one
// that is fast and better.
#include "synthesis/trees/trees.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "synthesis/trees/combs.hpp"
#include "synthesis/trees/cut_rate.hpp"
#include "synthesis/trees/packed.hpp"
#include "synthesis/trees/queued.hpp"
#include "synthesis/trees/tree_network.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

const std::vector<SynthesisEngine>& trees_engines() {
  static const std::vector<SynthesisEngine> table = {
      {trees_engine::combs, combs_unsuitable, synthesize_combs, combs_bytes, combs_work, combs_period_sends},
      {trees_engine::queued, queued_unsuitable, synthesize_queued, queued_bytes, queued_work},
      {trees_engine::packed, packed_unsuitable, synthesize_packed, packed_bytes, packed_work, packed_period_sends},
      {trees_engine::cut_rate, cut_rate_unsuitable, synthesize_cut_rate, cut_rate_bytes, cut_rate_work},
  };
  return table;
}

namespace {

/// By estimates from sizes alone, so that the choice is the same everywhere.
constexpr double kWeightToTry = 3.2;

/// The engine that suits, and those after it that `auto` tries, too: they suit and take little time. The last one if
/// none suits, so that estimates never fail.
std::vector<const SynthesisEngine*> engines_to_run(const SynthesisProblem& problem) {
  std::vector<const SynthesisEngine*> engines;
  for (const SynthesisEngine& engine : trees_engines()) {
    if (problem.engine != kAutomaticEngine && problem.engine != engine.name) continue;
    if (engine.unsuitable(problem)) continue;
    if (engines.empty() || engine.work(problem).weight() <= kWeightToTry) engines.push_back(&engine);
  }
  if (engines.empty()) engines.push_back(&trees_engines().back());
  return engines;
}

}  // namespace

Result<Synthesis> synthesize_trees(const SynthesisProblem& problem) {
  for (const auto& [npu, time] : problem.start_delays)
    if (npu.index() >= problem.topology.npus())
      return input_error({}, fmt::format("late NPU {} does not exist", npu.value()),
                         fmt::format("the topology has {} NPUs", problem.topology.npus()), "name another one");
  // NPUs that cannot be reached are told before any engine is.
  if (const auto pair = find_unreachable_npus(problem))
    return input_error(
        {}, fmt::format("NPU {} cannot be reached from NPU {}", pair->second.value(), pair->first.value()),
        "no path of links leads there, and trees need one", "add links, or put the NPUs into different process groups");
  const auto engine = choose_engine(trees_engines(), problem);
  if (!engine) return engine.errors();
  auto best = (*engine)->synthesize(problem);
  const auto others = engines_to_run(problem);
  const auto bound =
      others.size() > 1 ? best_cheap_bound({problem, true, true, problem.start_delays}).time : SimTime::zero();
  for (const SynthesisEngine* other : others) {
    if (!best || other == *engine || problem.good_enough.reached(best->time, bound)) continue;
    auto made = other->synthesize(problem);
    if (made && made->time < best->time) best = std::move(made);
  }
  return best;
}

/// Engines run one after another while the best schedule so far is held: what the two largest need covers both.
std::size_t trees_bytes(const SynthesisProblem& problem) {
  std::array<std::size_t, 2> largest = {0, 0};
  for (const SynthesisEngine* engine : engines_to_run(problem)) {
    const std::size_t bytes = engine->bytes(problem);
    largest = {std::max(largest[0], bytes), std::max(largest[1], std::min(largest[0], bytes))};
  }
  return largest[0] + largest[1];
}

Work trees_work(const SynthesisProblem& problem) {
  Work work;
  for (const SynthesisEngine* engine : engines_to_run(problem)) work += engine->work(problem);
  return work;
}

std::optional<double> trees_period_sends(const SynthesisProblem& problem) {
  double most = 0;
  for (const SynthesisEngine* engine : engines_to_run(problem)) {
    if (engine->checked_sends == nullptr) return std::nullopt;
    most = std::max(most, engine->checked_sends(problem));
  }
  return most;
}

}  // namespace tenex
