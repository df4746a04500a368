// The check of a training point's settings before any work.
#include <utility>

#include "tenex/codesign/optimizer.hpp"
#include "tenex/training/training_point.hpp"
#include "training/training_setup.hpp"

namespace tenex {
namespace {

/// Checks that the scheme's set of bandwidths contains a best one.
Diagnostics check_scheme(const DesignPoint& point, const TrainingSetup& setup, TrainingCache& cache) {
  Diagnostics errors;
  const auto& scheme = point.training().scheme;
  if (const auto workloads = iterations_to_optimize(point, setup, cache); !workloads)
    append(errors, workloads.errors());
  const auto region = make_training_region(point, setup.rates);
  if (!region) {
    append(errors, region.errors());
    return errors;
  }
  // Whether a set lacks a best split does not depend on times, so any time model finds the missing constraint.
  const bool may_lack_one = *scheme != SplitScheme::perf_per_cost || region->reaches_zero();
  const TimeModel any_time{region->dimensions(), 1, {}};
  if (const auto split = may_lack_one ? split_bandwidth(*scheme, any_time, *region, &setup.rates)
                                      : Result<BandwidthSplit>(BandwidthSplit{});
      !split)
    for (auto& error : split.errors()) {
      if (error.place.file.empty()) error.place = place_of_key("scheme");
      errors.push_back(std::move(error));
    }
  return errors;
}

}  // namespace

Diagnostics check_training_point(const DesignPoint& point, TrainingCache& cache) {
  const auto found = find_setup(point, cache);
  if (!*found) return found->errors();
  if (point.training().scheme) return check_scheme(point, **found, cache);
  const auto stated = stated_bandwidth(point);
  return stated ? bandwidth_beyond_limits((*found)->rates, *stated) : stated.errors();
}

}  // namespace tenex
