// Internal to evaluate: evaluate() and its bound-only variant for callers that hold the cache's contents.
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
