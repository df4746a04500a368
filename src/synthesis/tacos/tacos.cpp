// The registry entry `tacos`: picks an engine for the gathers of a collective, and tries others where that costs next
// to nothing.
#include "synthesis/synthesizers.hpp"

#include "synthesis/tacos/engines.hpp"
#include "synthesis/tacos/trials.hpp"

namespace tenex {
namespace {

// The engine that is named or chosen; the event-driven one if the choice fails, so that estimates never fail.
const TacosEngine& engine_of(const SynthesisProblem& problem) {
  const auto chosen = choose_engine(GatherPart(problem).problem());
  return chosen ? **chosen : engines().back();
}

}  // namespace

Result<Synthesis> synthesize_tacos(const SynthesisProblem& problem) {
  const auto engine = choose_engine(GatherPart(problem).problem());
  if (!engine) return engine.errors();
  auto first = synthesize_with(problem, **engine);
  if (!first) return first;
  return best_of(problem, std::move(*first), trials_beside(problem, **engine));
}

std::size_t tacos_bytes(const SynthesisProblem& problem) {
  const TacosEngine& engine = engine_of(problem);
  return bytes_with(problem, engine, trials_beside(problem, engine));
}

bool tacos_uses_threads(const SynthesisProblem& problem) {
  const TacosEngine& engine = engine_of(problem);
  return engine.whole == nullptr && engine.choice != tacos_engine::event_driven &&
         engine.choice != tacos_engine::symmetric;
}

Work tacos_work(const SynthesisProblem& problem) {
  const TacosEngine& engine = engine_of(problem);
  return work_with(problem, engine, trials_beside(problem, engine));
}

}  // namespace tenex
