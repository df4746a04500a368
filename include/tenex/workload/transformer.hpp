// A transformer's training iteration from its dimensions, dense or with experts.
//
// Work of a layer's forward pass (Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters
// Using Megatron-LM", SC'21, appendix): 24 b s h^2 + 4 b s^2 h for b sequences of s tokens, 2 b s h V for the logits,
// all split over the t NPUs of a tensor group. These are the numbers for as many heads of keys and values as of queries
// and a feed-forward part of 4 h units. With g heads of keys and values for a heads of queries (Ainslie et al., "GQA",
// 2023), keys and values have 2 h^2 g / a weights in place of 2 h^2; with f units the feed-forward part has 2 h f, and
// 3 h f where it is gated (Shazeer, "GLU Variants Improve Transformer", 2020). A backward pass is twice the forward
// pass. For a product with weights, half of it is the input gradient and half the weight gradient; the score products
// have no weights, so all of theirs is input gradient.
//
// Communication (v bytes per value):
//   tensor    All-Reduce of b s h v after the attention and after the feed-forward part, in the forward pass and again
//             for the input gradient (Shoeybi et al., "Megatron-LM", 2019, section 3); one each for the
//             vocabulary-parallel embedding and logits.
//   data      gradients of a layer's weights (12 h^2 with a = g, f = 4 h) and V h of the tied embedding, over t; ZeRO
//   (Rajbhandari et al.,
//             SC'20, section 7): stage 0 All-Reduce; stages 1 and 2 Reduce-Scatter of the gradients, All-Gather of the
//             weights; stage 3 gathers the weights in the forward and again in the backward pass instead. An NPU that
//             holds a part of the gradients (stages 2 and 3) cannot add up those of several microbatches in whole, so
//             their Reduce-Scatter follows every microbatch.
//   pipeline  b s h v per microbatch and boundary (Narayanan et al., 3.1), forward and back; V virtual stages have V
//             times as many boundaries (2.2.2). Under sequence parallelism each NPU of a tensor group sends its part.
//   expert    All-to-All of k b s h v before and after the experts, forward and back, for k experts per token (Lepikhin
//             et al., "GShard", 2021); the experts' gradients go over the replicas of the same experts.
//
// Recomputation of activations (Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models",
// 2022): `full` does each layer's forward pass, with its communication over tensor and expert groups, again before its
// backward pass; `selective` only the score products (section 5). Sequence parallelism (4.2.2) splits each All-Reduce
// over the tensor group into a Reduce-Scatter and an All-Gather of the same size; its third, repeated All-Gather is
// hidden behind computation, as there.
//
// Left out: biases and layer norms, position embeddings (each under 0.2 % of the weights for h >= 4096), the softmax's
// reductions, the embedding's gradient between first and last stage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"
#include "tenex/workload/parallelization.hpp"
#include "tenex/workload/pipeline_schedule.hpp"
#include "tenex/workload/workload.hpp"

namespace tenex {

/// The activations that a backward pass computes again instead of keeping them.
enum class Recomputation : std::uint8_t {
  none,
  selective,  ///< those of the score products of attention
  full,       ///< all of a layer but its input
};
/// "none", "selective", "full".
[[nodiscard]] std::string_view to_string(Recomputation recomputation);
/// Parses a name. Errors (input): an unknown name.
[[nodiscard]] Result<Recomputation> parse_recomputation(std::string_view text, const Place& place = {});

/// The feed-forward part as experts; count 0: no experts.
struct ExpertSpec {
  std::int64_t count = 0;         ///< experts of a layer, spread over the expert degree
  std::int64_t per_token = 1;     ///< k: experts that each token goes to
  std::int64_t every = 1;         ///< each `every`-th layer has experts, the others are dense
  std::int64_t feed_forward = 0;  ///< units of an expert; 0: as many as a dense layer has
  bool operator==(const ExpertSpec&) const = default;
};

/// A transformer's dimensions and its training settings.
struct TransformerSpec {
  std::string name;
  std::string source;
  std::int64_t layers = 1;
  std::int64_t hidden = 1;        ///< h
  std::int64_t heads = 1;         ///< a, of queries; divides h
  std::int64_t kv_heads = 0;      ///< g, of keys and values; divides a; 0: as many as of queries
  std::int64_t feed_forward = 0;  ///< f, units between the two products of the feed-forward part; 0: 4 h
  bool gated = false;             ///< the feed-forward part has a third product, whose result gates the first's
  bool dropout = true;            ///< some activations are dropped at random, and which is kept for the backward pass
  std::int64_t sequence = 1;      ///< s, tokens
  std::int64_t vocabulary = 0;    ///< V; 0: layers only, no embedding and no logits
  std::int64_t batch = 1;         ///< sequences of a replica in one iteration
  std::int64_t microbatches = 1;
  std::int64_t bytes_per_value = 2;  ///< v: of weights and activations
  std::int64_t gradient_bytes = 2;   ///< of a weight's gradient as it is kept
  std::int64_t optimizer_bytes =
      12;                       ///< a weight's states: Adam's two moments and a copy of the weight in 4 bytes each
  std::int64_t zero_stage = 0;  ///< 0 to 3
  ExpertSpec experts;
  Recomputation recomputation = Recomputation::none;
  bool sequence_parallelism = false;  ///< activations between the tensor-parallel parts are split, too
  bool flash_attention = false;       ///< scores are never stored (Dao et al., "FlashAttention", 2022)
  Pipelining pipelining;
  bool operator==(const TransformerSpec&) const = default;

  /// Heads of keys and values.
  [[nodiscard]] std::int64_t groups() const { return kv_heads > 0 ? kv_heads : heads; }
  /// Units of the feed-forward part of a dense layer, and of an expert.
  [[nodiscard]] std::int64_t units() const { return feed_forward > 0 ? feed_forward : 4 * hidden; }
  [[nodiscard]] std::int64_t expert_units() const { return experts.feed_forward > 0 ? experts.feed_forward : units(); }
  /// What a TP degree divides: heads of both kinds, and units.
  [[nodiscard]] std::int64_t tensor_parts() const;
};

/// The iteration of one NPU of the busiest stage (the last one, which computes the logits). Errors (input): a dimension
/// that is not positive; degrees that do not divide what they split (heads, layers, experts, batch), with the nearest
/// ones that do; (resource) more than int64. O(1).
[[nodiscard]] Result<Workload> make_transformer(const TransformerSpec& spec, const Parallelization& degrees);

}  // namespace tenex
