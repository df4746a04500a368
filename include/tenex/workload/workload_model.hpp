// The content of a workload file before the parallelization is known: a table of layers, or the dimensions of a model.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/workload/gnmt.hpp"
#include "tenex/workload/parallelization.hpp"
#include "tenex/workload/transformer.hpp"
#include "tenex/workload/workload.hpp"

namespace tenex {

/// A table of layers for one TP degree, or the dimensions from which layers are generated.
using WorkloadModel = std::variant<Workload, TransformerSpec, GnmtSpec>;

/// The owner of the batch that a workload states; its batch stays the same when the parallelization changes.
enum class BatchRule : std::uint8_t {
  replica,  ///< each replica keeps its batch: activations keep their size
  machine,  ///< the machine keeps its batch. A table: a replica of m' in place of m NPUs takes m'/m times as much. A
            ///< generated model: each of n replicas takes batch/n sequences
};
/// "replica", "machine".
[[nodiscard]] std::string_view to_string(BatchRule rule);
/// Parses a name. Errors (input): an unknown name.
[[nodiscard]] Result<BatchRule> parse_batch_rule(std::string_view text, const Place& place = {});

/// How the NPUs of a machine share an iteration of a model.
struct IterationChoices {
  BatchRule rule = BatchRule::replica;
  std::int64_t global_batch = 0;  ///< the whole machine's sequences, only where states_batch(); 0: the model's batch,
                                  ///< under `rule`
  std::int64_t microbatches = 0;  ///< of a replica; 0: the model's own number, or if it states none as many as its
                                  ///< batch allows up to 4 per stage, and 1 without stages
  Pipelining pipelining = {};
  std::optional<std::int64_t> zero_stage = {};  ///< in place of the model's
  Recomputation recomputation = Recomputation::none;
  bool sequence_parallelism = false;
  bool flash_attention = false;
};

/// A table of layers restated for other degrees. Under TP-m' in place of TP-m, work and weight gradients shrink by m/m'
/// and activations keep their size; BatchRule::machine multiplies work and activations by m'/m (so work stays the same:
/// LIBRA's VI-E varies HP at a fixed minibatch). Rounded up to whole bytes and FLOPs. Errors (input): another TP degree
/// for a table without tensor communication, stages or experts for a table that has none, a message or work beyond
/// int64. O(layers).
[[nodiscard]] Result<Workload> restate(const Workload& workload, const Parallelization& degrees,
                                       BatchRule rule = BatchRule::replica);

/// A table of layers with M microbatches in place of its own number: work and all communication but that of weights
/// shrink in proportion, rounded up. Errors (input): a table that communicates over `world`, which may be either.
[[nodiscard]] Result<Workload> in_microbatches(const Workload& workload, std::int64_t microbatches);

/// Whether the model states how many sequences its work is for. A table of layers does not.
[[nodiscard]] bool states_batch(const WorkloadModel& model);

/// The workload of a model under a parallelization, by restate() or make_...(). Errors: those of the two; (input) GNMT
/// under other than data parallelism, replicas that do not divide the machine's batch, choices that a table of layers
/// or GNMT does not have.
[[nodiscard]] Result<Workload> make_workload(const WorkloadModel& model, const Parallelization& degrees,
                                             const IterationChoices& choices = {});

/// The dimensions of a transformer with a replica's batch and all choices; nullopt for other models. Errors: a batch
/// that replicas cannot share.
[[nodiscard]] Result<std::optional<TransformerSpec>> chosen_transformer(const WorkloadModel& model,
                                                                        const Parallelization& degrees,
                                                                        const IterationChoices& choices = {});

/// What all NPUs together process in one iteration.
struct MachineBatch {
  double samples = std::numeric_limits<double>::quiet_NaN();  ///< sequences (GNMT: pairs of sentences); NaN: unknown
  double tokens = std::numeric_limits<double>::quiet_NaN();   ///< (GNMT: of source and target); NaN: unknown
  double flops = 0;  ///< model FLOPs, forward and backward; work that several NPUs repeat counts once
};
/// The batch of a workload that make_workload() made with the same arguments. Model FLOPs do not depend on the degrees
/// (PaLM, Chowdhery et al., 2022, appendix B: 6 N + 12 L h s per token). A table of layers has neither samples nor
/// tokens, and its FLOPs are those of its NPU times the NPUs. Errors: those of make_workload().
[[nodiscard]] Result<MachineBatch> machine_batch(const WorkloadModel& model, const Parallelization& degrees,
                                                 const IterationChoices& choices = {});

}  // namespace tenex
