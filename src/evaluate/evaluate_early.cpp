// Cheap valuation of points before they are evaluated in full: the same evaluation with cheaper models and fewer
// outputs.
#include <memory>

#include "evaluate/choices.hpp"
#include "evaluate/evaluate_point.hpp"
#include "tenex/base/work.hpp"
#include "tenex/evaluate/search.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

/// The options without all that times do not need.
EvaluateOptions times_only(EvaluateOptions options) {
  options.keep_schedule = options.link_loads = options.group_times = options.arrivals = false;
  options.utilization_bins = 0;
  options.time_only = true;
  return options;
}

/// Whether the point is valued by its bound. No bound holds for times without congestion, and such a time is as cheap.
bool is_bounded(const DesignPoint& point, Fidelity fidelity) {
  if (!point.trains() && point.collective().backend == Backend::congestion_unaware) return false;
  if (fidelity == Fidelity::bound) return true;
  return leaves_choice(point) || (!point.trains() && find_synthesizer(point.algorithm) != nullptr);
}

/// The point that the coarse model evaluates.
DesignPoint coarse_point(DesignPoint point) {
  if (!point.trains()) {
    point.collective().backend = Backend::congestion_unaware;
    point.collective().simulation_engine = SimulationEngine::automatic;
    return point;
  }
  auto& training = point.training();
  training.pipeline_timing = PipelineTiming::formula;
  if (is_libra(training.collective_time)) return point;
  training.collective_time = TimingModel::libra;
  training.contention = Contention::none;
  return point;
}

}  // namespace

Evaluation evaluate_early(const DesignPoint& point, Fidelity fidelity, Cache& cache, const EvaluateOptions& options) {
  const auto asked = times_only(options);
  if (is_bounded(point, fidelity)) return bound_choice(point, cache.impl(), asked);
  return evaluate_point(coarse_point(point), cache.impl(), asked).row;
}

std::optional<double> early_value(const DesignPoint& point, Fidelity fidelity, const Objective& objective, Cache& cache,
                                  const EvaluateOptions& options) {
  return objective_value(evaluate_early(point, fidelity, cache, options), objective);
}

Estimate EarlyEstimator::operator()(const DesignPoint& point, Fidelity fidelity) {
  if (!is_bounded(point, fidelity)) return estimator_(coarse_point(point));
  return {seconds_of(WorkUnit::early_bound), planned_topology_bytes(point), false};
}

}  // namespace tenex
