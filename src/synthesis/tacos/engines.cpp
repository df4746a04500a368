#include "synthesis/tacos/engines.hpp"

#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "synthesis/compose.hpp"
#include "synthesis/orbit/symmetric.hpp"
#include "synthesis/synthesizers.hpp"
#include "synthesis/tacos/coarse/coarse.hpp"
#include "synthesis/tacos/event_driven/event_driven.hpp"
#include "synthesis/tacos/exact/exact.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {
namespace {

// The engine `auto` where two engines may be worth their time. The first one is always run, the second only if the
// first leaves something to gain. The faster schedule is kept, and the first engine's among equals. Both engines are
// deterministic, so the choice is too.
//
// Links alike (`large`): coarse, then exact. The coarse engine costs a hundredth of the exact one and often meets the
// proven bound, and its schedule takes less memory.
//
// Links that differ (`mixed`): the exact engine on grids of steps, then the event-driven engine. First in, first out on
// a grid of steps costs some percent where no NPU has spare bandwidth, as in products of rings and fully connected
// blocks, or where chunks cross the network in a few steps.

struct Contender {
  std::string_view name;
  std::string_view description;
  Gatherer make;
  std::size_t (*bytes)(const SynthesisProblem&);
  Work (*work)(const SynthesisProblem&);

  [[nodiscard]] Result<Gathered> gather(const SynthesisProblem& problem) const {
    auto gathered = make(problem);
    if (gathered) gathered->engine = name;
    return gathered;
  }
};

constexpr Contender kCoarse{tacos_engine::coarse, "coarse", gather_coarse, coarse_bytes, coarse_work};
constexpr Contender kExact{tacos_engine::exact, "exact", gather_exact, exact_bytes, exact_work};
constexpr Contender kLevels{tacos_engine::exact, "exact", gather_levels, levels_bytes, levels_work};
constexpr Contender kEvents{tacos_engine::event_driven, "event-driven", gather_event_driven, event_driven_bytes,
                            event_driven_work};

/// Smaller gathers are made as quickly, and better, by the event-driven engine.
constexpr std::uint64_t kWorthSteps = 200'000;
/// The event-driven engine is tried up to this number of deliveries (a minute).
constexpr std::uint64_t kWorthEvents = std::uint64_t{1} << 25;

/// The engines to try for a gather.
struct Contenders {
  Contender first;
  std::optional<Contender> second;
  /// The second one is tried if the first ends more than bound / slack above the bound.
  std::int64_t slack = std::numeric_limits<std::int64_t>::max();
};

Contenders large_candidates(const SynthesisProblem& problem) {
  if (!coarse_unsuitable(problem).empty()) return {kExact, {}};
  return {kCoarse, kExact};
}

Contenders mixed_candidates(const SynthesisProblem& problem) {
  if (problem.collective.required_deliveries() > kWorthEvents) return {kLevels, {}};
  return {kLevels, kEvents, 200};
}

Result<Gathered> gather_by_tacos(const SynthesisProblem& problem, const Contenders& candidates) {
  auto first = candidates.first.gather(problem);
  if (!candidates.second) return first;
  const Contender& rival = *candidates.second;
  if (!first) return rival.gather(problem);
  const auto bound = best_cheap_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  if (first->time <= bound + bound / candidates.slack || problem.good_enough.reached(first->time, bound)) return first;
  if (rival.bytes(problem) > problem.memory_limit_bytes) {
    first->left_out = fmt::format("the {} engine was not tried: with it, the synthesis needs {} bytes",
                                  rival.description, rival.bytes(problem));
    return first;
  }
  // A first result far above the bound is larger than it was planned. Where both do not fit, it is made again if it
  // turns out to be the better one.
  const SimTime time = first->time;
  const bool kept = first->schedule.memory_bytes() + rival.bytes(problem) <= problem.memory_limit_bytes;
  if (!kept) *first = {};
  auto second = rival.gather(problem);
  if (second && second->time < time) return second;
  return kept ? std::move(first) : candidates.first.gather(problem);
}

bool fit_together(const SynthesisProblem& problem, const Contenders& candidates) {
  return candidates.second &&
         candidates.first.bytes(problem) + candidates.second->bytes(problem) <= problem.memory_limit_bytes;
}

std::size_t bytes_of(const SynthesisProblem& problem, const Contenders& candidates) {
  return candidates.first.bytes(problem) + (fit_together(problem, candidates) ? candidates.second->bytes(problem) : 0);
}

Work work_of(const SynthesisProblem& problem, const Contenders& candidates) {
  return candidates.first.work(problem) +
         (fit_together(problem, candidates) ? candidates.second->work(problem) : Work());
}

/// Why a gather is left to other engines; empty if it is not. O(links).
std::string large_unsuitable(const SynthesisProblem& problem) {
  if (!problem.topology.homogeneous() || problem.collective.chunk_sizes().size() > 1)
    return "where sends take unequally long, slow links have to leave chunks to fast ones";
  if (problem.collective.required_deliveries() < kWorthSteps) return "the problem is small";
  return exact_refusal(problem);
}

std::string mixed_unsuitable(const SynthesisProblem& problem) {
  if (problem.collective.required_deliveries() < kWorthSteps) return "the problem is small";
  return levels_unsuitable(problem);
}

/// Makes the gather; `Gathered::engine` names the engine that made it. If the second engine does not fit into the
/// problem's memory limit beside the first schedule, it is left out and `left_out` says so.
Result<Gathered> gather_large(const SynthesisProblem& problem) {
  return gather_by_tacos(problem, large_candidates(problem));
}
Result<Gathered> gather_mixed(const SynthesisProblem& problem) {
  return gather_by_tacos(problem, mixed_candidates(problem));
}
/// Bytes at the peak and work: those of both engines if they fit into the problem's limit together,
/// otherwise those of the first alone, which must fit.
std::size_t large_bytes(const SynthesisProblem& problem) { return bytes_of(problem, large_candidates(problem)); }
std::size_t mixed_bytes(const SynthesisProblem& problem) { return bytes_of(problem, mixed_candidates(problem)); }
Work large_work(const SynthesisProblem& problem) { return work_of(problem, large_candidates(problem)); }
Work mixed_work(const SynthesisProblem& problem) { return work_of(problem, mixed_candidates(problem)); }

constexpr double kWeightToTryLayers = 0.8;  // they often gain a tenth where lines are

}  // namespace

