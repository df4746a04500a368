// What points that train share: workloads laid over shapes, prices, splits of bandwidth.
//
// Every value is cached under all that it depends on, so points that differ in their bandwidths alone share a setup,
// and points that differ only in how their collectives are timed share a split.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/codesign/network_cost.hpp"
#include "tenex/codesign/optimizer.hpp"
#include "tenex/codesign/region.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/training/training_cache.hpp"
#include "tenex/workload/libra_time.hpp"
#include "tenex/workload/time_model.hpp"
#include "tenex/workload/training.hpp"
#include "tenex/workload/workload_model.hpp"
#include "training/iteration_plan.hpp"

namespace tenex {

/// All of a point that does not depend on its bandwidths.
struct TrainingSetup {
  IterationPlan plan;
  LibraModel libra;  ///< of the collective time model, where it is one of LIBRA's
  CostRates rates;
  std::string described;  ///< the mapping in words
};

/// The setup of a point that trains. Errors: a workload or cost model file's, a parallelization that does not fit the
/// shape or the workload, no compute rate, switches named that are none, a dimension without prices.
[[nodiscard]] std::shared_ptr<const Result<TrainingSetup>> find_setup(const DesignPoint& point, TrainingCache& cache);

/// The bandwidths per NPU and dimension that a point with scheme "given" states. Errors (input): a list whose length is
/// not that of the shape; a dimension without bandwidth.
[[nodiscard]] Result<std::vector<Bandwidth>> stated_bandwidth(const DesignPoint& point);

/// The set of bandwidths that a scheme may choose from: constraints, total and budget. Errors (input): a constraint
/// that cannot be read or names a dimension that is not there; a contradictory set, with an irreducible subset.
[[nodiscard]] Result<BandwidthRegion> make_training_region(const DesignPoint& point, const CostRates& rates);

/// The split that the point's scheme finds. Errors: those of make_training_region() and split_bandwidth(), and of the
/// workloads of `optimize_for`.
[[nodiscard]] std::shared_ptr<const Result<BandwidthSplit>> find_split(const DesignPoint& point,
                                                                       const TrainingSetup& setup,
                                                                       TrainingCache& cache);

/// The loop whose time the schemes minimize: the point's own, but tp_dp_overlap for astra_sim, which is no sum of
/// volumes over bandwidths; of the two that are, it also overlaps the gradients' communications.
[[nodiscard]] TrainingLoop optimized_loop(TrainingLoop loop);
/// The model that the schemes minimize with: `optimize_with`, or where that is auto the point's own if it is one of
/// LIBRA's, else libra.
[[nodiscard]] LibraModel optimized_model(const DesignPoint& point, const TrainingSetup& setup);
/// Whether the scheme minimized exactly what the point's time is, so that a bound on the one is a bound on the other.
[[nodiscard]] bool optimizes_itself(const DesignPoint& point, const TrainingSetup& setup);

/// The workloads of `optimize_for` laid over the point's shape, with their weights; the point's own where it is empty.
struct WeightedIteration {
  std::shared_ptr<const Iteration> iteration;
  double weight = 1;
};
[[nodiscard]] Result<std::vector<WeightedIteration>> iterations_to_optimize(const DesignPoint& point,
                                                                            const TrainingSetup& setup,
                                                                            TrainingCache& cache);

/// Errors of training words name the key that they are about in place of a file.
[[nodiscard]] Place place_of_key(std::string_view key);

}  // namespace tenex
