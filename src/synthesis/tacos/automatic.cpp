#include "synthesis/tacos/automatic.hpp"

#include <limits>
#include <optional>

#include <fmt/format.h>

#include "synthesis/tacos/coarse/coarse.hpp"
#include "synthesis/tacos/engines.hpp"
#include "synthesis/tacos/event_driven/event_driven.hpp"
#include "synthesis/tacos/exact/exact.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {
namespace {

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

Result<Gathered> gather(const SynthesisProblem& problem, const Contenders& candidates) {
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

}  // namespace

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

Result<Gathered> gather_large(const SynthesisProblem& problem) { return gather(problem, large_candidates(problem)); }
Result<Gathered> gather_mixed(const SynthesisProblem& problem) { return gather(problem, mixed_candidates(problem)); }
std::size_t large_bytes(const SynthesisProblem& problem) { return bytes_of(problem, large_candidates(problem)); }
std::size_t mixed_bytes(const SynthesisProblem& problem) { return bytes_of(problem, mixed_candidates(problem)); }
Work large_work(const SynthesisProblem& problem) { return work_of(problem, large_candidates(problem)); }
Work mixed_work(const SynthesisProblem& problem) { return work_of(problem, mixed_candidates(problem)); }

}  // namespace tenex
