// Internal to evaluate: the row of a training point.
#pragma once

#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/training/training_cache.hpp"

namespace tenex {

/// Fills the row of a training point.
void fill_training(Evaluation& row, const DesignPoint& point, TrainingCache& cache, const ExecutionOptions& options);
/// Fills it as if every collective took its bound: no collective is simulated or synthesized.
void fill_training_bound(Evaluation& row, const DesignPoint& point, TrainingCache& cache,
                         const ExecutionOptions& options);

}  // namespace tenex
