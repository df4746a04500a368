// Layers of a transformer from its dimensions; the formulas and their sources are in the header.
#include "tenex/workload/transformer.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "tenex/base/words.hpp"
#include "workload/exact_arithmetic.hpp"

namespace tenex {

namespace {

constexpr std::array<std::string_view, 3> kRecomputations{"none", "selective", "full"};

void check_positive(const TransformerSpec& spec, Diagnostics& errors) {
  const auto check = [&](std::string_view what, std::int64_t value, std::int64_t least) {
    if (value < least)
      errors.push_back(input_error({}, fmt::format("a transformer with {} = {}", what, value),
                                   fmt::format("it is at least {}", least)));
  };
  check("layers", spec.layers, 1);
  check("hidden", spec.hidden, 1);
  check("heads", spec.heads, 1);
  check("kv_heads", spec.kv_heads, 0);
  check("feed_forward", spec.feed_forward, 0);
  check("sequence", spec.sequence, 1);
  check("vocabulary", spec.vocabulary, 0);
  check("batch", spec.batch, 1);
  check("microbatches", spec.microbatches, 1);
  check("bytes_per_value", spec.bytes_per_value, 1);
  check("gradient_bytes", spec.gradient_bytes, 1);
  check("optimizer_bytes", spec.optimizer_bytes, 0);
  check("virtual_stages", spec.pipelining.virtual_stages, 1);
  check("zero_stage", spec.zero_stage, 0);
  check("experts.count", spec.experts.count, 0);
  check("experts.per_token", spec.experts.per_token, 1);
  check("experts.every", spec.experts.every, 1);
  check("experts.feed_forward", spec.experts.feed_forward, 0);
  if (spec.zero_stage > 3)
    errors.push_back(input_error({}, fmt::format("ZeRO stage {}", spec.zero_stage), "stages are 0 to 3"));
  if (spec.experts.count > 0 && spec.experts.per_token > spec.experts.count)
    errors.push_back(input_error({},
                                 fmt::format("{} experts per token of {}", spec.experts.per_token, spec.experts.count),
                                 "a token goes to at most every expert"));
}

void check_virtual_stages(const TransformerSpec& spec, const Parallelization& degrees, Diagnostics& errors) {
  const auto parts = spec.pipelining.virtual_stages;
  if (parts == 1 || spec.layers % degrees.pipeline != 0) return;
  const auto layers = spec.layers / degrees.pipeline;
  if (layers % parts != 0)
    errors.push_back(input_error({}, fmt::format("{} virtual stages do not divide {} layers of a stage", parts, layers),
                                 "each part is equally large", suggest_divisors(layers, parts)));
  if (spec.microbatches % degrees.pipeline == 0) return;
  errors.push_back(
      input_error({}, fmt::format("{} microbatches for {} interleaved stages", spec.microbatches, degrees.pipeline),
                  "stages take as many microbatches in a row as there are stages",
                  fmt::format("use a multiple of {} microbatches that divides {} sequences, or the schedule 1f1b",
                              degrees.pipeline, spec.batch)));
}

void check_degrees(const TransformerSpec& spec, const Parallelization& degrees, Diagnostics& errors) {
  ensure(std::min({degrees.tensor, degrees.data, degrees.pipeline, degrees.expert}) >= 1, "degrees are positive");
  // `others`: what a degree must divide besides, so that the other degrees can fill the same NPUs; 0: nothing.
  const auto divides = [&](std::string_view what, std::int64_t degree, std::string_view whole, std::int64_t number,
                           std::int64_t others = 0) {
    if (number % degree == 0) return;
    auto help = suggest_divisors(std::gcd(number, others), degree);
    if (others != 0 && !help.empty()) help += fmt::format(", so that the degrees still multiply to {}", degrees.npus());
    errors.push_back(input_error({}, fmt::format("{} {} does not divide {} {}", what, degree, number, whole),
                                 "each part is equally large", std::move(help)));
  };
  divides("number of heads", spec.heads, "hidden units", spec.hidden);
  divides("number of key-value heads", spec.groups(), "heads", spec.heads);
  const auto others = degrees.npus() / degrees.pipeline;
  divides("TP degree", degrees.tensor, "heads", spec.heads, others);
  if (spec.groups() != spec.heads) divides("TP degree", degrees.tensor, "key-value heads", spec.groups(), others);
  if (spec.feed_forward > 0) divides("TP degree", degrees.tensor, "feed-forward units", spec.feed_forward, others);
  if (spec.experts.feed_forward > 0)
    divides("TP degree", degrees.tensor, "units of an expert", spec.experts.feed_forward, others);
  divides("number of stages", degrees.pipeline, "layers", spec.layers, degrees.npus() / degrees.tensor);
  divides("number of microbatches", spec.microbatches, "sequences of a replica", spec.batch);
  check_virtual_stages(spec, degrees, errors);
  if (spec.experts.count > 0) {
    divides("expert degree", degrees.expert, "experts", spec.experts.count, degrees.data);
    if (spec.layers % degrees.pipeline == 0)
      divides("experts.every =", spec.experts.every, "layers of a stage", spec.layers / degrees.pipeline);
  } else if (degrees.expert > 1) {
    errors.push_back(input_error({}, fmt::format("expert degree {} for a transformer without experts", degrees.expert),
                                 "there is nothing to spread", "give it experts or use expert degree 1"));
  }
}

class TransformerMaker {
 public:
  TransformerMaker(const TransformerSpec& spec, const Parallelization& degrees)
      : spec_(spec), degrees_(degrees), sequences_(spec.batch / spec.microbatches) {}

