// The registry entry `tacos`: picks an engine for each gather and composes the collective.
#include "synthesis/tacos/tacos.hpp"

#include "synthesis/compose.hpp"
#include "synthesis/tacos/engines.hpp"

namespace tenex {
namespace {

// The gather that the problem's collective is made of, on the same topology: what engines judge.
SynthesisProblem gather_part(const SynthesisProblem& problem, const Collective& gather) {
  auto part = problem;
  return {part.topology, gather, part.occupancy, part.seed, part.attempts, part.threads, part.engine};
}

Collective gather_collective(const Collective& collective) {
  const auto kind = collective.kind();
  const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  return collective.as(rooted ? CollectiveKind::broadcast : CollectiveKind::all_gather);
}

// The engine named or chosen; the event-driven one where the choice fails, so that estimates never do.
const Engine& engine_of(const SynthesisProblem& problem) {
  const Collective gather = gather_collective(problem.collective);
  const auto chosen = choose_engine(gather_part(problem, gather));
  return chosen ? **chosen : engines().back();
}

}  // namespace

Result<Synthesis> synthesize_tacos(const SynthesisProblem& problem) {
  const Collective gather = gather_collective(problem.collective);
  const auto engine = choose_engine(gather_part(problem, gather));
  if (!engine) return engine.errors();
  if ((*engine)->whole != nullptr) return (*engine)->whole(problem);
  return compose(problem, (*engine)->gather, (*engine)->name);
}

std::size_t tacos_bytes(const SynthesisProblem& problem) {
  const Engine& engine = engine_of(problem);
  return engine.bytes(problem) + (engine.whole == nullptr ? retiming_bytes(problem.collective) : 0);
}
double tacos_seconds(const SynthesisProblem& problem) { return engine_of(problem).seconds(problem); }

}  // namespace tenex