const std::vector<TacosEngine>& engines() {
  static const std::vector<TacosEngine> table = {
      {tacos_engine::symmetric, "symmetric", "one NPU's schedule, translated to all others, O(n)", symmetric_unsuitable,
       true, gather_symmetric, symmetric_bytes, symmetric_work, synthesize_symmetric},
      {tacos_engine::symmetric,
       "symmetric",
       "one schedule for each layer of lines, translated to all positions of the layer",
       layered_unsuitable,
       false,
       gather_layered,
       layered_bytes,
       layered_work,
       nullptr,
       {},
       kWeightToTryLayers},
      {tacos_engine::coarse, "coarse",
       "blocks of NPUs as units, expanded to single sends: fast, a little above the bound", coarse_unsuitable, false,
       gather_coarse, coarse_bytes, coarse_work},
      {tacos_engine::exact, "exact", "chunk by chunk where links differ, slow ones delivering what fast ones lack",
       levels_unsuitable, false, gather_levels, levels_bytes, levels_work},
      {kAutomaticEngine,
       "mixed",
       "exact where links differ, and event by event where that leaves something to gain",
       mixed_unsuitable,
       true,
       gather_mixed,
       mixed_bytes,
       mixed_work,
       nullptr,
       {tacos_engine::exact, tacos_engine::event_driven}},
      {tacos_engine::exact, "exact", "chunk by chunk on a grid of steps, tens of thousands of NPUs", exact_refusal,
       false, gather_exact, exact_bytes, exact_work},
      {kAutomaticEngine,
       "large",
       "coarse, and exact where that leaves something to gain",
       large_unsuitable,
       true,
       gather_large,
       large_bytes,
       large_work,
       nullptr,
       {tacos_engine::coarse, tacos_engine::exact}},
      {tacos_engine::event_driven, "event_driven", "any topology, chunk by chunk and event by event",
       [](const SynthesisProblem&) { return std::string(); }, true, gather_event_driven, event_driven_bytes,
       event_driven_work},
  };
  return table;
}

Result<const TacosEngine*> choose_engine(const SynthesisProblem& gather) {
  const bool any = gather.engine == kAutomaticEngine;
  std::string reason;  // of the last engine that does not suit
  for (const auto& engine : engines()) {
    if (any ? !engine.automatic : gather.engine != engine.choice) continue;
    reason = engine.unsuitable(gather);
    if (reason.empty()) return &engine;
  }
  if (any) return unsupported_error({}, "no engine of `tacos` can make this schedule");
  return input_error({}, "the engine `" + std::string(gather.engine) + "` cannot make this schedule", reason,
                     "leave the engine to `auto`");
}

}  // namespace tenex
