// The registry entry `tacos`: picks an engine for each gather and composes the collective.
#include "synthesis/tacos/tacos.hpp"

#include <limits>

#include "synthesis/compose.hpp"
#include "synthesis/tacos/engines.hpp"

namespace tenex {
namespace {

// The gather, on the same topology, that the problem's collective is composed of. Engines judge it.
SynthesisProblem gather_part(const SynthesisProblem& problem, const Collective& gather) {
  const auto& part = problem;
  return {part.topology, gather,       part.occupancy, part.seed,
          part.attempts, part.threads, part.engine,    part.memory_limit_bytes};
}

Collective gather_collective(const Collective& collective) {
  const auto kind = collective.kind();
  const bool rooted = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  return collective.as(rooted ? CollectiveKind::broadcast : CollectiveKind::all_gather);
}

// The engine that is named or chosen; the event-driven one if the choice fails, so that estimates never fail.
const TacosEngine& engine_of(const SynthesisProblem& problem) {
  const Collective gather = gather_collective(problem.collective);
  const auto chosen = choose_engine(gather_part(problem, gather));
  return chosen ? **chosen : engines().back();
}

/// Bytes of the gathers, without re-timing: two gathers if an All-Reduce's reduction is not a view of its gather.
std::size_t gathers_bytes(const SynthesisProblem& problem, const TacosEngine& engine) {
  if (engine.choice == tacos_engine::event_driven) return engine.bytes(problem);  // its estimate covers both gathers
  const Collective gather = gather_collective(problem.collective);
  const bool twice =
      problem.collective.kind() == CollectiveKind::all_reduce && !opposite_links(problem.topology).has_value();
  return (twice ? 2 : 1) * engine.bytes(gather_part(problem, gather));
}

}  // namespace

Result<Synthesis> synthesize_tacos(const SynthesisProblem& problem) {
  const Collective gather = gather_collective(problem.collective);
  const auto engine = choose_engine(gather_part(problem, gather));
  if (!engine) return engine.errors();
  if ((*engine)->whole != nullptr) return (*engine)->whole(problem);
  auto planned = problem;
  if (planned.memory_limit_bytes < std::numeric_limits<std::size_t>::max())
    planned.memory_limit_bytes = tacos_bytes(problem);  // no more than was planned, even if more would fit
  return compose(planned, (*engine)->gather, (*engine)->name);
}

std::size_t tacos_bytes(const SynthesisProblem& problem) {
  const TacosEngine& engine = engine_of(problem);
  if (engine.whole != nullptr) return engine.bytes(problem);
  const std::size_t gathers = gathers_bytes(problem, engine);
  const std::size_t with_retiming = gathers + retiming_bytes(problem, engine.choice);
  return with_retiming <= problem.memory_limit_bytes ? with_retiming : gathers;
}

bool tacos_uses_threads(const SynthesisProblem& problem) {
  const TacosEngine& engine = engine_of(problem);
  return engine.whole == nullptr && engine.choice != tacos_engine::event_driven;
}

double tacos_seconds(const SynthesisProblem& problem) {
  const TacosEngine& engine = engine_of(problem);
  if (engine.whole != nullptr || engine.choice == tacos_engine::event_driven) return engine.seconds(problem);
  const Collective gather = gather_collective(problem.collective);
  return engine.seconds(gather_part(problem, gather)) + retiming_seconds(problem, engine.choice);
}

}  // namespace tenex
