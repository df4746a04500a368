// The training loops that are sums, and the pipeline's turns for all loops.
#include "tenex/workload/training.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "tenex/base/words.hpp"
#include "workload/layer_times.hpp"
#include "workload/saturating.hpp"

namespace tenex {

namespace {

constexpr std::array<std::string_view, 3> kLoopNames{"no_overlap", "tp_dp_overlap", "astra_sim"};
constexpr auto kForward = static_cast<std::size_t>(Phase::forward);
constexpr auto kInput = static_cast<std::size_t>(Phase::input_gradient);
constexpr auto kWeight = static_cast<std::size_t>(Phase::weight_gradient);

void add(SimTime& total, SimTime time, std::int64_t repeat) {
  total = saturating_sum(total, saturating_product(time, repeat));
}

TrainingTime one_turn(const std::vector<BlockTimes>& blocks, TrainingLoop loop, bool synchronize) {
  switch (loop) {
    case TrainingLoop::no_overlap:
      return turn_without_overlap(blocks, synchronize);
    case TrainingLoop::tp_dp_overlap:
      return turn_with_tp_dp_overlap(blocks, synchronize);
    case TrainingLoop::astra_sim:
      break;
  }
  return turn_of_astra_sim(blocks, synchronize);
}

/// Adds `turns` turns of another kind.
void add_turns(TrainingTime& time, const TrainingTime& turn, std::int64_t turns) {
  for (std::size_t phase = 0; phase < kPhases; ++phase) {
    add(time.compute[phase], turn.compute[phase], turns);
    add(time.exposed[phase], turn.exposed[phase], turns);
  }
  for (std::size_t scope = 0; scope < kScopes; ++scope) add(time.exposed_over[scope], turn.exposed_over[scope], turns);
}

/// Adds a wait for the last of a stream's messages, which follow each other: for each as long as it lasts, from the end
/// of the stream on. What is left (links were shared) is waiting for the last one.
void expose(TrainingTime& turn, Phase phase, SimTime wait, const std::vector<TimedMessage>& stream,
            std::int64_t repeat) {
  if (wait.count() == 0) return;
  ensure(!stream.empty(), "an NPU waits only for messages");
  add(turn.exposed[static_cast<std::size_t>(phase)], wait, repeat);
  const auto over = [&](const TimedMessage& message) -> SimTime& {
    return turn.exposed_over[static_cast<std::size_t>(message.scope)];
  };
  for (auto message = stream.rbegin(); message != stream.rend() && wait.count() > 0; ++message) {
    const auto part = std::min(wait, message->time);
    add(over(*message), part, repeat);
    wait = wait - part;
  }
  add(over(stream.back()), wait, repeat);
}

}  // namespace

std::string_view to_string(TrainingLoop loop) { return kLoopNames[static_cast<std::size_t>(loop)]; }
Result<TrainingLoop> parse_training_loop(std::string_view text, const Place& place) {
  return parse_name<TrainingLoop>(text, kLoopNames, "training loop", place);
}

SimTime TrainingTime::total() const {
  auto sum = saturating_sum(bubble, communication());
  for (const auto part : compute) sum = saturating_sum(sum, part);
  return sum;
}

StageTimes TrainingTime::stage() const {
  const auto phase_time = [&](std::size_t phase) { return saturating_sum(compute[phase], exposed[phase]); };
  return {phase_time(kForward), phase_time(kInput), phase_time(kWeight)};
}

TrainingTime pipelined_time(const IterationTurns& turns, const Workload& workload, std::int64_t stages) {
  auto time = turns.last;
  add_turns(time, turns.turn, workload.microbatches - 1);
  time.bubble = pipeline_bubble(workload.pipelining, stages, workload.microbatches, turns.turn.stage());
  return time;
}

SimTime TrainingTime::communication() const {
  SimTime sum;
  for (const auto part : exposed) sum = saturating_sum(sum, part);
  return sum;
}

TrainingTime turn_without_overlap(const std::vector<BlockTimes>& blocks, bool synchronize) {
  TrainingTime turn;
  for (const auto& block : blocks)
    for (const auto& layer : block.layers)
      for (const auto phase : {Phase::forward, Phase::input_gradient, Phase::weight_gradient}) {
        const auto index = static_cast<std::size_t>(phase);
        add(turn.compute[index], layer.compute[index], block.repeat);
        expose(turn, phase, layer.communication(phase, synchronize), layer.messages(phase, synchronize), block.repeat);
      }
  return turn;
}

TrainingTime turn_with_tp_dp_overlap(const std::vector<BlockTimes>& blocks, bool synchronize) {
  TrainingTime turn;
  for (const auto& block : blocks)
    for (const auto& layer : block.layers) {
      for (std::size_t phase = 0; phase < kPhases; ++phase)
        add(turn.compute[phase], layer.compute[phase], block.repeat);
      expose(turn, Phase::forward, layer.communication(Phase::forward, synchronize),
             layer.messages(Phase::forward, synchronize), block.repeat);
      const auto& [inputs_done, weights_done] = layer.gradients[synchronize ? 1 : 0];
      expose(turn, Phase::weight_gradient, weights_done - layer.compute[kWeight],
             layer.messages(Phase::weight_gradient, synchronize), block.repeat);
      if (inputs_done > weights_done)
        expose(turn, Phase::input_gradient, inputs_done - weights_done,
               layer.messages(Phase::input_gradient, synchronize), block.repeat);
    }
  return turn;
}

Result<IterationTurns> iteration_turns(const Workload& workload, const Mapping& mapping, ComputeRate rate,
                                       const CollectiveTime& model, TrainingLoop loop) {
  ensure(rate.count() > 0, "a compute rate is positive");
  auto blocks = look_up_times(workload, mapping, rate, model);
  if (!blocks) return blocks.errors();
  const bool several_turns = workload.microbatches > 1 || mapping.degrees().pipeline > 1;
  if (loop == TrainingLoop::tp_dp_overlap) {
    const auto status = look_up_overlaps(workload, mapping, model, several_turns, *blocks);
    if (!status) return status.errors();
  }
  if (loop == TrainingLoop::astra_sim && model.contends() && count_queues(*blocks) > 1)
    return unsupported_error({}, "the loop astra_sim does not support queues that share links",
                             "its queues run concurrently over many layers, and a collective time model times only "
                             "two streams that begin in one layer",
                             "use the loop tp_dp_overlap, or leave contention out");
  const auto last = one_turn(*blocks, loop, true);
  return IterationTurns{last, several_turns ? one_turn(*blocks, loop, false) : last};
}

Diagnostic refuse_long_iteration(const Workload& workload) {
  return resource_error(fmt::format("an iteration of {} takes more than 106 days", workload.name),
                        "times are int64 picoseconds");
}

Result<TrainingTime> training_time(const Workload& workload, const Mapping& mapping, ComputeRate rate,
                                   const CollectiveTime& model, TrainingLoop loop) {
  const auto turns = iteration_turns(workload, mapping, rate, model, loop);
  if (!turns) return turns.errors();
  const auto time = pipelined_time(*turns, workload, mapping.degrees().pipeline);
  if (time.total() == SimTime::max()) return refuse_long_iteration(workload);
  return time;
}

}  // namespace tenex
