// Multi-start around the step engine: attempts one after another, of which the best is kept.
//
// Idea: the first attempt takes links and own chunks in order, with tiles as wide as latency allows; it nearly always
// meets the bound. If it does not, further attempts have narrower tiles and random orders. Links are scattered
// (step_engine.hpp) in every other attempt, from the first one if the topology is no intact shape. Attempts end when
// one meets the bound, so the earliest best attempt wins for any number of threads. The threads of a large run share
// its NPUs. Where links differ, tiles are narrower from the start, and no link is scattered.
#include "synthesis/tacos/exact/exact.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "synthesis/tacos/exact/bands.hpp"
#include "synthesis/tacos/exact/level_setup.hpp"
#include "synthesis/tacos/exact/step_engine.hpp"
#include "synthesis/tacos/exact/step_setup.hpp"
#include "synthesis/tacos/exact/tile_clock.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{6} << 20;  ///< memory of the NPUs of a sweep, per thread
constexpr std::uint32_t kMostSweepTiles = 16;
constexpr std::size_t kBandNpus = 64;  ///< per thread: some hundred microseconds of work between two barriers

constexpr double kBytesPerPort = 12 + 24 + 16;  ///< setup, cursors, table and search for bands
constexpr double kBytesPerNpu = 64;
constexpr double kMoreBytesPerPort = 16;  ///< where links differ
constexpr double kMoreBytesPerNpu = 32;

/// Several tiles pass over the NPUs together if the NPUs' bits do not stay in the cache from tile to tile. Bands are
/// wider by the number of threads, so that each thread has as much work between two barriers.
/// `depth`: that of bands.hpp. No influence on the result.
void set_walk(const StepSetup& setup, std::size_t depth, int threads, StepAttempt& settings) {
  settings.band_depth = 1;
  const std::size_t per_npu = setup.widest_group / 8 + 512;
  const std::size_t cache = kCacheBytes * static_cast<std::size_t>(threads);
  if (setup.npus() * per_npu <= cache) return;
  const std::size_t per_step = std::max<std::size_t>(1, setup.npus() / depth);
  const std::size_t wanted = kBandNpus * static_cast<std::size_t>(threads);
  settings.band_depth = static_cast<std::uint32_t>((wanted + per_step - 1) / per_step);
  const std::size_t per_band = per_step * settings.band_depth * per_npu;
  const std::size_t fits = std::max<std::size_t>(1, cache / (2 * per_band));
  settings.sweep_tiles = static_cast<std::uint32_t>(std::min<std::size_t>(fits, kMostSweepTiles));
}

/// Chunks that arrive in a tile are forwarded in the next, so crossing the topology takes a tile per hop; that must
/// be a small part of the whole: one of `crossings`. On mesh(200,200) tiles of 8 rows (6 crossings) meet the bound;
/// tiles of 12 and 16 rows took about a quarter and a third less CPU time and missed it by 2 to 6 of 20,000 steps.
std::uint32_t widest_tile(const StepSetup& setup, std::size_t depth, std::int64_t crossings) {
  const std::int64_t widest = setup.least_rows / (static_cast<std::int64_t>(depth) * crossings);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(widest, 1, 64));
}

/// How an attempt is made, beside its setup.
struct AttemptFacts {
  std::uint32_t number = 0;
  std::size_t depth = 1;  ///< of bands.hpp
  int threads = 1;
  bool intact = false;  ///< the topology is a shape
};

StepAttempt settings_of(const StepSetup& setup, const AttemptFacts& facts) {
  StepAttempt settings;
  settings.shuffled = facts.number > 0;
  settings.scattered = facts.intact == (facts.number % 2 == 1);
  settings.widest_tile = widest_tile(setup, facts.depth, facts.number > 0 ? 24 : 6);
  set_walk(setup, facts.depth, facts.threads, settings);
  return settings;
}
StepAttempt settings_of(const LevelSetup& setup, const AttemptFacts& facts) {
  StepAttempt settings;
  settings.shuffled = facts.number > 0;
  settings.widest_tile = widest_tile(setup.steps, facts.depth, facts.number > 0 ? 32 : 8);
  return settings;
}

const StepSetup& steps_of(const StepSetup& setup) { return setup; }
const StepSetup& steps_of(const LevelSetup& setup) { return setup.steps; }

/// The number of tiles of a run of about `rows` rows on one lane.
double tiles_of(const StepAttempt& settings, double rows) {
  const std::vector<StepLane> lanes{{picoseconds(1), picoseconds(1), 0, SimTime()}};
  TileClock clock(lanes, settings.widest_tile, settings.ramp);
  while (clock.next().lanes[0].first_row < static_cast<std::int64_t>(rows)) {
  }
  return static_cast<double>(clock.next().index) + kMostSweepTiles;
}

/// Whether 16-bit slots can number and count the chunks of every group.
bool fits_narrow(const StepSetup& setup) { return setup.widest_group <= 65'534; }

/// Bytes of the step tables held at once by `attempts` attempts, each of `tiles` tiles. O(NPUs).
double table_bytes(const StepSetup& setup, double tiles, std::uint32_t attempts) {
  const double slot = fits_narrow(setup) ? 2 : 4;
  double entries = 0;
  for (const std::uint32_t chunks : setup.chunks) entries += chunks;
  const double counts = 2 * static_cast<double>(setup.ports.size());  // by tile and by NPU
  const double table = entries * slot + tiles * (static_cast<double>(setup.npus()) * slot + counts);
  return (attempts > 1 ? 2 : 1) * table;  // the best so far and the current one
}

/// The threads of a run: few deliveries get few.
int threads_of(const SynthesisProblem& problem, const StepSetup& setup) {
  constexpr std::uint64_t kDeliveriesPerThread = 125'000;  // with fewer, waiting at barriers costs more
  const auto wanted = static_cast<std::int64_t>(setup.deliveries / kDeliveriesPerThread);
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::max(1, problem.threads)));
}

