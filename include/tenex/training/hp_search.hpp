// The best ways to share a training iteration: every parallelization of a machine, with what each NPU keeps.
//
// All degrees of tensor parallelism that divide the heads, of stages that divide the layers and of experts, with the
// rest of the NPUs as replicas that divide the machine's batch; their order on the dimensions; stages of ZeRO;
// recomputation; sequence parallelism; every number of microbatches that divides a replica's batch; and the schedules
// 1f1b, zb_h1, zero_bubble and interleaved with any number of virtual stages. gpipe is left out: it takes as long as
// 1f1b and keeps no less. Memory is counted first, and only what fits is timed: by the training loop with LIBRA's
// collective times at the point's bandwidths, and the schedule's formula.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/training/npu_memory.hpp"
#include "tenex/training/training_cache.hpp"
#include "tenex/workload/training.hpp"

namespace tenex {

/// The keys that a search chooses.
struct HpOption {
  Parallelization hp;
  HpOrder order = HpOrder::tensor_data_pipeline;
  std::int64_t zero_stage = 0;
  Recomputation recomputation = Recomputation::none;
  bool sequence_parallelism = false;
  std::int64_t microbatches = 1;
  Pipelining pipelining;
  bool operator==(const HpOption&) const = default;
};

/// Keys that the user has chosen: the search keeps the point's value.
struct HpPins {
  bool hp = false;
  bool order = false;
  bool zero_stage = false;
  bool recomputation = false;
  bool sequence_parallelism = false;
  bool microbatches = false;
  bool schedule = false;
};

struct HpAnswer {
  HpOption option;
  TrainingTime time;
  NpuMemory memory;
  double samples_per_s = 0;
  double tokens_per_s = 0;
  double model_flop_utilization = 0;  ///< of the peak of the NPU that npu_memory names, or of the key compute
};

struct HpSearch {
  std::size_t considered = 0;      ///< parallelizations whose memory was counted
  std::size_t fitting = 0;         ///< of them within the limit, and so timed
  std::int64_t least_memory = -1;  ///< of all, in bytes
  std::vector<HpAnswer> fastest;   ///< by time, then memory; then as they are enumerated
  std::vector<HpAnswer> front;     ///< the Pareto front of time against memory, by time
};

/// All options of a point's machine, batch and model under its other keys, in a fixed order. Errors (input): a workload
/// that is no transformer; those of its file.
[[nodiscard]] Result<std::vector<HpOption>> hp_options(const DesignPoint& point, const HpPins& pins,
                                                       TrainingCache& cache);
/// The point with these keys.
[[nodiscard]] DesignPoint with_option(DesignPoint point, const HpOption& option);

/// Searches with `threads` threads, whose number never changes the answer. `most`: the answers to keep. Errors: those
/// of hp_options(); (input) a scheme other than given and equal, collective times other than LIBRA's formulas,
/// bandwidths that are missing; no option that divides the model. O(options * layers of a stage's block).
[[nodiscard]] Result<HpSearch> search_hp(const DesignPoint& point, const HpPins& pins, std::size_t most, int threads,
                                         TrainingCache& cache);

}  // namespace tenex
