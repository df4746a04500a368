// Inputs that training points share: workloads mapped to shapes, prices, splits of bandwidth.
//
// The key of every cached value holds all that it depends on. So points that differ only in bandwidths share a setup,
// and points that differ only in the timing of collectives share a split.
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
#include "training/iteration_traffic.hpp"

namespace tenex {

/// The parts of a point that do not depend on its bandwidths.
struct TrainingSetup {
  IterationTraffic traffic;
  std::optional<IterationTraffic> stages;  ///< without the messages between stages, if the pipeline is simulated
  LibraModel libra;                        ///< the collective time model, if it is one of LIBRA's
  CostRates rates;
  std::string described;  ///< the mapping in words
};

/// The content of a workload file. Errors: its.
[[nodiscard]] std::shared_ptr<const Result<WorkloadModel>> find_workload_model(const NamedFile& file,
                                                                               TrainingCache& cache);
/// LIBRA's model of a point, with its in-network reduction. Errors (input): a dimension without switches that reduces.
[[nodiscard]] Result<LibraModel> libra_model(const DesignPoint& point);

/// The workload of a point on its shape, made anew. Errors: those of find_setup() but for prices.
[[nodiscard]] Result<std::shared_ptr<const Iteration>> make_iteration(const DesignPoint& point, TrainingCache& cache);

/// What a setup depends on, beside the paths of files that its errors name.
inline constexpr Changes kOfSetup = Changes::network | Changes::training | Changes::cost;
/// The setup of a training point. Errors: those of a workload or cost model file, a parallelization that does not fit
/// the shape or the workload, no compute rate, in-network reduction in a dimension without switches, a dimension
/// without prices.
[[nodiscard]] std::shared_ptr<const Result<TrainingSetup>> find_setup(const DesignPoint& point, TrainingCache& cache);

/// The bandwidths per NPU and dimension that a point with scheme "given" states. Errors (input): a list whose length is
/// not that of the shape; a dimension without bandwidth.
[[nodiscard]] Result<std::vector<Bandwidth>> stated_bandwidth(const DesignPoint& point);

/// Errors (input): stated bandwidths above the most of their dimensions' kinds. O(dimensions).
[[nodiscard]] Diagnostics bandwidth_beyond_limits(const CostRates& rates, const std::vector<Bandwidth>& bandwidth);

/// The set of bandwidths that a scheme may choose from: constraints, total and budget. Errors (input): a constraint
/// that cannot be read or names a missing dimension; contradictory constraints, with an irreducible subset.
[[nodiscard]] Result<BandwidthRegion> make_training_region(const DesignPoint& point, const CostRates& rates);

/// The split that the point's scheme finds. Errors: those of make_training_region() and split_bandwidth(), and of the
/// workloads of `optimize_for`.
[[nodiscard]] std::shared_ptr<const Result<BandwidthSplit>> find_split(const DesignPoint& point,
                                                                       const TrainingSetup& setup,
                                                                       TrainingCache& cache);

/// The loop whose time the schemes minimize: the point's own, except tp_dp_overlap instead of astra_sim. The time of
/// astra_sim is no sum of volumes over bandwidths; of the two loops whose time is one, tp_dp_overlap also overlaps the
/// gradients' communications.
[[nodiscard]] TrainingLoop optimized_loop(TrainingLoop loop);
/// The model that the schemes minimize with: `optimize_with`. If that is auto: the point's own model if it is one of
/// LIBRA's, otherwise libra.
[[nodiscard]] LibraModel optimized_model(const DesignPoint& point, const TrainingSetup& setup);
/// Whether the scheme minimized exactly the point's time, so that a bound on its objective is a bound on the time.
[[nodiscard]] bool optimizes_itself(const DesignPoint& point, const TrainingSetup& setup);

/// A workload of `optimize_for` mapped to the point's shape, with its weight; the point's own workload if there is
/// none.
struct WeightedIteration {
  std::shared_ptr<const Iteration> iteration;
  double weight = 1;
};
[[nodiscard]] Result<std::vector<WeightedIteration>> iterations_to_optimize(const DesignPoint& point,
                                                                            const TrainingSetup& setup,
                                                                            TrainingCache& cache);

/// The place of a training key: errors name the key instead of a file.
[[nodiscard]] Place place_of_key(std::string_view key);

}  // namespace tenex
