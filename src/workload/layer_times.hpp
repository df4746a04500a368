// A workload's layers with their times looked up: what the training loops walk over.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/workload/training.hpp"

namespace tenex {

/// A communication that takes time, and whose queue it stands in.
struct TimedMessage {
  Scope scope = Scope::tensor;
  SimTime time;
};

struct LayerTimes {
  std::array<SimTime, kPhases> compute;
  std::array<std::vector<TimedMessage>, kPhases> every_turn;  ///< by Phase: once per microbatch
  std::vector<TimedMessage> once;                             ///< weight gradients: once per iteration

  /// All messages of a phase one after the other; those of weight gradients with `synchronize` only where they are due.
  [[nodiscard]] SimTime communication(Phase phase, bool synchronize) const;
};

struct BlockTimes {
  std::int64_t repeat = 1;
  std::vector<LayerTimes> layers;
};

/// Asks `model` once per distinct communication; groups of one NPU take no time. Errors: those of the model.
[[nodiscard]] Result<std::vector<BlockTimes>> look_up_times(const Workload& workload, const Mapping& mapping,
                                                            ComputeRate rate, const CollectiveTime& model);

/// One turn of the pipeline's stage through all layers; with `synchronize` it ends with the communication that happens
/// once per iteration. `bubble` stays zero. All sums saturate.
[[nodiscard]] TrainingTime turn_without_overlap(const std::vector<BlockTimes>& blocks, bool synchronize);
[[nodiscard]] TrainingTime turn_with_tp_dp_overlap(const std::vector<BlockTimes>& blocks, bool synchronize);
[[nodiscard]] TrainingTime turn_of_astra_sim(const std::vector<BlockTimes>& blocks, bool synchronize);

}  // namespace tenex
