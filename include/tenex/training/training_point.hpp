// A training point: the check of its settings, its bandwidths and their cost, the time of an iteration, and a lower
// bound on it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/training/npu_memory.hpp"
#include "tenex/training/training_cache.hpp"
#include "tenex/workload/training.hpp"
#include "tenex/workload/workload_model.hpp"

namespace tenex {

/// Checks the settings of a training point (Vocabulary::check_training): returns every error that would end its row
/// before a collective is timed. The place of an error has the key's name instead of a file, and columns of the
/// canonical text.
[[nodiscard]] Diagnostics check_training_point(const DesignPoint& point, TrainingCache& cache);

/// A point whose workload is mapped to its shape and whose bandwidths are known.
struct PreparedTraining {
  std::shared_ptr<const Result<TrainingSetup>> setup;
  std::vector<Bandwidth> bandwidth;                     ///< per NPU and dimension
  std::shared_ptr<const Result<BandwidthSplit>> split;  ///< a scheme's result; null if the point states its bandwidths
  Money cost;                                           ///< of the network
  std::size_t npus = 0;
  MachineBatch batch;  ///< what one iteration processes
  ComputeRate rate;    ///< at which an NPU computes
  ComputeRate peak;    ///< to which its utilization refers: of the NPU that npu_memory names, or else `rate`
  NpuMemory memory;    ///< of the busiest NPU
  std::int64_t microbatches = 1;
  std::string mapping;  ///< the dimensions that each process group takes, as text
};
/// Prepares a point. Errors: a workload or cost model file's, a parallelization that does not fit, bandwidths that are
/// missing or cannot be chosen.
[[nodiscard]] Result<PreparedTraining> prepare_training(const DesignPoint& point, TrainingCache& cache);

/// The costs of one point's simulated or synthesized collectives, and how many were verified.
struct CollectiveEffort {
  std::int64_t collectives = 0;  ///< distinct ones that were timed
  std::int64_t verified = 0;     ///< of them replayed by the verifier
  std::string left_out;          ///< why some were not verified
  double synthesis_seconds = 0;
  double simulation_seconds = 0;
  double verification_seconds = 0;
  std::int64_t memory_planned_bytes = 0;  ///< of the largest
};

/// The time of an iteration and a bound on it.
struct TimedIteration {
  TrainingTime time;
  SimTime bound;
  std::string_view bound_name;
  std::optional<CollectiveEffort> effort;  ///< absent for formulas, which have nothing to verify
};
/// Times an iteration with the point's model of collective times. Errors: those of the model.
[[nodiscard]] Result<TimedIteration> time_iteration(const DesignPoint& point, const PreparedTraining& prepared,
                                                    TrainingCache& cache, const ExecutionOptions& options);
/// Times an iteration as if every collective took its bound: no collective is simulated or synthesized.
[[nodiscard]] Result<TimedIteration> bound_iteration(const DesignPoint& point, const PreparedTraining& prepared,
                                                     TrainingCache& cache, const ExecutionOptions& options);

}  // namespace tenex
