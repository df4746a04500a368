// Internal to evaluate: the parts of a row's evaluation, for callers that hold the cache's contents.
#pragma once

#include <string>

#include "evaluate/cache.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/training/training_cache.hpp"

namespace tenex {

/// As evaluate().
[[nodiscard]] EvaluationOutput evaluate_point(const DesignPoint& point, Cache::Impl& cache,
                                              const EvaluateOptions& options);

/// The row as if the point's time were a proven lower bound.
[[nodiscard]] Evaluation bound_point(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options);

/// States what the row's bound proves of its time, where no solver proved more.
void state_proof_of_bound(Evaluation& row);

/// Ends a row without metrics with a status and a reason.
void end_point(Evaluation& row, PointStatus status, std::string reason);
/// Ends the row with errors; the first error's fault decides the status.
void end_point(Evaluation& row, const Diagnostics& errors);

/// Where the point asks for unwound switches: plays its schedule on the switches and fills switched_time_ps and
/// switched_bound_ps, or says in the reason why not. False when the row has ended.
[[nodiscard]] bool fill_switched(Evaluation& row, const PreparedPoint& prepared, const Schedule& schedule,
                                 const VerifyOptions& checking, ExecutionCache& cache);

/// Fills the row of a training point.
void fill_training(Evaluation& row, const DesignPoint& point, TrainingCache& cache, const ExecutionOptions& options);
/// Fills it as if every collective took its bound: no collective is simulated or synthesized.
void fill_training_bound(Evaluation& row, const DesignPoint& point, TrainingCache& cache,
                         const ExecutionOptions& options);

}  // namespace tenex
