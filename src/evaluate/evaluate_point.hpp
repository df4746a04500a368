// Internal to evaluate: evaluate() for those that hold the cache's inside, as points do that consist of others.
#pragma once

#include "evaluate/cache.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {

/// As evaluate().
[[nodiscard]] EvaluationOutput evaluate_point(const DesignPoint& point, Cache::Impl& cache,
                                              const EvaluateOptions& options);

/// The row as if the point's time were a proven lower bound.
[[nodiscard]] Evaluation bound_point(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options);

}  // namespace tenex
