// A workload's layers with their times, as the training loops use them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/workload/training.hpp"

namespace tenex {

/// A communication that takes time, and the scope whose queue it enters.
struct TimedMessage {
  Scope scope = Scope::tensor;
  SimTime time;
};

struct LayerTimes {
  std::array<SimTime, kPhases> compute;
  std::array<std::vector<TimedMessage>, kPhases> every_turn;  ///< by Phase: once per microbatch
  std::vector<TimedMessage> once;                             ///< weight gradients: once per iteration
  /// The ends of the communications of the input gradient (first) and, after its computation, of the weight gradient
  /// (second), where both begin at once; indexed by `synchronize`. Filled in by look_up_overlaps().
  std::array<ConcurrentEnds, 2> gradients{};

  /// All messages of a phase one after the other. Those that happen once per iteration are included only with
  /// `synchronize`.
  [[nodiscard]] SimTime communication(Phase phase, bool synchronize) const;
  /// These messages, in their order.
  [[nodiscard]] std::vector<TimedMessage> messages(Phase phase, bool synchronize) const;
};

struct BlockTimes {
  std::int64_t repeat = 1;
  std::vector<LayerTimes> layers;
};

/// Asks `model` once per distinct communication; groups of one NPU take no time. Errors: those of the model.
[[nodiscard]] Result<std::vector<BlockTimes>> look_up_times(const Workload& workload, const Mapping& mapping,
                                                            ComputeRate rate, const CollectiveTime& model);

/// Fills in `gradients` of all layers. Streams that do not slow each other add up; otherwise `model` is asked once per
/// distinct pair of streams and offset. `several_turns`: turns without synchronization are needed too. Errors: those of
/// the model.
[[nodiscard]] Status look_up_overlaps(const Workload& workload, const Mapping& mapping, const CollectiveTime& model,
                                      bool several_turns, std::vector<BlockTimes>& blocks);

/// The number of scopes with messages that take time; each has a queue of its own.
[[nodiscard]] std::size_t count_queues(const std::vector<BlockTimes>& blocks);

/// One turn of the pipeline's stage through all layers; with `synchronize` it ends with the communication that happens
/// once per iteration. `bubble` stays zero. All sums saturate.
[[nodiscard]] TrainingTime turn_without_overlap(const std::vector<BlockTimes>& blocks, bool synchronize);
[[nodiscard]] TrainingTime turn_with_tp_dp_overlap(const std::vector<BlockTimes>& blocks, bool synchronize);
[[nodiscard]] TrainingTime turn_of_astra_sim(const std::vector<BlockTimes>& blocks, bool synchronize);

}  // namespace tenex
