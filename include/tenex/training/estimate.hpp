// The expected cost of a training point.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "tenex/design/design_point.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/training/training_cache.hpp"

namespace tenex {

/// The cost of a point whose collectives are timed by a formula, from its settings alone; nullopt if they are simulated
/// or synthesized. O(1).
[[nodiscard]] std::optional<Cost> cost_of_formula(const DesignPoint& point);

/// What cost_of_training() depends on: all settings but bandwidths, prices and the seed.
inline constexpr Changes kOfTrainingCost = Changes::network | Changes::latency | Changes::chunks | Changes::synthesis |
                                           Changes::simulation | Changes::training;

/// The cost of a point whose collectives are simulated or synthesized: the sum of its workload's distinct collectives,
/// of concurrent communications if they contend, and of a scheme's solver. `of_collective`: the cost of a point that
/// runs one collective. A point that does not fit under the limit takes the least limit that it needs. Zero if its
/// workload cannot be mapped to its shape. O(layers + NPUs) and the calls.
[[nodiscard]] Cost cost_of_training(const DesignPoint& given,
                                    const std::function<Cost(const DesignPoint&)>& of_collective, TrainingCache& cache,
                                    std::size_t memory_limit_bytes);

}  // namespace tenex
