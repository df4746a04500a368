// Google's neural machine translation model (Wu et al., "Google's Neural Machine Translation System", 2016), data
// parallel.
//
// Published dimensions (sections 3 and 5): 8 encoder layers, the first of which is bidirectional, 8 decoder layers,
// 1024 units, word pieces of a 32K vocabulary, an attention network with one hidden layer of 1024 units. The attention
// context is an input of every decoder layer.
//
// An LSTM layer with d inputs and h units has 4 h (d + h) weights and does 2 FLOPs per weight, token and sequence in
// the forward pass. A backward pass takes twice that, half for each gradient. Inputs: h for the first layer (each
// direction) and for the third and later ones, 2h for the second (both directions together), 2h for every decoder layer
// (the layer below and the context). Attention: two h by h products per token, and 4 h FLOPs for each pair of a target
// and a source token. Source embedding, target embedding and softmax have V h weights each. Left out: biases and the
// attention's h-vector.
#pragma once

#include <cstdint>

#include "tenex/base/diagnostic.hpp"
#include "tenex/workload/workload.hpp"

namespace tenex {

/// GNMT's dimensions as published; the user chooses batch and sequence.
struct GnmtSpec {
  std::int64_t encoder_layers = 8;
  std::int64_t decoder_layers = 8;
  std::int64_t hidden = 1024;
  std::int64_t vocabulary = 32'000;
  std::int64_t batch = 128;    ///< sentence pairs per NPU in one iteration
  std::int64_t sequence = 50;  ///< tokens of a sentence, source and target alike
  std::int64_t bytes_per_value = 2;
  bool operator==(const GnmtSpec&) const = default;
};

/// The iteration of one NPU; gradients are all-reduced over `data`, layer by layer. Errors (input): a dimension that is
/// not positive, fewer than two encoder layers; (resource) more than int64. O(layers).
[[nodiscard]] Result<Workload> make_gnmt(const GnmtSpec& spec);

}  // namespace tenex
