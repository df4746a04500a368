// Runs a study in one process. run_with_mpi(), for many ranks, is in mpi_run.cpp.
#include "tenex/coordinator/coordinator.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

#include "coordinator/rank_loop.hpp"
#include "tenex/coordinator/resources.hpp"

namespace tenex {

namespace {

/// Where tests of whole jobs may set TENEX_PACE: every point takes that many seconds more, without work. So a job lasts
/// as long as a test needs, and all its ranks have their part.
void keep_pace([[maybe_unused]] RankSetup& setup) {
#ifdef TENEX_FAULT_POINTS
  const char* const asked = std::getenv("TENEX_PACE");
  if (asked == nullptr) return;
  const std::chrono::duration<double> pace(std::strtod(asked, nullptr));
  setup.evaluate_point = [pace, evaluate = std::move(setup.evaluate_point)](const DesignPoint& point, Cache& cache,
                                                                            const EvaluateOptions& options) {
    std::this_thread::sleep_for(pace);
    return evaluate(point, cache, options);
  };
  setup.estimate_point = [pace, estimate = std::move(setup.estimate_point)](const DesignPoint& point) {
    auto cost = estimate(point);
    cost.seconds += pace.count();
    return cost;
  };
#endif
}

}  // namespace

RankSetup resolve(const RunOptions& options, int ranks_on_host) {
  RankSetup setup;
  setup.out = options.out;
  setup.open = options.open;
  setup.quiet = options.quiet;
  setup.log_level = options.log_level;
  setup.runner.threads = resolve_threads(options.threads);
  setup.runner.memory_limit_bytes = resolve_memory_limit(options.memory_limit_bytes, ranks_on_host);
  setup.runner.node_memory_bytes =
      setup.runner.memory_limit_bytes * static_cast<std::size_t>(std::max(1, ranks_on_host));
  setup.runner.one_by_one = options.one_by_one;
  if (const auto limit = resolve_time_limit(options.time_limit_seconds)) {
    setup.whole_time_limit = *limit;
    setup.runner.ends_at =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                               std::chrono::duration<double>(*limit - reserve_of(*limit)));
  }
  setup.silence = std::chrono::duration<double>(options.silence_seconds);
  setup.time_to_commit = std::chrono::duration<double>(options.commit_seconds);
  setup.count_memory_kills = options.count_memory_kills ? options.count_memory_kills : memory_kills;
  setup.on_lost_rank = options.on_lost_rank;
  setup.evaluate_point = options.evaluate_point ? options.evaluate_point : EvaluatePoint(evaluate);
  if (options.value_point_early) setup.runner.value_early = options.value_point_early;
  setup.runner.estimate_early = options.estimate_point_early;
  if (!setup.runner.estimate_early) {
    const auto estimator = std::make_shared<EarlyEstimator>(setup.runner.node_memory_bytes);
    setup.runner.estimate_early = [estimator](const DesignPoint& point, Fidelity fidelity) {
      return (*estimator)(point, fidelity);
    };
  }
  setup.estimate_point = options.estimate_point;
  if (!setup.estimate_point) {
    // One estimator for all points: a study has many points of few kinds.
    const auto estimator = std::make_shared<Estimator>(setup.runner.node_memory_bytes);
    setup.estimate_point = [estimator](const DesignPoint& point) { return (*estimator)(point); };
  }
  keep_pace(setup);
  return setup;
}

Result<RunReport> run_alone(const Study& study, const RunOptions& options) {
  SingleRankTransport transport;
  return lead(study, resolve(options, 1), transport);
}

}  // namespace tenex
