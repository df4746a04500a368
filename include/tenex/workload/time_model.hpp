// The time of a workload as a function of the bandwidths of a network's dimensions:
//
//   T(B) = C + sum over k of w_k * max over i of V_ki / B_i  [+ sum over l of w_l * max(T_l1(B), T_l2(B))]
//
// C is the part that no bandwidth changes (compute). A term is a collective: V_ki bytes cross dimension i, and w_k
// counts how often it happens (layers, iterations, importance of a workload). The form is LIBRA's (Won et al., "LIBRA",
// section IV-C). Terms with proportional volumes collapse into one, so the optimizer's cost does not grow with the
// depth of a model. These numbers are floating point because they feed a solver, whose answer is rounded to whole
// bandwidths and evaluated again.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/workload/compute.hpp"
#include "tenex/workload/libra_time.hpp"
#include "tenex/workload/parallelization.hpp"
#include "tenex/workload/training.hpp"
#include "tenex/workload/workload.hpp"

namespace tenex {

/// One collective, or several that are multiples of it.
struct TimeTerm {
  double weight = 1;            ///< not negative, no unit
  std::vector<double> volumes;  ///< bytes per dimension, 0 where the collective does not use one
  bool operator==(const TimeTerm&) const = default;
};

/// constant + sum of terms, in seconds.
struct TimeSum {
  double constant = 0;
  std::vector<TimeTerm> terms;
  bool operator==(const TimeSum&) const = default;
};

/// weight * max(first, second): two concurrent streams, of which the later end counts.
struct TimeOverlap {
  double weight = 1;
  TimeSum first;
  TimeSum second;
  bool operator==(const TimeOverlap&) const = default;
};

/// T(B) in seconds for B in bytes per second.
struct TimeModel {
  std::size_t dimensions = 0;
  double constant = 0;  ///< C, seconds
  std::vector<TimeTerm> terms;
  std::vector<TimeOverlap> overlaps = {};  ///< for training loops that overlap
  bool operator==(const TimeModel&) const = default;
};

/// The time of one iteration. Communications of a scope that load the dimensions in the same proportion are one term,
/// so the number of terms does not grow with the depth of the workload. `no_overlap` gives a plain sum, `tp_dp_overlap`
/// adds overlaps (equal layers once). Errors: (unsupported) astra_sim, because its waits are no such sum; those of
/// training_time(). O(layers * dimensions).
[[nodiscard]] Result<TimeModel> collapse_iteration(const Workload& workload, const Mapping& mapping, ComputeRate rate,
                                                   const LibraModel& model, TrainingLoop loop);

/// Merges all terms whose volumes are proportional (to 1e-13 of the largest) and drops terms without volume or weight.
/// T is unchanged up to rounding. O(terms * distinct terms * dimensions).
[[nodiscard]] TimeModel collapse(const TimeModel& model);

/// The weighted sum of the times of several workloads on one network, collapsed. Weights state importance and are not
/// normalized. All models have the same number of dimensions; `weights` has one weight each.
[[nodiscard]] TimeModel weighted_sum(std::span<const TimeModel> models, std::span<const double> weights);

/// T(B) in seconds; every bandwidth is positive. O(terms * dimensions).
[[nodiscard]] double time_at(const TimeModel& model, std::span<const double> bandwidth);
[[nodiscard]] double time_at(const TimeModel& model, std::span<const Bandwidth> bandwidth);

}  // namespace tenex
