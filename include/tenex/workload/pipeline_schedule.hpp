// Pipeline schedules: the order of each stage's work, the bubble that it leaves, and the activations that it keeps.
//
// An iteration takes M microbatches through P equal stages. A microbatch takes a stage F of forward pass, B for the
// gradients of its inputs and W for those of its weights. Every stage computes M (F + B + W) and is idle for the
// bubble; it keeps the activations of a microbatch from its forward pass to the end of its backward pass.
//
//   schedule     bubble                  kept on the first stage, in activations of a microbatch's stage
//   gpipe        (P-1) (F+B+W)           M                        Huang et al., "GPipe", 2019
//   1f1b         (P-1) (F+B+W)           min(M, P)                Narayanan et al., SC'21, 2.2.1
//   interleaved  (P-1) (F+B+W) / V       min(M, P + (P-1)/V)      SC'21, 2.2.2; Korthikanti et al., 2022, 4.2.3
//   zb_h1        (P-1) (F+B-W)           min(M, P)                Qi et al., "Zero Bubble Pipeline Parallelism", 2023
//   zero_bubble  (P-1) (F+B-2W)          min(M, 2P-1)             the same, its ZB-H2
//
// `interleaved` gives each stage V parts of the model's layers (virtual stages) and needs a multiple of P microbatches.
// The last two put off the weights' gradients to fill the bubble. Their formulas hold for M >= 2P-1 and W <= F, W <= B,
// and are at least 0. Elsewhere the bubble is that of stages which do their tasks in the schedule's order as soon as
// they can. Stages need not wait for each other between iterations: an iteration takes as long as the stage with the
// longest span from its first to its last task (the same paper, 2.3).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {

enum class PipelineSchedule : std::uint8_t { gpipe, one_forward_one_backward, interleaved, zb_h1, zero_bubble };
/// "gpipe", "1f1b", "interleaved", "zb_h1", "zero_bubble".
[[nodiscard]] std::string_view to_string(PipelineSchedule schedule);
/// Parses a name. Errors (input): an unknown name, with the nearest spelling.
[[nodiscard]] Result<PipelineSchedule> parse_pipeline_schedule(std::string_view text, const Place& place = {});
/// Whether weights' gradients are tasks of their own.
[[nodiscard]] constexpr bool splits_backward(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::zb_h1 || schedule == PipelineSchedule::zero_bubble;
}

/// A schedule with its virtual stages.
struct Pipelining {
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  std::int64_t virtual_stages = 1;  ///< V; more than 1 only with `interleaved`
  bool operator==(const Pipelining&) const = default;
};

/// The times of one microbatch on one stage.
struct StageTimes {
  SimTime forward;          ///< F
  SimTime input_gradient;   ///< B
  SimTime weight_gradient;  ///< W
  /// F + B + W; saturates.
  [[nodiscard]] SimTime total() const;
};

/// The idle time of an iteration. Saturates. O(1) by formula, otherwise O(stages * microbatches).
/// Expects: positive numbers; `interleaved` has a multiple of `stages` microbatches.
[[nodiscard]] SimTime pipeline_bubble(const Pipelining& pipelining, std::int64_t stages, std::int64_t microbatches,
                                      const StageTimes& times);
/// Whether pipeline_bubble() is given by the formula.
[[nodiscard]] bool has_bubble_formula(PipelineSchedule schedule, std::int64_t stages, std::int64_t microbatches,
                                      const StageTimes& times);

/// The largest number of microbatches whose activations of one virtual stage a stage keeps: V times what the table
/// says. `stage` counts from 0. O(1); for stages other than the first and the last O(microbatches).
[[nodiscard]] std::int64_t kept_parts(const Pipelining& pipelining, std::int64_t stages, std::int64_t microbatches,
                                      std::int64_t stage);

/// A task of a stage.
struct PipelineTask {
  enum class Kind : std::uint8_t { forward, input_gradient, weight_gradient, backward };
  Kind kind = Kind::forward;  ///< backward: both gradients
  std::int64_t part = 0;      ///< the virtual stage, from 0; parts follow each other in the model
  std::int64_t microbatch = 0;
  bool operator==(const PipelineTask&) const = default;
};

/// The tasks of a stage in their order. O(microbatches * virtual stages).
/// Expects: as pipeline_bubble(); 0 <= stage < stages.
[[nodiscard]] std::vector<PipelineTask> pipeline_tasks(const Pipelining& pipelining, std::int64_t stages,
                                                       std::int64_t microbatches, std::int64_t stage);

/// The time of a task. The parts of a stage take equal times; what does not divide goes to the first parts.
[[nodiscard]] SimTime task_time(const PipelineTask& task, const Pipelining& pipelining, const StageTimes& times);

/// The task before which another stage, or another part of the same, must have ended; false: there is none.
struct TaskSource {
  bool exists = false;
  std::int64_t stage = 0;
  PipelineTask task;
};
[[nodiscard]] TaskSource source_of(const PipelineTask& task, const Pipelining& pipelining, std::int64_t stages,
                                   std::int64_t stage);

/// The length of an iteration whose messages take no time, task by task: the twin of the formulas. Saturates.
/// O(stages * microbatches * virtual stages).
[[nodiscard]] SimTime pipeline_time_by_tasks(const Pipelining& pipelining, std::int64_t stages,
                                             std::int64_t microbatches, const StageTimes& times);

}  // namespace tenex