/// Runs attempts until one meets the bound, and keeps the best. The bound is not computed for a single attempt.
template <class Slot, class Setup>
Gathered best_of_attempts(const SynthesisProblem& problem, const Setup& setup) {
  const StepSetup& steps = steps_of(setup);
  AttemptFacts facts;
  facts.depth = find_bands(steps, 1).depth;
  facts.threads = threads_of(problem, steps);
  facts.intact = problem.topology.shape().has_value();
  const std::uint32_t attempts = std::max<std::uint32_t>(1, problem.attempts);
  SimTime bound;
  if (attempts > 1) bound = best_cheap_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  const Digest key = synthesis_key(problem);
  Gathered best;
  best.time = SimTime::max();
  for (; facts.number < attempts && best.time > bound; ++facts.number) {
    auto made = run_steps<Slot>(setup, settings_of(setup, facts), attempt_stream(problem.seed, key, facts.number),
                                facts.threads);
    if (made.finish >= best.time) continue;
    best.schedule = make_step_schedule(std::move(made.table), problem.topology.links());
    best.time = made.finish;
    best.best_attempt = facts.number;
  }
  return best;
}

template <class Setup>
Result<Gathered> gather_on(Setup (*make_setup)(const SynthesisProblem&), const SynthesisProblem& problem) {
  const std::string refusal = step_refusal(problem);
  if (!refusal.empty()) return unsupported_error({}, "the engine `exact` cannot make this schedule", refusal);
  const Setup setup = make_setup(problem);
  return fits_narrow(steps_of(setup)) ? best_of_attempts<std::uint16_t>(problem, setup)
                                      : best_of_attempts<std::uint32_t>(problem, setup);
}

/// `clusters`: sets of bits beside those of NPUs.
template <class Setup>
double bytes_of(const SynthesisProblem& problem, const Setup& setup, double clusters) {
  const StepSetup& steps = steps_of(setup);
  AttemptFacts facts;
  facts.number = problem.attempts > 1 ? 1 : 0;
  facts.depth = find_bands(steps, 1).depth;
  const auto npus = static_cast<double>(steps.npus());
  const auto ports = static_cast<double>(steps.ports.size());
  const std::uint32_t words = steps.widest_group / 64 + 1;  // of a set of bits
  const double bits = (npus + clusters) * words * 8;
  // Where chunks go far in few rows, as on rings, the way through the network decides.
  const StepLane& slowest = *std::ranges::max_element(steps.lanes, {}, &StepLane::latency);
  const double on_the_way = static_cast<double>(facts.depth) * static_cast<double>(slowest.latency.count()) /
                            static_cast<double>(steps.lanes.front().period.count());
  const double rows = std::max(1.05 * static_cast<double>(steps.least_rows), 1.25 * on_the_way);
  const double tiles = tiles_of(settings_of(setup, facts), rows);
  const double tables = table_bytes(steps, tiles, problem.attempts);
  return bits + tables + npus * kBytesPerNpu + ports * kBytesPerPort;
}

}  // namespace

std::string exact_refusal(const SynthesisProblem& problem) { return step_refusal(problem); }

std::string levels_unsuitable(const SynthesisProblem& problem) {
  if (problem.topology.homogeneous() && problem.collective.chunk_sizes().size() == 1) return "all links are alike";
  return step_refusal(problem);
}

Result<Gathered> gather_exact(const SynthesisProblem& problem) { return gather_on(make_step_setup, problem); }
Result<Gathered> gather_levels(const SynthesisProblem& problem) { return gather_on(make_level_setup, problem); }

std::size_t exact_bytes(const SynthesisProblem& problem) {
  return static_cast<std::size_t>(bytes_of(problem, make_step_setup(problem), 0));
}

std::size_t levels_bytes(const SynthesisProblem& problem) {
  const LevelSetup setup = make_level_setup(problem);
  double clusters = 0;
  for (const auto& each : setup.chunks_in) clusters += static_cast<double>(each.size());
  return static_cast<std::size_t>(bytes_of(problem, setup, clusters) +
                                  static_cast<double>(setup.steps.npus()) * kMoreBytesPerNpu +
                                  static_cast<double>(setup.steps.ports.size()) * kMoreBytesPerPort);
}

Work exact_work(const SynthesisProblem& problem) {
  const double deliveries = sends_of_one_pass(problem.collective);
  const double bits =
      static_cast<double>(problem.topology.npus()) * static_cast<double>(problem.collective.chunks()) / 8;
  const WorkUnit each = bits < 2 * kCacheBytes ? WorkUnit::exact_delivery : WorkUnit::exact_delivery_far;
  return {each, std::max<std::uint32_t>(1, problem.attempts) * deliveries};
}

Work levels_work(const SynthesisProblem& problem) {
  return {WorkUnit::level_delivery,
          std::max<std::uint32_t>(1, problem.attempts) * sends_of_one_pass(problem.collective)};
}

}  // namespace tenex