  Result<Workload> make() {
    Workload workload;
    workload.name = spec_.name;
    workload.source = spec_.source;
    workload.remarks = {fmt::format("generated for {}", to_string(degrees_))};
    workload.tensor = degrees_.tensor;
    workload.microbatches = spec_.microbatches;
    workload.pipelining = spec_.pipelining;
    if (spec_.vocabulary > 0 && degrees_.pipeline == 1) workload.blocks.push_back({"embedding", 1, {embedding()}});
    if (degrees_.pipeline > 1) workload.blocks.push_back({"boundary", 1, {boundary()}});
    add_layers(workload);
    if (spec_.vocabulary > 0) workload.blocks.push_back({"logits", 1, {logits()}});
    if (amounts_.overflowed())
      return resource_error(fmt::format("transformer {} is too large", spec_.name),
                            "work and sizes are int64 FLOPs and bytes");
    return workload;
  }

 private:
  void add_layers(Workload& workload) {
    const auto stage = spec_.layers / degrees_.pipeline;
    const bool experts = spec_.experts.count > 0;
    const auto dense = experts ? spec_.experts.every - 1 : 1;
    LayerBlock block{"layers", experts ? stage / spec_.experts.every : stage, {}};
    for (std::int64_t layer = 0; layer < dense; ++layer) {
      add_attention(block.layers);
      add_feed_forward(block.layers);
    }
    if (experts) {
      add_attention(block.layers);
      add_experts(block.layers);
    }
    if (spec_.recomputation == Recomputation::full)
      for (auto& layer : block.layers) compute_again(layer);
    workload.blocks.push_back(std::move(block));
  }

  /// Adds the forward pass to the backward pass. Weights are gathered once for both.
  void compute_again(Layer& layer) {
    const auto& forward = layer.at(Phase::forward);
    auto& backward = layer.at(Phase::input_gradient);
    backward.compute = Flops::of(amounts_.sum(backward.compute.count(), forward.compute.count()));
    std::vector<Communication> messages;
    for (const auto& each : forward.communications)
      if (each.scope == Scope::tensor || each.scope == Scope::expert) messages.push_back(each);
    backward.communications.insert(backward.communications.begin(), messages.begin(), messages.end());
  }

  /// b s h v, times k where tokens are copied to k experts.
  [[nodiscard]] Bytes activations(std::int64_t copies = 1) {
    return Bytes::of(amounts_.product({copies, sequences_, spec_.sequence, spec_.hidden, spec_.bytes_per_value}));
  }

  /// A product of activations with a weight matrix of `weights` values; an NPU holds one part in `parts`.
  Layer weighted(std::string name, std::int64_t weights, std::int64_t parts, Scope replicas, std::int64_t copies = 1) {
    Layer layer{std::move(name), {}};
    const auto work = Flops::of(amounts_.product({2, copies, sequences_, spec_.sequence, weights}, parts));
    for (auto& phase : layer.phases) phase.compute = work;
    synchronize(layer, weights, parts, replicas);
    return layer;
  }

  /// Adds the communication of the gradients and weights of a layer in ZeRO's stage.
  void synchronize(Layer& layer, std::int64_t weights, std::int64_t parts, Scope replicas) {
    const auto size = Bytes::of(amounts_.product({weights, spec_.bytes_per_value}, parts));
    auto& gradients = layer.at(Phase::weight_gradient).communications;
    if (spec_.zero_stage == 0) {
      gradients.push_back({TrafficKind::all_reduce, size, replicas});
      return;
    }
    const bool in_parts = spec_.zero_stage >= 2 && spec_.microbatches > 1;
    gradients.push_back({TrafficKind::reduce_scatter, size, replicas, in_parts});
    const Communication gather{TrafficKind::all_gather, size, replicas};
    if (spec_.zero_stage < 3) {
      gradients.push_back(gather);
      return;
    }
    layer.at(Phase::forward).communications.push_back(gather);
    layer.at(Phase::input_gradient).communications.push_back(gather);
  }

  void all_reduce(Layer& layer, Phase phase, std::int64_t copies = 1) {
    auto& messages = layer.at(phase).communications;
    if (!spec_.sequence_parallelism) {
      messages.push_back({TrafficKind::all_reduce, activations(copies), Scope::tensor});
      return;
    }
    messages.push_back({TrafficKind::reduce_scatter, activations(copies), Scope::tensor});
    messages.push_back({TrafficKind::all_gather, activations(copies), Scope::tensor});
  }
  void exchange(Layer& layer, Phase phase) {
    layer.at(phase).communications.push_back(
        {TrafficKind::all_to_all, activations(spec_.experts.per_token), Scope::expert});
  }

