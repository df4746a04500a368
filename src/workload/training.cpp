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
        add(turn.exposed[index], layer.communication(phase, synchronize), block.repeat);
      }
  return turn;
}

TrainingTime turn_with_tp_dp_overlap(const std::vector<BlockTimes>& blocks, bool synchronize) {
  TrainingTime turn;
  for (const auto& block : blocks)
    for (const auto& layer : block.layers) {
      for (std::size_t phase = 0; phase < kPhases; ++phase)
        add(turn.compute[phase], layer.compute[phase], block.repeat);
      add(turn.exposed[kForward], layer.communication(Phase::forward, synchronize), block.repeat);
      const auto& [inputs_done, weights_done] = layer.gradients[synchronize ? 1 : 0];
      add(turn.exposed[kWeight], weights_done - layer.compute[kWeight], block.repeat);
      if (inputs_done > weights_done) add(turn.exposed[kInput], inputs_done - weights_done, block.repeat);
    }
  return turn;
}

Result<TrainingTime> training_time(const Workload& workload, const Mapping& mapping, ComputeRate rate,
                                   const CollectiveTime& model, TrainingLoop loop) {
  ensure(rate.count() > 0, "a compute rate is positive");
  auto blocks = look_up_times(workload, mapping, rate, model);
  if (!blocks) return blocks.errors();
  const auto stages = mapping.degrees().pipeline;
  const bool several_turns = workload.microbatches > 1 || stages > 1;
  if (loop == TrainingLoop::tp_dp_overlap) {
    const auto status = look_up_overlaps(workload, mapping, model, several_turns, *blocks);
    if (!status) return status.errors();
  }
  if (loop == TrainingLoop::astra_sim && model.contends() && count_queues(*blocks) > 1)
    return unsupported_error({}, "the loop astra_sim does not support queues that share links",
                             "its queues run concurrently over many layers, and a collective time model times only "
                             "two streams that begin in one layer",
                             "use the loop tp_dp_overlap, or leave contention out");
  auto time = one_turn(*blocks, loop, true);
  if (several_turns) {
    const auto turn = one_turn(*blocks, loop, false);
    add_turns(time, turn, workload.microbatches - 1);
    time.bubble = saturating_product(turn.total(), stages - 1);
  }
  if (time.total() == SimTime::max())
    return resource_error(fmt::format("an iteration of {} takes more than 106 days", workload.name),
                          "times are int64 picoseconds");
  return time;
}

}  // namespace tenex
