// Layers of GNMT from its dimensions; the formulas and their source are in the header.
#include "tenex/workload/gnmt.hpp"

#include <string>
#include <utility>

#include <fmt/core.h>

#include "workload/exact_arithmetic.hpp"

namespace tenex {

namespace {

class GnmtMaker {
 public:
  explicit GnmtMaker(const GnmtSpec& spec) : spec_(spec) {}

  Result<Workload> make() {
    const auto h = spec_.hidden;
    Workload workload;
    workload.name = "gnmt";
    workload.source = "Wu et al., Google's Neural Machine Translation System, 2016, sections 3 and 5";
    LayerBlock encoder{"encoder", 1, {}};
    encoder.layers.push_back(embedding("source_embedding"));
    encoder.layers.push_back(weighted("encoder_1_forward", lstm_weights(h)));
    encoder.layers.push_back(weighted("encoder_1_backward", lstm_weights(h)));
    encoder.layers.push_back(weighted("encoder_2", lstm_weights(2 * h)));
    for (std::int64_t layer = 3; layer <= spec_.encoder_layers; ++layer)
      encoder.layers.push_back(weighted(fmt::format("encoder_{}", layer), lstm_weights(h)));
    LayerBlock decoder{"decoder", 1, {}};
    decoder.layers.push_back(embedding("target_embedding"));
    decoder.layers.push_back(attention());
    for (std::int64_t layer = 1; layer <= spec_.decoder_layers; ++layer)
      decoder.layers.push_back(weighted(fmt::format("decoder_{}", layer), lstm_weights(2 * h)));
    decoder.layers.push_back(weighted("softmax", amounts_.product({spec_.vocabulary, h})));
    workload.blocks = {std::move(encoder), std::move(decoder)};
    if (amounts_.overflowed())
      return resource_error("this GNMT is too large", "work and sizes are int64 FLOPs and bytes");
    return workload;
  }

 private:
  [[nodiscard]] std::int64_t lstm_weights(std::int64_t inputs) {
    return amounts_.product({4, spec_.hidden, inputs + spec_.hidden});
  }

  Layer weighted(std::string name, std::int64_t weights) {
    Layer layer{std::move(name), {}};
    for (auto& phase : layer.phases)
      phase.compute = Flops::of(amounts_.product({2, spec_.batch, spec_.sequence, weights}));
    synchronize(layer, weights);
    return layer;
  }

  void synchronize(Layer& layer, std::int64_t weights) {
    layer.at(Phase::weight_gradient)
        .communications.push_back(
            {TrafficKind::all_reduce, Bytes::of(amounts_.product({weights, spec_.bytes_per_value})), Scope::data});
  }

  /// An embedding table: a lookup has gradients but no work.
  Layer embedding(std::string name) {
    Layer layer{std::move(name), {}};
    synchronize(layer, amounts_.product({spec_.vocabulary, spec_.hidden}));
    return layer;
  }

  /// Two products with weights, and the scores and sums over all pairs of tokens, which have no weights.
  Layer attention() {
    auto layer = weighted("attention", amounts_.product({2, spec_.hidden, spec_.hidden}));
    const auto pairs = Flops::of(amounts_.product({4, spec_.batch, spec_.sequence, spec_.sequence, spec_.hidden}));
    layer.at(Phase::forward).compute = saturating_sum(layer.at(Phase::forward).compute, pairs);
    layer.at(Phase::input_gradient).compute =
        saturating_sum(layer.at(Phase::input_gradient).compute, saturating_product(pairs, 2));
    return layer;
  }

  const GnmtSpec& spec_;
  Amounts amounts_;
};

}  // namespace

Result<Workload> make_gnmt(const GnmtSpec& spec) {
  Diagnostics errors;
  const auto check = [&](std::string_view what, std::int64_t value, std::int64_t least) {
    if (value < least || value > (std::int64_t{1} << 32))
      errors.push_back(input_error({}, fmt::format("a GNMT with {} = {}", what, value),
                                   fmt::format("it is between {} and 2^32", least)));
  };
  check("encoder_layers", spec.encoder_layers, 2);
  check("decoder_layers", spec.decoder_layers, 1);
  check("hidden", spec.hidden, 1);
  check("vocabulary", spec.vocabulary, 1);
  check("batch", spec.batch, 1);
  check("sequence", spec.sequence, 1);
  check("bytes_per_value", spec.bytes_per_value, 1);
  if (spec.encoder_layers > 4096 || spec.decoder_layers > 4096)
    errors.push_back(input_error({}, "a GNMT with more than 4096 layers on a side", "each layer is listed by itself"));
  if (!errors.empty()) return errors;
  return GnmtMaker(spec).make();
}

}  // namespace tenex
