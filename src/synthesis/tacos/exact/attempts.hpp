// Shared by the step engines: attempts until the bound is met, and the memory of their tables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "synthesis/compose.hpp"
#include "synthesis/tacos/exact/step_engine.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// Runs attempts until one meets the bound, and keeps the best. run(attempt, stream, threads) makes a StepRun; few
/// deliveries get few threads. The bound is not computed for a single attempt.
template <class Run>
[[nodiscard]] Gathered best_of_attempts(const SynthesisProblem& problem, const StepSetup& setup, const Run& run) {
  constexpr std::uint64_t kDeliveriesPerThread = 125'000;  // with fewer, waiting at barriers costs more
  const auto wanted = static_cast<std::int64_t>(setup.deliveries / kDeliveriesPerThread);
  const int threads = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::max(1, problem.threads)));
  const std::uint32_t attempts = std::max<std::uint32_t>(1, problem.attempts);
  SimTime bound;
  if (attempts > 1) bound = best_cheap_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  const Digest key = synthesis_key(problem);
  Gathered best;
  best.time = SimTime::max();
  for (std::uint32_t attempt = 0; attempt < attempts && best.time > bound; ++attempt) {
    auto made = run(attempt, attempt_stream(problem.seed, key, attempt), threads);
    if (made.finish >= best.time) continue;
    best.schedule = make_step_schedule(std::move(made.table), problem.topology.links());
    best.time = made.finish;
    best.best_attempt = attempt;
  }
  return best;
}

/// Whether 16-bit slots can number and count the chunks of every group.
[[nodiscard]] inline bool fits_narrow(const StepSetup& setup) { return setup.widest_group <= 65'534; }

/// Bytes of the step tables held at once by `attempts` attempts, each of `tiles` tiles. O(NPUs).
[[nodiscard]] inline double table_bytes(const StepSetup& setup, double tiles, std::uint32_t attempts) {
  const double slot = fits_narrow(setup) ? 2 : 4;
  double entries = 0;
  for (const std::uint32_t chunks : setup.chunks) entries += chunks;
  const double counts = 2 * static_cast<double>(setup.ports.size());  // by tile and by NPU
  const double table = entries * slot + tiles * (static_cast<double>(setup.npus()) * slot + counts);
  return (attempts > 1 ? 2 : 1) * table;  // the best so far and the current one
}

}  // namespace tenex
