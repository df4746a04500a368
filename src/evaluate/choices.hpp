// Points that leave a choice to their evaluation: the algorithm (`algorithm = "best"`) or the number of chunks
// (`chunks = "auto"`). A choice is made by trials: points that differ from the given one in the choice alone are
// evaluated, verified and bounded as any other point, and the fastest is kept. Trials end at the first that is good
// enough (the key `good_enough`): its time over its own bound proves it.
//
// Which trials are made, and in which order, depends on the weights of their work and on expected bytes, which follow
// from sizes alone. So the row is the same on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/cache.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {

/// Whether the point's evaluation makes a choice.
[[nodiscard]] bool leaves_choice(const DesignPoint& point);

/// Evaluates a point that leaves a choice, by trials. As evaluate(). Its row is that of the best trial, with
/// chosen_algorithm, chosen_chunks and candidates; its reason names the trials that were left out. The row fails if a
/// trial fails, because that is a defect.
[[nodiscard]] EvaluationOutput evaluate_choice(const DesignPoint& point, Cache::Impl& cache,
                                               const EvaluateOptions& options);

/// The work of the trials that are expected to be made, their weights together, and the largest bytes of all that may
/// be made.
[[nodiscard]] Cost cost_of_choice(const DesignPoint& point, Estimator& estimator, std::size_t memory_limit_bytes);

/// The least of the bounds of all numbers of chunks, as if it were the point's time; see bound_point().
[[nodiscard]] Evaluation bound_choice(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options);

}  // namespace tenex
