// The two entrances: alone, and (run_with_mpi, in mpi_run.cpp) as one of many ranks.
#include "tenex/coordinator/coordinator.hpp"

#include <memory>

#include "tenex/coordinator/rank_loop.hpp"
#include "tenex/coordinator/resources.hpp"

namespace tenex {

RankSetup resolve(const RunOptions& options, int ranks_on_host) {
  RankSetup setup;
  setup.out = options.out;
  setup.open = options.open;
  setup.quiet = options.quiet;
  setup.engine.threads = resolve_threads(options.threads);
  setup.engine.memory_limit_bytes = resolve_memory_limit(options.memory_limit_bytes, ranks_on_host);
  setup.engine.one_by_one = options.one_by_one;
  setup.evaluate_point = options.evaluate_point ? options.evaluate_point : EvaluatePoint(evaluate);
  setup.estimate_point = options.estimate_point;
  if (!setup.estimate_point) {
    // A study asks for many points of few kinds.
    const auto estimator = std::make_shared<Estimator>(setup.engine.memory_limit_bytes);
    setup.estimate_point = [estimator](const DesignPoint& point) { return (*estimator)(point); };
  }
  return setup;
}

Result<RunReport> run_alone(const Study& study, const RunOptions& options) {
  LonelyTransport transport;
  return lead(study, resolve(options, 1), transport);
}

}  // namespace tenex
