// The time of a workload's iteration as a function of the bandwidths alone, which an optimizer minimizes.
//
//   T(B) = C + sum_k w_k max_i V_ki / B_i  [+ sum_l w_l max(T_l1(B), T_l2(B)) where a loop overlaps]
//
// All communications of a scope that load the dimensions in the same proportion are one term, so the number of terms
// does not grow with the depth of the model. T is convex in B. Times are in picoseconds, bytes in B and bandwidths in
// B/s.
#pragma once

#include <cstdint>
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

/// weight * max over the dimensions of bytes[i] / B_i. An unused dimension has 0 bytes.
struct VolumeTerm {
  double weight = 1;
  std::vector<double> bytes;
  bool operator==(const VolumeTerm&) const = default;
};

/// constant + sum of terms.
struct VolumeSum {
  SimTime constant;
  std::vector<VolumeTerm> terms;
  bool operator==(const VolumeSum&) const = default;
};

/// weight * max(first, second): two concurrent streams, of which the later end counts.
struct VolumeOverlap {
  double weight = 1;
  VolumeSum first;
  VolumeSum second;
  bool operator==(const VolumeOverlap&) const = default;
};

/// The whole iteration.
struct IterationTerms {
  std::size_t dimensions = 0;
  VolumeSum sum;
  std::vector<VolumeOverlap> overlaps;  ///< empty for no_overlap
  bool operator==(const IterationTerms&) const = default;
};

/// Collapses an iteration into terms. `no_overlap` gives a plain sum, `tp_dp_overlap` adds overlaps (equal layers
/// once). Errors: (unsupported) astra_sim, because its waits are no such sum; those of training_time(). O(layers *
/// dimensions).
[[nodiscard]] Result<IterationTerms> collapse_iteration(const Workload& workload, const Mapping& mapping,
                                                        ComputeRate rate, const LibraModel& model, TrainingLoop loop);

/// T at given bandwidths in B/s, in picoseconds, not rounded. O(terms * dimensions).
[[nodiscard]] double picoseconds_at(const IterationTerms& function, std::span<const double> bandwidth);

}  // namespace tenex
