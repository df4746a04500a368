// What to do about an iteration that takes more memory than an NPU has.
#pragma once

#include <optional>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/training/training_cache.hpp"
#include "tenex/training/training_point.hpp"

namespace tenex {

/// Why a prepared point does not fit the memory that its key npu_memory gives, with the bytes of each part, and the
/// cheapest remedy; nullopt if it fits, has no limit, or its memory is unknown.
///
/// Remedies are changes of one key, or if none suffices of two: more tensor parallelism or stages (and as many times
/// fewer replicas), a higher stage of ZeRO, more recomputation, sequence parallelism, FlashAttention, more and so
/// smaller microbatches. Of those that fit, the cheapest has the shortest iteration by LIBRA's formula at the point's
/// bandwidths. O(changes^2) workloads made.
[[nodiscard]] std::optional<Diagnostic> over_npu_memory(const DesignPoint& point, const PreparedTraining& prepared,
                                                        TrainingCache& cache);

}  // namespace tenex
