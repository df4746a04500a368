// What a search asks of evaluation: the value of an objective, early and cheaply or from a row, and the Pareto front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tenex/design/search_choice.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {

/// The metrics that a study may name as objectives: numbers, and not measured ones.
[[nodiscard]] const std::vector<ObjectiveName>& objective_names();

/// The value of an objective in a row, which is absent where the row is not ok or lacks it. Precondition: the metric is
/// one of objective_names().
[[nodiscard]] std::optional<double> objective_value(const Evaluation& row, const Objective& objective);

/// The point as a round of a search sees it. `bound`: as if its time were a proven lower bound. `coarse`: a textbook
/// algorithm is simulated as if its messages met no congestion, a point that trains is timed by LIBRA's formula, and a
/// synthesizer's schedule is as good as its bound. The row holds what follows from that and is not to be stored; it is
/// not ok where the point cannot be valued. Pure, as evaluate() is.
[[nodiscard]] Evaluation evaluate_early(const DesignPoint& point, Fidelity fidelity, Cache& cache,
                                        const EvaluateOptions& options);
/// The value of an objective early; absent where the point cannot be valued, which does not prune it.
[[nodiscard]] std::optional<double> early_value(const DesignPoint& point, Fidelity fidelity, const Objective& objective,
                                                Cache& cache, const EvaluateOptions& options);

/// What valuing a point early is expected to cost, as Estimator says it of evaluating points. Thread-safe.
class EarlyEstimator {
 public:
  explicit EarlyEstimator(std::size_t memory_limit_bytes) : estimator_(memory_limit_bytes) {}
  [[nodiscard]] Estimate operator()(const DesignPoint& point, Fidelity fidelity);

 private:
  Estimator estimator_;
};

/// Which of the rows no other row dominates: is at least as good in every objective and better in one. `values[o][r]`
/// is objective o of row r, smaller is better; rows with equal values are all on the front or none is. O(n log n) for
/// up to two objectives, O(n log n + n * front) for more.
[[nodiscard]] std::vector<bool> pareto_front(const std::vector<std::vector<std::uint32_t>>& values);

/// The places of values in their order, equal ones in one place: what pareto_front() takes. `maximize`: the largest
/// comes first. No NaN. O(n log n).
[[nodiscard]] std::vector<std::uint32_t> places_of(std::span<const double> values, bool maximize);
[[nodiscard]] std::vector<std::uint32_t> places_of(std::span<const std::int64_t> values, bool maximize);

}  // namespace tenex
