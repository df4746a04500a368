// Multi-start around the levels engine, as exact.cpp around the step engine: attempts one after another, the best kept,
// a run's threads shared among its NPUs.
#include "synthesis/levels/levels.hpp"
#include "synthesis/tacos/engine_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "synthesis/levels/level_engine.hpp"
#include "synthesis/levels/level_plan.hpp"
#include "synthesis/sends_estimate.hpp"
#include "synthesis/steps/attempts.hpp"
#include "synthesis/steps/bands.hpp"
#include "synthesis/tacos/event_driven.hpp"
#include "synthesis/tacos/tacos.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {
namespace {

/// `auto` asks the event-driven engine too where this one ends more than a part of the bound above it, up to so many
/// deliveries (a minute).
constexpr std::int64_t kGain = 200;
constexpr std::uint64_t kWorthBoth = std::uint64_t{1} << 25;

// Measured at -O3 on a shared machine: grid(16,16,16) 40 ns, mesh(100,100) 70 to 90 ns, mesh(200,200) 95 ns.
constexpr double kSecondsPerDelivery = 80e-9;
constexpr double kBytesPerPort = 12 + 32 + 24;  ///< plan, walks, table and search for bands
constexpr double kBytesPerNpu = 96;

/// The attempts' settings. What arrives in a tile is forwarded in the next, so crossing the topology takes a tile per
/// level; that must be a small part of the whole.
LevelAttempt settings_of(const LevelPlan& plan, std::size_t levels, std::uint32_t attempt) {
  constexpr std::int64_t kCrossings = 8;
  const std::int64_t widest = plan.least_rows / (static_cast<std::int64_t>(levels) * kCrossings);
  LevelAttempt settings;
  settings.shuffled = attempt > 0;
  settings.widest_tile =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(attempt == 0 ? widest : widest / 4, 1, 64));
  return settings;
}

/// Tiles of a run of so many rows: one row each at first, then as wide as the ramp allows.
double tiles_of(const LevelAttempt& settings, double rows) {
  double tiles = 0;
  double row = 0;
  for (double width = 1; row < rows; ++width) {
    const double until = width >= settings.widest_tile ? rows : std::min(rows, settings.ramp * (width + 1));
    tiles += (until - row) / width;
    row = until;
  }
  return tiles + 16;
}

template <class Slot>
Gathered run_attempts(const SynthesisProblem& problem, const LevelPlan& plan) {
  const auto levels = find_bands(plan.steps, 1).levels;
  return best_of_attempts(problem, plan.steps, [&](std::uint32_t attempt, const Random& stream, int threads) {
    return run_levels<Slot>(plan, settings_of(plan, levels, attempt), stream, threads);
  });
}

Gathered gather_by_levels(const SynthesisProblem& problem) {
  const LevelPlan plan = make_level_plan(problem);
  return fits_narrow(plan.steps) ? run_attempts<std::uint16_t>(problem, plan)
                                 : run_attempts<std::uint32_t>(problem, plan);
}

/// Where no NPU has bandwidth to spare, as in products of rings and fully connected blocks, or chunks cross the network
/// in a few steps, first in, first out on a grid of steps costs some percent.
bool may_ask_events(const SynthesisProblem& problem) {
  return problem.engine == kAutomaticEngine && problem.collective.required_deliveries() <= kWorthBoth;
}

std::size_t bytes_by_levels(const SynthesisProblem& problem) {
  const LevelPlan plan = make_level_plan(problem);
  const auto levels = find_bands(plan.steps, 1).levels;
  const LevelAttempt settings = settings_of(plan, levels, problem.attempts > 1 ? 1 : 0);
  const auto npus = static_cast<double>(plan.steps.npus());
  const auto ports = static_cast<double>(plan.steps.ports.size());
  double rows = npus;  // of bits
  for (const auto& clusters : plan.chunks_in) rows += static_cast<double>(clusters.size());
  const double bits = rows * (plan.steps.widest_group / 64 + 1) * 8;
  const double tiles = tiles_of(settings, 1.05 * static_cast<double>(plan.least_rows));
  const double tables = table_bytes(plan.steps, tiles, problem.attempts);
  return static_cast<std::size_t>(bits + tables + npus * kBytesPerNpu + ports * kBytesPerPort);
}

}  // namespace

std::string levels_unsuitable(const SynthesisProblem& problem) {
  if (problem.topology.homogeneous() && problem.collective.chunk_sizes().size() == 1) return "all links are alike";
  if (problem.engine == kAutomaticEngine && problem.collective.required_deliveries() < kWorthSteps)
    return "the problem is small";
  return step_refusal(problem);
}

Result<Gathered> gather_levels(const SynthesisProblem& problem) {
  const std::string refusal = step_refusal(problem);
  if (!refusal.empty()) return unsupported_error({}, "the engine `exact` cannot make this schedule", refusal);
  Gathered steps = gather_by_levels(problem);
  if (!may_ask_events(problem)) return steps;
  const SimTime bound = best_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  if (steps.time <= bound + bound / kGain) return steps;
  const std::size_t needed = steps.schedule.memory_bytes() + event_driven_bytes(problem);
  if (needed > problem.memory_limit_bytes) {
    steps.left_out =
        fmt::format("the event-driven engine was not tried: with it, the synthesis needs {} bytes", needed);
    return steps;
  }
  auto events = gather_event_driven(problem);
  if (!events || steps.time <= events->time) return steps;
  events->engine = tacos_engine::event_driven;
  return events;
}

std::size_t levels_bytes(const SynthesisProblem& problem) {
  const std::size_t steps = bytes_by_levels(problem);
  if (!may_ask_events(problem)) return steps;
  const std::size_t both = steps + event_driven_bytes(problem);
  return both <= problem.memory_limit_bytes ? both : steps;
}

double levels_seconds(const SynthesisProblem& problem) {
  const double steps =
      std::max<std::uint32_t>(1, problem.attempts) * sends_of_one_pass(problem.collective) * kSecondsPerDelivery;
  return may_ask_events(problem) ? steps + event_driven_seconds(problem) : steps;
}

}  // namespace tenex
