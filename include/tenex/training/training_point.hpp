// A point that trains a model: what its text shows wrong, its bandwidths and their cost, the time of an iteration, and
// a lower bound on it.
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
#include "tenex/training/training_cache.hpp"
#include "tenex/workload/training.hpp"

namespace tenex {

/// What is wrong with a point that trains, as far as its text shows (Vocabulary::check_training): everything that would
/// end its row before a collective is timed. Errors name the key that they are about in place of a file, and count
/// columns of its canonical text.
[[nodiscard]] Diagnostics check_training_point(const DesignPoint& point, TrainingCache& cache);

/// A point whose workload is laid over its shape and whose bandwidths are known.
struct PreparedTraining {
  std::shared_ptr<const Result<TrainingSetup>> setup;
  std::vector<Bandwidth> bandwidth;                     ///< per NPU and dimension
  std::shared_ptr<const Result<BandwidthSplit>> split;  ///< how a scheme chose them; null where the point states them
  Money cost;                                           ///< of the network
  std::size_t npus = 0;
  std::string mapping;  ///< which dimensions the groups take, in words
};
/// Prepares a point. Errors: a workload or cost model file's, a parallelization that does not fit, bandwidths that are
/// missing or cannot be chosen.
[[nodiscard]] Result<PreparedTraining> prepare_training(const DesignPoint& point, TrainingCache& cache);

/// What the simulated and synthesized collectives of one point amounted to, all of them verified or said to be not.
struct CollectiveEffort {
  std::int64_t collectives = 0;  ///< distinct ones that were timed
  std::int64_t verified = 0;     ///< of them replayed by the verifier
  std::string left_out;          ///< why some were not verified
  double synthesis_seconds = 0;
  double simulation_seconds = 0;
  double verification_seconds = 0;
  std::int64_t memory_planned_bytes = 0;  ///< of the largest
};

/// An iteration's time and a bound on it.
struct TimedIteration {
  TrainingTime time;
  SimTime bound;
  std::string_view bound_name;
  std::optional<CollectiveEffort> effort;  ///< absent for formulas, which have nothing to verify
};
/// Times an iteration with the point's model of collective times. Errors: those of the model.
[[nodiscard]] Result<TimedIteration> time_iteration(const DesignPoint& point, const PreparedTraining& prepared,
                                                    TrainingCache& cache, const ExecutionOptions& options);
/// The same as if every collective took its bound: no collective is simulated or synthesized.
[[nodiscard]] Result<TimedIteration> bound_iteration(const DesignPoint& point, const PreparedTraining& prepared,
                                                     TrainingCache& cache, const ExecutionOptions& options);

}  // namespace tenex
