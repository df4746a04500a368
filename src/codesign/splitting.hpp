// The schemes of optimizer.hpp, one function each.
#pragma once

#include "codesign/barrier.hpp"
#include "tenex/codesign/optimizer.hpp"

namespace tenex::codesign {

/// The input of a scheme. `model` is collapsed.
struct SplitCase {
  const TimeModel& model;
  const BandwidthRegion& region;
  const CostRates* rates;
  const SplitOptions& options;
};

[[nodiscard]] Result<BandwidthSplit> split_for_time(const SplitCase& given);
[[nodiscard]] Result<BandwidthSplit> split_for_time_and_cost(const SplitCase& given);
[[nodiscard]] Result<BandwidthSplit> split_equally(const SplitCase& given);

/// Rounds an answer and evaluates it again: fills in bandwidth, exact, time and cost.
[[nodiscard]] BandwidthSplit rounded_split(const SplitCase& given, std::span<const double> bandwidth);

/// (upper - lower) / upper, not negative; 0 where upper is 0.
[[nodiscard]] double relative_gap(double upper, double lower);

/// The region's polytope with the model's terms as the objective.
[[nodiscard]] ConvexProblem time_problem(const SplitCase& given);

}  // namespace tenex::codesign
