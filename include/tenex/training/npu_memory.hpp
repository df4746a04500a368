// The memory that a training iteration takes of one NPU: of the busiest one of all stages.
//
// With v bytes per value, t NPUs of a tensor group, b sequences of s tokens in a microbatch, h hidden units and a
// heads:
//
//   weights       the weights that the NPU holds; in ZeRO's stage 3 (FSDP) over the replicas
//   gradients     one per weight; over the replicas in stages 2 and 3
//   optimizer     states of each weight; over the replicas in stages 1 to 3
//                 (Rajbhandari et al., "ZeRO", SC'20, section 3.1 and figure 1)
//   activations   of a layer, for v = 2 (Korthikanti et al., "Reducing Activation Recomputation in Large Transformer
//                 Models", 2022, table 2; dropout masks have 1 byte):
//                     none                          s b h (10 + 24/t + 5 a s / (h t))
//                     sequence parallelism          s b h / t (34 + 5 a s / h)
//                     selective recomputation       the same without 5 a s / h; FlashAttention keeps 4 b a s / t
//                                                   instead (Dao et al., 2022, algorithm 1: a sum per row of scores)
//                     full recomputation            2 s b h; over t with sequence parallelism
//                 times a stage's layers and the microbatches that its schedule keeps (pipeline_schedule.hpp). The
//                 first stage also has the embedding's dropout mask, s b h per microbatch; the last one for one
//                 microbatch the final layer norm's and the logits' inputs and the logits in 4 bytes,
//                 4 s b h (1/t) (1 + V/h) under sequence parallelism (section 4.3)
//                 These hold for a feed-forward part of 4 h units and as many heads of keys and values as of queries.
//                 Else 24/t is 2 (2 + 2 g/a)/t of attention, with g heads of keys and values, and 2 * 2 f/(h t) of f
//                 units, or 2 * 3 f/(h t) where they are gated (transformer.hpp): the gates' inputs are kept as well.
//                 Without dropout there are no masks, and of 5 a s/h the softmax's 2 a s/h are left.
//   buffers       what lives for a moment: a stage's messages, received and sent; in stage 3 the gathered weights of
//                 the layer in use and of the next one; in stages 2 and 3 a layer's gradients before they are reduced;
//                 what is recomputed of one layer; a gathered input of a layer under sequence parallelism
//
// A layer with experts has k copies of the tokens between its two exchanges. Weights are counted by the gradients that
// a workload reduces, so a table of layers has weights, gradients and optimizer states (6 times the gradients' bytes,
// as in ZeRO for 2 bytes per value), but no activations. What frameworks and libraries of communication take for
// themselves is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tenex/workload/parallelization.hpp"
#include "tenex/workload/transformer.hpp"
#include "tenex/workload/workload.hpp"

namespace tenex {

/// Bytes of one NPU. A part that is unknown is -1.
struct NpuMemory {
  std::int64_t weights = -1;
  std::int64_t gradients = -1;
  std::int64_t optimizer = -1;
  std::int64_t activations = -1;
  std::int64_t buffers = -1;

  /// The sum of the known parts; -1 if there is none. Saturates.
  [[nodiscard]] std::int64_t total() const;
  bool operator==(const NpuMemory&) const = default;
};

/// The memory of an iteration. `chosen` are the dimensions that the workload was made from (chosen_transformer()), if
/// it was. No part is known of a workload that communicates between all NPUs: which weights they share is not said.
/// O(layers).
[[nodiscard]] NpuMemory npu_memory(const Workload& workload, const std::optional<TransformerSpec>& chosen,
                                   const Parallelization& degrees);

/// Commands warn of points without a limit that take more than this: 192 GB, what large NPUs have.
inline constexpr std::int64_t kUnlikelyMemory = 192'000'000'000;

/// "2.8GB weights, 2.8GB gradients, ...": the known parts.
[[nodiscard]] std::string list_parts(const NpuMemory& memory);

}  // namespace tenex
