// Bytes of weights and activations; the formulas and their sources are in the header.
#include "tenex/training/npu_memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tenex/base/units.hpp"

namespace tenex {
namespace {

/// Bytes that add up without overflow: everything up to 2^63 is exact to a few bytes in long double.
using Amount = long double;

std::int64_t whole(Amount bytes) {
  constexpr auto most = static_cast<Amount>(std::numeric_limits<std::int64_t>::max());
  return bytes >= most ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(std::ceil(bytes));
}

/// Gradients that all replicas reduce together, and those of experts, which fewer replicas hold; in bytes.
struct ReducedGradients {
  Amount shared = 0;
  Amount experts = 0;
  Amount largest_layer = 0;
  bool over_all_npus = false;
};

ReducedGradients gradients_of(const Workload& workload) {
  ReducedGradients found;
  for (const auto& block : workload.blocks) {
    Amount in_block = 0;
    for (const auto& layer : block.layers) {
      for (const auto& work : layer.phases)
        for (const auto& each : work.communications) found.over_all_npus |= each.scope == Scope::world;
      for (const auto& each : layer.at(Phase::weight_gradient).communications) {
        if (each.kind != TrafficKind::all_reduce && each.kind != TrafficKind::reduce_scatter) continue;
        if (each.scope != Scope::data && each.scope != Scope::expert_replicas) continue;
        const auto size = static_cast<Amount>(each.size.count());
        in_block += size;
        (each.scope == Scope::data ? found.shared : found.experts) += size * static_cast<Amount>(block.repeat);
      }
    }
    found.largest_layer = std::max(found.largest_layer, in_block);
  }
  return found;
}

/// The stage of ZeRO whose communication a table of layers has. Stages 1 and 2 communicate the same; 2 is meant
/// (LIBRA, section VI-A).
std::int64_t zero_stage_of(const Workload& workload) {
  bool scatters = false;
  bool gathers_forward = false;
  for (const auto& block : workload.blocks)
    for (const auto& layer : block.layers) {
      for (const auto& each : layer.at(Phase::weight_gradient).communications)
        scatters |= each.kind == TrafficKind::reduce_scatter && each.scope == Scope::data;
      for (const auto& each : layer.at(Phase::forward).communications)
        gathers_forward |= each.kind == TrafficKind::all_gather && each.scope == Scope::data;
    }
  if (!scatters) return 0;
  return gathers_forward ? 3 : 2;
}

/// Weights and what goes with them, from the bytes of a workload's gradients.
class ModelStates {
 public:
  ModelStates(const ReducedGradients& gradients, const Parallelization& degrees, std::int64_t zero_stage)
      : gradients_(gradients), degrees_(degrees), zero_(zero_stage) {}

  /// `ratio` bytes per byte of a gradient in communication; over the replicas from ZeRO's stage `from` on.
  [[nodiscard]] Amount of(Amount ratio, std::int64_t from) const {
    if (zero_ < from) return ratio * (gradients_.shared + gradients_.experts);
    const auto replicas = static_cast<Amount>(degrees_.data);
    const auto same_experts = static_cast<Amount>(degrees_.data / degrees_.expert);
    return ratio * (gradients_.shared / replicas + gradients_.experts / same_experts);
  }

 private:
  const ReducedGradients& gradients_;
  const Parallelization& degrees_;
  std::int64_t zero_;
};

/// Activations of a transformer.
class Activations {
 public:
  Activations(const TransformerSpec& spec, const Parallelization& degrees)
      : spec_(spec),
        degrees_(degrees),
        value_(static_cast<Amount>(spec.bytes_per_value)),
        tensor_(static_cast<Amount>(degrees.tensor)),
        tokens_(static_cast<Amount>(spec.batch / spec.microbatches) * static_cast<Amount>(spec.sequence) *
                static_cast<Amount>(spec.hidden)) {}