  void add_attention(std::vector<Layer>& layers) {
    const auto h = spec_.hidden;
    const auto t = degrees_.tensor;
    const auto keys_and_values = amounts_.product({2, h, h / spec_.heads, spec_.groups()});
    auto projections =
        weighted("query_key_value", amounts_.sum(amounts_.product({h, h}), keys_and_values), t, Scope::data);
    all_reduce(projections, Phase::input_gradient);
    layers.push_back(std::move(projections));

    Layer scores{"attention", {}};
    const auto work = amounts_.product({4, sequences_, spec_.sequence, spec_.sequence, h}, t);
    scores.at(Phase::forward).compute = Flops::of(work);
    scores.at(Phase::input_gradient).compute = Flops::of(amounts_.product({2, work}));
    if (spec_.recomputation == Recomputation::selective) compute_again(scores);
    layers.push_back(std::move(scores));

    auto output = weighted("attention_output", amounts_.product({h, h}), t, Scope::data);
    all_reduce(output, Phase::forward);
    layers.push_back(std::move(output));
  }

  void add_feed_forward(std::vector<Layer>& layers) {
    const auto weights = amounts_.product({spec_.hidden, spec_.units()});
    auto up = weighted("feed_forward_up", amounts_.product({inner_products(), weights}), degrees_.tensor, Scope::data);
    all_reduce(up, Phase::input_gradient);
    layers.push_back(std::move(up));
    auto down = weighted("feed_forward_down", weights, degrees_.tensor, Scope::data);
    all_reduce(down, Phase::forward);
    layers.push_back(std::move(down));
  }

  void add_experts(std::vector<Layer>& layers) {
    const auto k = spec_.experts.per_token;
    const auto h = spec_.hidden;
    auto gate = weighted("gate", amounts_.product({h, spec_.experts.count}), 1, Scope::data);
    exchange(gate, Phase::forward);
    exchange(gate, Phase::input_gradient);
    layers.push_back(std::move(gate));

    auto up = experts("expert_up", inner_products());
    all_reduce(up, Phase::input_gradient, k);
    layers.push_back(std::move(up));

    auto down = experts("expert_down", 1);
    all_reduce(down, Phase::forward, k);
    exchange(down, Phase::forward);
    exchange(down, Phase::input_gradient);
    layers.push_back(std::move(down));
  }

  /// Products whose results the activation function takes.
  [[nodiscard]] std::int64_t inner_products() const { return spec_.gated ? 2 : 1; }

  /// The experts' products up or down: the work for k tokens, and the weights of the E/e experts that an NPU holds.
  Layer experts(std::string name, std::int64_t products) {
    const auto k = spec_.experts.per_token;
    const auto matrix = amounts_.product({products, spec_.hidden, spec_.expert_units()});
    Layer layer{std::move(name), {}};
    const auto work = Flops::of(amounts_.product({2, k, sequences_, spec_.sequence, matrix}, degrees_.tensor));
    for (auto& phase : layer.phases) phase.compute = work;
    synchronize(layer, amounts_.product({spec_.experts.count / degrees_.expert, matrix}), degrees_.tensor,
                Scope::expert_replicas);
    return layer;
  }

  Layer embedding() {
    Layer layer{"embedding", {}};
    all_reduce(layer, Phase::forward);
    return layer;
  }

  Layer boundary() {
    Layer layer{"stage_boundary", {}};
    const auto parts = spec_.sequence_parallelism ? degrees_.tensor : 1;
    const auto size = Bytes::of(ceil_div(activations().count(), parts));
    const Communication message{TrafficKind::point_to_point, size, Scope::pipeline};
    for (const auto phase : {Phase::forward, Phase::input_gradient})
      layer.at(phase).communications.assign(static_cast<std::size_t>(spec_.pipelining.virtual_stages), message);
    return layer;
  }

  Layer logits() {
    auto layer = weighted("logits", amounts_.product({spec_.hidden, spec_.vocabulary}), degrees_.tensor, Scope::data);
    all_reduce(layer, Phase::input_gradient);
    return layer;
  }

  const TransformerSpec& spec_;
  const Parallelization& degrees_;
  std::int64_t sequences_;  // b: of one microbatch
  Amounts amounts_;
};

}  // namespace

std::int64_t TransformerSpec::tensor_parts() const {
  return std::gcd(std::gcd(heads, groups()), std::gcd(units(), expert_units()));
}

std::string_view to_string(Recomputation recomputation) {
  return kRecomputations[static_cast<std::size_t>(recomputation)];
}
Result<Recomputation> parse_recomputation(std::string_view text, const Place& place) {
  return parse_name<Recomputation>(text, kRecomputations, "recomputation", place);
}

Result<Workload> make_transformer(const TransformerSpec& spec, const Parallelization& degrees) {
  Diagnostics errors;
  check_positive(spec, errors);
  if (errors.empty()) check_degrees(spec, degrees, errors);
  if (!errors.empty()) return errors;
  auto workload = TransformerMaker(spec, degrees).make();
  if (workload) errors = check_workload(*workload);
  if (!errors.empty()) return errors;
  return workload;
}

}  // namespace tenex
