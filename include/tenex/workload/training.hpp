// Training loops: the time of one iteration, and its exposed communication.
//
//   no_overlap     LIBRA (Won et al., 2024), Fig. 5(b): nothing overlaps; every computation and communication adds up.
//   tp_dp_overlap  LIBRA, Fig. 5(c), IV-C: a layer's backward pass takes
//                  TP_compute + max(TP_comm, DP_compute + DP_comm); the forward pass does not overlap.
//   astra_sim      ASTRA-sim's hybrid loop: forward communication blocks; input-gradient communication runs beside the
//                  layer's weight-gradient computation and is awaited before the next layer; weight-gradient
//                  communication goes into a queue (one per scope, first in, first out; scopes run concurrently) and
//                  the forward pass of the next iteration waits for it, layer by layer. Input-gradient communication of
//                  a scope stands in that scope's queue, too, so it waits for weight-gradient communication of earlier
//                  layers there; tables mostly have them in different scopes (tensor and data). One pass gives the
//                  exact period: every queue is empty when a backward pass begins, because the forward pass has waited
//                  for all communication.
//
// Where concurrent communications share the links (CollectiveTime::contends()), tp_dp_overlap asks the model when each
// of a layer's two streams ends beside the other. no_overlap never has two communications at a time. astra_sim is
// refused unless all communication is of one scope, so that one queue has the links to itself.
//
// Pipeline: P stages and M microbatches take M turns of the stage and the bubble of their schedule
// (pipeline_schedule.hpp); messages to the next stage are part of the turn. Communication that happens once per
// iteration is part of the last turn only.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/workload/collective_time.hpp"
#include "tenex/workload/compute.hpp"
#include "tenex/workload/parallelization.hpp"
#include "tenex/workload/workload.hpp"

namespace tenex {

enum class TrainingLoop : std::uint8_t { no_overlap, tp_dp_overlap, astra_sim };
/// "no_overlap", "tp_dp_overlap", "astra_sim".
[[nodiscard]] std::string_view to_string(TrainingLoop loop);
/// Parses a name. Errors (input): an unknown name, with the nearest spelling.
[[nodiscard]] Result<TrainingLoop> parse_training_loop(std::string_view text, const Place& place = {});

/// The parts of an iteration's time (as in TACOS, Won et al., Fig. 21); they add up to the whole. Communication is
/// exposed while the NPU waits for it and does not compute. Where both gradients' communications are awaited together
/// (tp_dp_overlap), the wait counts as weight-gradient's until that one is done; the rest counts as input-gradient's.
struct TrainingTime {
  std::array<SimTime, kPhases> compute;         ///< by Phase
  std::array<SimTime, kPhases> exposed;         ///< by Phase
  SimTime bubble;                               ///< the pipeline's fill and drain
  std::array<SimTime, kScopes> exposed_over{};  ///< the exposed communication again, by Scope

  [[nodiscard]] SimTime total() const;
  /// All exposed communication.
  [[nodiscard]] SimTime communication() const;
  /// The forward pass, the inputs' and the weights' gradients, with the communication that each waits for.
  [[nodiscard]] StageTimes stage() const;
  bool operator==(const TrainingTime&) const = default;
};

/// The turns of a stage: the last one has what happens once per iteration, too. Their bubbles are zero.
struct IterationTurns {
  TrainingTime last;
  TrainingTime turn;  ///< each of the others
};
/// The time of a workload's turns and the pipeline's bubble. Saturates.
[[nodiscard]] TrainingTime pipelined_time(const IterationTurns& turns, const Workload& workload, std::int64_t stages);

/// The time of one iteration. Errors: those of `model`; (resource) more than int64 picoseconds; (unsupported) astra_sim
/// with several scopes and a model that contends. `rate` must be positive. O(layers) and one call of `model` per
/// distinct communication, or pair of streams where they contend; astra_sim O(layers * repetitions).
[[nodiscard]] Result<TrainingTime> training_time(const Workload& workload, const Mapping& mapping, ComputeRate rate,
                                                 const CollectiveTime& model, TrainingLoop loop);
/// The turns that training_time() adds up. Errors: its.
[[nodiscard]] Result<IterationTurns> iteration_turns(const Workload& workload, const Mapping& mapping, ComputeRate rate,
                                                     const CollectiveTime& model, TrainingLoop loop);
/// The error of an iteration that takes more than int64 picoseconds.
[[nodiscard]] Diagnostic refuse_long_iteration(const Workload& workload);

}  // namespace tenex
