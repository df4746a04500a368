// Multi-start around the levels engine, as in exact.cpp around the step engine: attempts one after another, of which
// the best is kept, with a run's threads sharing its NPUs.
#include "synthesis/tacos/exact/exact.hpp"

#include <algorithm>
#include <cstdint>

#include "synthesis/compose.hpp"
#include "synthesis/tacos/exact/attempts.hpp"
#include "synthesis/tacos/exact/bands.hpp"
#include "synthesis/tacos/exact/level_engine.hpp"

namespace tenex {
namespace {

constexpr double kBytesPerPort = 12 + 32 + 24;  ///< setup, walks, table and search for bands
constexpr double kBytesPerNpu = 96;

/// The settings of an attempt. Chunks that arrive in a tile are forwarded in the next, so crossing the topology takes a
/// tile per level; that must be a small part of the whole.
LevelAttempt settings_of(const LevelSetup& setup, std::size_t levels, std::uint32_t attempt) {
  constexpr std::int64_t kCrossings = 8;
  const std::int64_t widest = setup.least_rows / (static_cast<std::int64_t>(levels) * kCrossings);
  LevelAttempt settings;
  settings.shuffled = attempt > 0;
  settings.widest_tile =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(attempt == 0 ? widest : widest / 4, 1, 64));
  return settings;
}

/// The number of tiles of a run of `rows` rows: one row each at first, then as wide as the ramp allows.
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
Gathered run_attempts(const SynthesisProblem& problem, const LevelSetup& setup) {
  const auto levels = find_bands(setup.steps, 1).levels;
  return best_of_attempts(problem, setup.steps, [&](std::uint32_t attempt, const Random& stream, int threads) {
    return run_levels<Slot>(setup, settings_of(setup, levels, attempt), stream, threads);
  });
}

Gathered gather_by_levels(const SynthesisProblem& problem) {
  const LevelSetup setup = make_level_setup(problem);
  return fits_narrow(setup.steps) ? run_attempts<std::uint16_t>(problem, setup)
                                  : run_attempts<std::uint32_t>(problem, setup);
}

}  // namespace

std::string levels_unsuitable(const SynthesisProblem& problem) {
  if (problem.topology.homogeneous() && problem.collective.chunk_sizes().size() == 1) return "all links are alike";
  return step_refusal(problem);
}

Result<Gathered> gather_levels(const SynthesisProblem& problem) {
  const std::string refusal = step_refusal(problem);
  if (!refusal.empty()) return unsupported_error({}, "the engine `exact` cannot make this schedule", refusal);
  return gather_by_levels(problem);
}

std::size_t levels_bytes(const SynthesisProblem& problem) {
  const LevelSetup setup = make_level_setup(problem);
  const auto levels = find_bands(setup.steps, 1).levels;
  const LevelAttempt settings = settings_of(setup, levels, problem.attempts > 1 ? 1 : 0);
  const auto npus = static_cast<double>(setup.steps.npus());
  const auto ports = static_cast<double>(setup.steps.ports.size());
  double rows = npus;  // rows of bits
  for (const auto& clusters : setup.chunks_in) rows += static_cast<double>(clusters.size());
  const std::uint32_t words = setup.steps.widest_group / 64 + 1;  // of a row of bits
  const double bits = rows * words * 8;
  const double tiles = tiles_of(settings, 1.05 * static_cast<double>(setup.least_rows));
  const double tables = table_bytes(setup.steps, tiles, problem.attempts);
  return static_cast<std::size_t>(bits + tables + npus * kBytesPerNpu + ports * kBytesPerPort);
}

Work levels_work(const SynthesisProblem& problem) {
  return {WorkUnit::level_delivery,
          std::max<std::uint32_t>(1, problem.attempts) * sends_of_one_pass(problem.collective)};
}

}  // namespace tenex
