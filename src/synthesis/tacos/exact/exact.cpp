// Multi-start around the step engine: attempts one after another, of which the best is kept.
//
// Idea: the first attempt takes links and own chunks in order, with tiles as wide as latency allows; it nearly always
// meets the bound. If it does not, further attempts have narrower tiles and random orders. Links are scattered
// (step_engine.hpp) in every other attempt, from the first one if the topology is no intact shape. Attempts end when
// one meets the bound, so the earliest best attempt wins for any number of threads. The threads of a large run share
// its NPUs.
#include "synthesis/tacos/exact/exact.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "synthesis/compose.hpp"
#include "synthesis/tacos/exact/attempts.hpp"
#include "synthesis/tacos/exact/bands.hpp"
#include "synthesis/tacos/exact/step_engine.hpp"
#include "synthesis/tacos/exact/step_setup.hpp"
#include "synthesis/tacos/exact/tile_clock.hpp"
#include "tenex/base/bitset.hpp"

namespace tenex {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{6} << 20;  ///< memory of the NPUs of a sweep, per thread
constexpr std::uint32_t kMostSweepTiles = 16;
constexpr std::size_t kBandNpus = 64;  ///< per thread: some hundred microseconds of work between two barriers

constexpr double kBytesPerPort = 12 + 24 + 16;  ///< setup, cursors, table and search for bands
constexpr double kBytesPerNpu = 64;

/// The order in which the NPUs are visited; no influence on the result.
struct Walk {
  std::uint32_t sweep_tiles = 1;
  std::uint32_t band_levels = 1;
};

/// Several tiles pass over the NPUs together if the NPUs' bits do not stay in the cache from tile to tile. Bands are
/// wider by the number of threads, so that each thread has as much work between two barriers.
Walk walk_of(const StepSetup& setup, std::size_t levels, std::size_t threads) {
  const std::size_t per_npu = setup.widest_group / 8 + 512;
  const std::size_t cache = kCacheBytes * threads;
  if (setup.npus() * per_npu <= cache) return {};
  Walk walk;
  const std::size_t per_level = std::max<std::size_t>(1, setup.npus() / levels);
  walk.band_levels = static_cast<std::uint32_t>((kBandNpus * threads + per_level - 1) / per_level);
  const std::size_t per_band = per_level * walk.band_levels * per_npu;
  const std::size_t fits = std::max<std::size_t>(1, cache / (2 * per_band));
  walk.sweep_tiles = static_cast<std::uint32_t>(std::min<std::size_t>(fits, kMostSweepTiles));
  return walk;
}

/// The settings of an attempt. Chunks that arrive in a tile are forwarded in the next, so crossing the topology takes a
/// tile per level; that must be a small part of the whole. On mesh(200,200) tiles of 8 rows (6 crossings) meet the
/// bound; tiles of 12 and 16 rows took about a quarter and a third less CPU time and missed it by 2 to 6 of 20,000
/// steps.
StepAttempt settings_of(const StepSetup& setup, std::size_t levels, bool intact, std::uint32_t attempt) {
  StepAttempt settings;
  settings.shuffled = attempt > 0;
  settings.scattered = intact == (attempt % 2 == 1);
  const std::int64_t crossings = attempt > 0 ? 24 : 6;
  const std::int64_t widest = setup.least_rows / (static_cast<std::int64_t>(levels) * crossings);
  settings.widest_tile = static_cast<std::uint32_t>(std::clamp<std::int64_t>(widest, 1, 64));
  return settings;
}

/// The number of tiles of a run of about `rows` rows on one lane.
double tiles_of(const StepAttempt& settings, double rows) {
  const std::vector<StepLane> lanes{{picoseconds(1), picoseconds(1), 0, SimTime()}};
  TileClock clock(lanes, settings.widest_tile, settings.ramp);
  while (clock.next().lanes[0].first_row < static_cast<std::int64_t>(rows)) {
  }
  return static_cast<double>(clock.next().index) + kMostSweepTiles;
}

template <class Slot>
Gathered run_attempts(const SynthesisProblem& problem, const StepSetup& setup) {
  const auto levels = find_bands(setup, 1).levels;
  return best_of_attempts(problem, setup, [&](std::uint32_t attempt, const Random& stream, int threads) {
    const Walk walk = walk_of(setup, levels, static_cast<std::size_t>(threads));
    StepAttempt settings = settings_of(setup, levels, problem.topology.shape().has_value(), attempt);
    settings.sweep_tiles = walk.sweep_tiles;
    settings.band_levels = walk.band_levels;
    return run_steps<Slot>(setup, settings, stream, threads);
  });
}

}  // namespace

std::string exact_refusal(const SynthesisProblem& problem) { return step_refusal(problem); }

Result<Gathered> gather_exact(const SynthesisProblem& problem) {
  const std::string refusal = step_refusal(problem);
  if (!refusal.empty()) return unsupported_error({}, "the engine `exact` cannot make this schedule", refusal);
  const StepSetup setup = make_step_setup(problem);
  return fits_narrow(setup) ? run_attempts<std::uint16_t>(problem, setup) : run_attempts<std::uint32_t>(problem, setup);
}

std::size_t exact_bytes(const SynthesisProblem& problem) {
  const StepSetup setup = make_step_setup(problem);
  const auto levels = find_bands(setup, 1).levels;
  const StepAttempt settings =
      settings_of(setup, levels, problem.topology.shape().has_value(), problem.attempts > 1 ? 1 : 0);
  const auto npus = static_cast<double>(setup.npus());
  const auto ports = static_cast<double>(setup.ports.size());
  const std::uint32_t words = setup.widest_group / 64 + 1;  // of a row of bits
  const double bits = npus * words * 8;
  const double tiles = tiles_of(settings, 1.05 * static_cast<double>(setup.least_rows));
  const double tables = table_bytes(setup, tiles, problem.attempts);
  return static_cast<std::size_t>(bits + tables + npus * kBytesPerNpu + ports * kBytesPerPort);
}

Work exact_work(const SynthesisProblem& problem) {
  const double deliveries = sends_of_one_pass(problem.collective);
  const double bits =
      static_cast<double>(problem.topology.npus()) * static_cast<double>(problem.collective.chunks()) / 8;
  const WorkUnit each = bits < 2 * kCacheBytes ? WorkUnit::exact_delivery : WorkUnit::exact_delivery_far;
  return {each, std::max<std::uint32_t>(1, problem.attempts) * deliveries};
}

}  // namespace tenex
