// ASTRA-sim's hybrid-parallel loop (iterate_hybrid_parallel_Transformer of its workload layer), one turn in steady
// state.
//
// The turn begins with the backward pass, when every queue is empty. It ends with the forward pass of the next
// iteration, which waits for each layer's weight gradients. The next turn begins in the same state, so the turn's
// length is the period.
#include <algorithm>
#include <array>

#include "workload/layer_times.hpp"
#include "workload/saturating.hpp"

namespace tenex {

namespace {

class AstraSimTurn {
 public:
  AstraSimTurn(const std::vector<BlockTimes>& blocks, bool synchronize) : blocks_(blocks), synchronize_(synchronize) {
    std::size_t layers = 0;
    for (const auto& block : blocks) layers += static_cast<std::size_t>(block.repeat) * block.layers.size();
    weights_ready_.resize(layers);
  }

  TrainingTime run() {
    auto instance = weights_ready_.size();
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
      for (std::int64_t repetition = 0; repetition < block->repeat; ++repetition)
        for (auto layer = block->layers.rbegin(); layer != block->layers.rend(); ++layer)
          weights_ready_[--instance] = go_back(*layer);
    for (const auto& block : blocks_)
      for (std::int64_t repetition = 0; repetition < block.repeat; ++repetition)
        for (const auto& layer : block.layers) go_forward(layer, weights_ready_[instance++]);
    return result_;
  }

 private:
  void compute(const LayerTimes& layer, Phase phase) {
    const auto time = layer.compute[static_cast<std::size_t>(phase)];
    auto& total = result_.compute[static_cast<std::size_t>(phase)];
    total = saturating_sum(total, time);
    now_ = saturating_sum(now_, time);
  }

  void wait_until(const TimedMessage& due, Phase phase) {
    if (due.time <= now_) return;
    auto& total = result_.exposed[static_cast<std::size_t>(phase)];
    total = saturating_sum(total, due.time - now_);
    auto& over = result_.exposed_over[static_cast<std::size_t>(due.scope)];
    over = saturating_sum(over, due.time - now_);
    now_ = due.time;
  }

  /// Enqueues messages, each after the one before it and all after `ready`. Returns the end of the last, and its scope.
  TimedMessage send(const std::vector<TimedMessage>& messages, TimedMessage ready) {
    for (const auto& message : messages) {
      auto& queue = queue_free_[static_cast<std::size_t>(message.scope)];
      queue = saturating_sum(std::max(queue, ready.time), message.time);
      ready = {message.scope, queue};
    }
    return ready;
  }

  [[nodiscard]] TimedMessage now() const { return {Scope::tensor, now_}; }

  TimedMessage go_back(const LayerTimes& layer) {
    compute(layer, Phase::input_gradient);
    const auto input_ready = send(layer.every_turn[static_cast<std::size_t>(Phase::input_gradient)], now());
    compute(layer, Phase::weight_gradient);
    auto weights_ready = send(layer.every_turn[static_cast<std::size_t>(Phase::weight_gradient)], now());
    if (synchronize_) weights_ready = send(layer.once, weights_ready);
    wait_until(input_ready, Phase::input_gradient);
    return weights_ready;
  }

  void go_forward(const LayerTimes& layer, const TimedMessage& weights_ready) {
    wait_until(weights_ready, Phase::weight_gradient);
    compute(layer, Phase::forward);
    wait_until(send(layer.every_turn[static_cast<std::size_t>(Phase::forward)], now()), Phase::forward);
  }

  const std::vector<BlockTimes>& blocks_;
  bool synchronize_;
  SimTime now_;
  std::array<SimTime, kScopes> queue_free_{};
  std::vector<TimedMessage> weights_ready_;  // by layer instance, forward order: the last message
  TrainingTime result_;
};

}  // namespace

TrainingTime turn_of_astra_sim(const std::vector<BlockTimes>& blocks, bool synchronize) {
  return AstraSimTurn(blocks, synchronize).run();
}

}  // namespace tenex
