// Functions for the search of a study: the value of an objective, estimated early or read from a row, and the Pareto
// front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tenex/design/search_choice.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {

/// The metrics that a study may name as objectives: all numeric ones except measured values.
[[nodiscard]] const std::vector<ObjectiveName>& objective_names();

/// The value of an objective in a row; nullopt if the row is not ok or lacks the metric. Precondition: the metric is
/// one of objective_names().
[[nodiscard]] std::optional<double> objective_value(const Evaluation& row, const Objective& objective);

/// Values a point cheaply for a round of a search. `bound`: the point's time is taken to be its proven lower bound.
/// `coarse`: a textbook algorithm is simulated without congestion, a training point is timed by LIBRA's formula, and a
/// synthesizer's time is taken to be its bound. The row holds the metrics that follow from this time and must not be
/// stored. It is not ok if the point cannot be valued. Pure like evaluate().
[[nodiscard]] Evaluation evaluate_early(const DesignPoint& point, Fidelity fidelity, Cache& cache,
                                        const EvaluateOptions& options);
/// The value of an objective from evaluate_early(); nullopt if the point cannot be valued. Such a point is not pruned.
[[nodiscard]] std::optional<double> early_value(const DesignPoint& point, Fidelity fidelity, const Objective& objective,
                                                Cache& cache, const EvaluateOptions& options);

/// Estimates the cost of evaluate_early(), as Estimator does for evaluate(). Thread-safe.
class EarlyEstimator {
 public:
  explicit EarlyEstimator(std::size_t memory_limit_bytes) : estimator_(memory_limit_bytes) {}
  [[nodiscard]] Estimate operator()(const DesignPoint& point, Fidelity fidelity);

 private:
  Estimator estimator_;
};

/// Marks the rows that no other row dominates. A row dominates another if it is at least as good in every objective and
/// better in one. `values[o][r]` is objective o of row r; smaller is better. Of rows with equal values, all are on the
/// front or none is. O(n log n) for up to two objectives, O(n log n + n * front) for more.
[[nodiscard]] std::vector<bool> pareto_front(const std::vector<std::vector<std::uint32_t>>& values);

/// Ranks values for pareto_front(): the best value gets place 0, and equal values get the same place. `maximize`: the
/// largest is best. Precondition: no NaN. O(n log n).
[[nodiscard]] std::vector<std::uint32_t> places_of(std::span<const double> values, bool maximize);
[[nodiscard]] std::vector<std::uint32_t> places_of(std::span<const std::int64_t> values, bool maximize);

}  // namespace tenex