  /// The layers of a stage's part, kept for one microbatch.
  [[nodiscard]] Amount of_part() const {
    const auto layers = static_cast<Amount>(spec_.layers / degrees_.pipeline / spec_.pipelining.virtual_stages);
    if (spec_.experts.count == 0) return layers * of_layer(false);
    const auto every = static_cast<Amount>(spec_.experts.every);
    return layers / every * (of_layer(true) + (every - 1) * of_layer(false));
  }

  [[nodiscard]] Amount of_layer(bool experts) const {
    if (spec_.recomputation == Recomputation::full) return value_ * tokens_ / outside();
    return attention() + feed_forward(experts) + kept_scores();
  }

  /// What is computed again at one time.
  [[nodiscard]] Amount recomputed() const {
    const auto stored = spec_.flash_attention ? Amount{0} : scores();
    if (spec_.recomputation == Recomputation::none) return 0;
    if (spec_.recomputation == Recomputation::selective) return stored;
    return attention() + feed_forward(spec_.experts.count > 0) + stored;
  }

  /// The embedding's dropout mask.
  [[nodiscard]] Amount of_embedding() const { return spec_.vocabulary > 0 ? mask() * tokens_ / outside() : 0; }

  /// The last layer norm's input, the logits' input, and the logits in 4 bytes.
  [[nodiscard]] Amount of_logits() const {
    if (spec_.vocabulary == 0) return 0;
    const auto vocabulary = static_cast<Amount>(spec_.vocabulary) / static_cast<Amount>(spec_.hidden);
    return 2 * value_ * tokens_ / outside() + 4 * tokens_ * vocabulary / tensor_;
  }

  /// What an NPU sends to the next stage.
  [[nodiscard]] Amount message() const { return value_ * tokens_ / outside(); }
  /// The whole input of a layer, gathered.
  [[nodiscard]] Amount gathered_input() const { return value_ * tokens_; }

 private:
  /// NPUs over which activations between the tensor-parallel parts are split.
  [[nodiscard]] Amount outside() const { return spec_.sequence_parallelism ? tensor_ : 1; }

  /// Bytes of a dropout's mask per value.
  [[nodiscard]] Amount mask() const { return spec_.dropout ? 1 : 0; }
  /// Layer norm, the input of the three products, its dropout mask; query, key, value and the input of the last
  /// product.
  [[nodiscard]] Amount attention() const {
    const auto groups = static_cast<Amount>(spec_.groups()) / static_cast<Amount>(spec_.heads);
    return tokens_ * ((2 * value_ + mask()) / outside() + (2 + 2 * groups) * value_ / tensor_);
  }
  /// Softmax, its dropout mask, and the result of the dropout, of b a s^2 scores; softmax alone without dropout.
  [[nodiscard]] Amount scores() const {
    const auto per_token =
        static_cast<Amount>(spec_.heads) * static_cast<Amount>(spec_.sequence) / static_cast<Amount>(spec_.hidden);
    return tokens_ * (spec_.dropout ? 2 * value_ + 1 : value_) * per_token / tensor_;
  }
  [[nodiscard]] Amount kept_scores() const {
    if (spec_.flash_attention)
      return 4 * tokens_ * static_cast<Amount>(spec_.heads) / static_cast<Amount>(spec_.hidden) / tensor_;
    return spec_.recomputation == Recomputation::none ? scores() : 0;
  }
  /// Layer norm, input, dropout mask; the inputs of the activation function, its gate's, and of the last product.
  [[nodiscard]] Amount feed_forward(bool experts) const {
    const auto units = static_cast<Amount>(experts ? spec_.expert_units() : spec_.units());
    const auto inner = (spec_.gated ? 3 : 2) * value_ * units / static_cast<Amount>(spec_.hidden) / tensor_;
    if (!experts) return tokens_ * ((2 * value_ + mask()) / outside() + inner);
    const auto copies = static_cast<Amount>(spec_.experts.per_token);
    return tokens_ * ((2 * value_ + mask()) / outside() + copies * (value_ + inner));
  }

