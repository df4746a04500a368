// TrainingPoint: the model that a point trains, its parallelization, how its collectives are timed, and how the
// network's bandwidth is split for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/codesign/network_cost.hpp"
#include "tenex/codesign/optimizer.hpp"
#include "tenex/design/shared_text.hpp"
#include "tenex/workload/compute.hpp"
#include "tenex/workload/npu_kinds.hpp"
#include "tenex/workload/parallelization.hpp"
#include "tenex/workload/training.hpp"
#include "tenex/workload/workload_model.hpp"

namespace tenex {

/// A file that a point names: a workload or a cost model. Points with equal content are equal, whatever the path.
struct NamedFile {
  std::string text;  ///< as the user wrote it: a path, or the name of a built-in file ("gpt3")
  std::string path;  ///< the resolved path; "NAME.toml" for a built-in file
  SharedText content;
  /// Whether the contents are equal.
  bool operator==(const NamedFile& other) const { return content.digest() == other.content.digest(); }
};

/// How the collectives of a training loop are timed.
enum class TimingModel : std::uint8_t {
  libra,          ///< LIBRA's formula
  libra_derated,  ///< LIBRA's formula with the links that a group really has
  pipeline,       ///< chunk by chunk through the dimensions
  themis,         ///< chunk by chunk in Themis' order of dimensions
  synthesized,    ///< on the real topology, by the point's algorithm
};
/// "libra", "libra_derated", "pipeline", "themis", "synthesized".
[[nodiscard]] std::string_view to_string(TimingModel model);
/// Whether the model is a formula of volumes over bandwidths.
[[nodiscard]] constexpr bool is_libra(TimingModel model) {
  return model == TimingModel::libra || model == TimingModel::libra_derated;
}
/// Whether collectives run on the point's own links.
[[nodiscard]] constexpr bool is_synthesized(TimingModel model) { return model == TimingModel::synthesized; }
/// Whether collectives run chunk by chunk, on the point's links or on a part of the network.
[[nodiscard]] constexpr bool is_simulated(TimingModel model) { return !is_libra(model); }

/// The scheme that chooses the bandwidths; none if they are given.
using BandwidthScheme = std::optional<SplitScheme>;
/// "given", or the name of the scheme.
[[nodiscard]] std::string_view to_string(const BandwidthScheme& scheme);

/// Whether collectives that a loop runs concurrently share the links.
enum class Contention : std::uint8_t { none, links };
/// "none", "links".
[[nodiscard]] std::string_view to_string(Contention contention);

/// How the pipeline's stages are timed.
enum class PipelineTiming : std::uint8_t {
  formula,    ///< the bubble of the schedule's formula; a message to the next stage is waited for
  simulated,  ///< task by task; messages travel over the real links while stages compute
};
/// "formula", "simulated".
[[nodiscard]] std::string_view to_string(PipelineTiming timing);

/// One workload of the key `optimize_for`.
struct WeightedWorkload {
  NamedFile file;
  Parallelization degrees;
  double weight = 1;
  bool operator==(const WeightedWorkload&) const = default;
};

/// The training keys of a point. A key that the point does not read has its default.
struct TrainingPoint {
  NamedFile workload;
  Parallelization hp;
  std::optional<ComputeRate> compute;  ///< absent: the workload's own rate
  TrainingLoop training_loop = TrainingLoop::no_overlap;
  BatchRule batch_rule = BatchRule::replica;
  std::int64_t global_batch = 0;  ///< sequences of the whole machine; 0: the workload's batch, as batch_rule says
  TimingModel collective_time = TimingModel::libra;
  Contention contention = Contention::none;
  std::vector<bool> in_network;  ///< per dimension: switches reduce; false for dimensions beyond the end
  BandwidthScheme scheme;
  std::optional<TimingModel> optimize_with;  ///< LIBRA's model that the schemes minimize; absent: collective_time if it
                                             ///< is such a model, else libra
  std::vector<WeightedWorkload> optimize_for;  ///< empty: the point's own workload
  Bandwidth total_bandwidth;                   ///< per NPU, over all dimensions; zero: not given
  std::vector<std::int64_t> split;      ///< if the bandwidths are given: shares of the total without a common factor
  std::vector<Constraint> constraints;  ///< "B1 + B2 = 500GB/s", "B1 >= B2"
  std::optional<Money> cost_budget;
  NamedFile cost_model;  ///< the default is the built-in "libra"
  PriceLevel price_level = PriceLevel::low;
  std::vector<std::string> dimension_kinds;  ///< empty: default_dimension_kinds()
  std::int64_t microbatches = 0;             ///< 0: chosen (IterationChoices)
  PipelineSchedule pipeline_schedule = PipelineSchedule::one_forward_one_backward;
  std::int64_t virtual_stages = 2;  ///< of the schedule `interleaved`
  PipelineTiming pipeline_timing = PipelineTiming::formula;
  std::optional<std::int64_t> zero_stage;  ///< absent: the workload's own
  Recomputation recomputation = Recomputation::none;
  bool sequence_parallelism = false;
  bool flash_attention = false;
  HpOrder hp_order = HpOrder::tensor_data_pipeline;
  NpuChoice npu_memory;

  /// How the point's NPUs share an iteration.
  [[nodiscard]] IterationChoices iteration() const;
};

}  // namespace tenex
