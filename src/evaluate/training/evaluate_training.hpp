// Internal to evaluate: a point that trains a model, from its words to a row.
#pragma once

#include "evaluate/cache.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/evaluation.hpp"

namespace tenex {

/// Fills the row of a point with `training`.
void fill_training(Evaluation& row, const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options);
/// Likewise, as if every collective took its bound: no collective is simulated or synthesized.
void fill_training_bound(Evaluation& row, const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options);

/// What is wrong with a point that trains, as far as its text shows (Vocabulary::check_training): everything that would
/// end its row before a collective is timed. Errors name the key that they are about in place of a file, and count
/// columns of its canonical text.
[[nodiscard]] Diagnostics check_training_point(const DesignPoint& point, TrainingCache& cache);

/// The bandwidths per NPU and dimension that a point with scheme "given" states. Errors (input): a list whose length is
/// not that of the shape; a dimension without bandwidth.
[[nodiscard]] Result<std::vector<Bandwidth>> stated_bandwidth(const DesignPoint& point);

}  // namespace tenex