  const TransformerSpec& spec_;
  const Parallelization& degrees_;
  Amount value_;
  Amount tensor_;
  Amount tokens_;  // b s h
};

struct StageAmounts {
  Amount activations = 0;
  Amount buffers = 0;
};

/// The larger of the first and the last stage.
StageAmounts activations_of(const TransformerSpec& spec, const Parallelization& degrees) {
  const Activations activations(spec, degrees);
  const auto stages = degrees.pipeline;
  const auto kept = [&](std::int64_t stage) {
    return static_cast<Amount>(kept_parts(spec.pipelining, stages, spec.microbatches, stage));
  };
  const auto per_microbatch = static_cast<Amount>(spec.pipelining.virtual_stages);
  const auto first = kept(0) * (activations.of_part() + activations.of_embedding() / per_microbatch);
  const auto last = kept(stages - 1) * activations.of_part() + activations.of_logits();
  StageAmounts found;
  found.activations = stages == 1 ? first + activations.of_logits() : std::max(first, last);
  found.buffers = activations.recomputed();
  if (stages > 1) found.buffers += 2 * activations.message();
  if (spec.sequence_parallelism) found.buffers += activations.gathered_input();
  return found;
}

Amount gathered_layers(const ReducedGradients& gradients, const TransformerSpec& spec) {
  const auto of_weights = static_cast<Amount>(spec.bytes_per_value);
  const auto of_gradients = static_cast<Amount>(spec.gradient_bytes);
  Amount bytes = 0;
  if (spec.zero_stage >= 2) bytes += gradients.largest_layer / of_weights * of_gradients;
  if (spec.zero_stage == 3) bytes += 2 * gradients.largest_layer;
  return bytes;
}

}  // namespace

std::int64_t NpuMemory::total() const {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::int64_t sum = -1;
  for (const auto part : {weights, gradients, optimizer, activations, buffers}) {
    if (part < 0) continue;
    if (sum < 0) sum = 0;
    sum = sum > most - part ? most : sum + part;
  }
  return sum;
}

NpuMemory npu_memory(const Workload& workload, const std::optional<TransformerSpec>& chosen,
                     const Parallelization& degrees) {
  const auto gradients = gradients_of(workload);
  if (gradients.over_all_npus) return {};
  const ModelStates states(gradients, degrees, chosen ? chosen->zero_stage : zero_stage_of(workload));
  constexpr Amount without_dimensions = 6;  // 12 bytes of states for 2 of a gradient
  NpuMemory memory;
  memory.weights = whole(states.of(1, 3));
  if (!chosen) {
    memory.gradients = whole(states.of(1, 2));
    memory.optimizer = whole(states.of(without_dimensions, 1));
    return memory;
  }
  const auto value = static_cast<Amount>(chosen->bytes_per_value);
  memory.gradients = whole(states.of(static_cast<Amount>(chosen->gradient_bytes) / value, 2));
  memory.optimizer = whole(states.of(static_cast<Amount>(chosen->optimizer_bytes) / value, 1));
  const auto stage = activations_of(*chosen, degrees);
  memory.activations = whole(stage.activations);
  memory.buffers = whole(stage.buffers + gathered_layers(gradients, *chosen));
  return memory;
}

std::string list_parts(const NpuMemory& memory) {
  const std::array<std::pair<std::string_view, std::int64_t>, 5> parts{{{"weights", memory.weights},
                                                                        {"gradients", memory.gradients},
                                                                        {"optimizer states", memory.optimizer},
                                                                        {"activations", memory.activations},
                                                                        {"buffers", memory.buffers}}};
  std::string text;
  for (const auto& [name, amount] : parts)
    if (amount >= 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_rounded_bytes(static_cast<double>(amount)), name);
  return text;
}

}  // namespace tenex
