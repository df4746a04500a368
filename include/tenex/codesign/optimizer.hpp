// Splits bandwidth over a network's dimensions for a workload: LIBRA's two schemes and its baseline, with proven
// bounds.
//
//   perf_opt       minimizes T(B)          convex: a log-barrier Newton method and a Lagrange dual bound
//   perf_per_cost  minimizes T(B)*cost(B)  not convex: convex solves of T + lambda*cost and branching on cost
//   equal          the same bandwidth in every dimension, as much as the constraints allow (EqualBW)
//
// Won et al., "LIBRA: Enabling Workload-aware Multi-dimensional Network Topology Optimization for Distributed Training
// of Large AI Models", section IV-F. Every answer is rounded to whole bandwidths, evaluated again, and reported with a
// proven lower bound on the objective of its scheme.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/codesign/network_cost.hpp"
#include "tenex/codesign/region.hpp"
#include "tenex/workload/time_model.hpp"

namespace tenex {

enum class SplitScheme : std::uint8_t { perf_opt, perf_per_cost, equal };
[[nodiscard]] std::string_view to_string(SplitScheme scheme);

/// A split of bandwidth and its evaluation.
struct BandwidthSplit {
  std::vector<Bandwidth> bandwidth;  ///< per NPU and dimension
  bool exact = true;                 ///< meets every constraint in whole numbers (BandwidthRegion::Rounded)
  double time = 0;                   ///< T at these bandwidths, seconds
  std::optional<Money> cost;         ///< set where rates are given
  double objective = 0;              ///< the quantity that the scheme minimizes: seconds, or seconds times dollars
                                     ///< (equal: seconds)
  double lower_bound = 0;            ///< no split in the region has a smaller objective
  double relative_gap = 0;           ///< (objective - lower_bound) / objective, not negative
  /// The gap of the solver's answer before rounding to whole bytes per second.
  double solver_gap = 0;
  std::int64_t solves = 0;        ///< convex problems solved
  std::int64_t newton_steps = 0;  ///< in all solves together
};

/// Limits and targets of the solvers. All limits count work, never time.
struct SplitOptions {
  double time_gap = 1e-10;            ///< relative, of one convex solve
  double product_gap = 9e-7;          ///< relative, of perf_per_cost
  std::int64_t most_solves = 20'000;  ///< of perf_per_cost; the split's gap tells what was reached
};

/// Finds the split. `rates` may be null except for perf_per_cost. Errors (input): a region without a best split (a
/// bandwidth without upper limit; for perf_per_cost a region that reaches zero), with the missing constraint named;
/// equal: no equal split meets the constraints. O(1) convex solves for perf_opt, tens to thousands for perf_per_cost
/// (the less the product depends on the cost, the more solves).
[[nodiscard]] Result<BandwidthSplit> split_bandwidth(SplitScheme scheme, const TimeModel& model,
                                                     const BandwidthRegion& region, const CostRates* rates,
                                                     const SplitOptions& options = {});

}  // namespace tenex
