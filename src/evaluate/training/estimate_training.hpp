// Internal to evaluate: what a point that trains is expected to cost.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "training_setup.hpp"

namespace tenex {

/// Of a point whose collectives are timed by a formula, from its words alone; nullopt for one whose collectives are
/// simulated or synthesized. O(1).
[[nodiscard]] std::optional<Estimate> estimate_formula(const DesignPoint& point);

/// Points with equal keys have equal estimates: everything but bandwidths, prices and the seed. O(length of words).
[[nodiscard]] std::string training_cost_key(const DesignPoint& point);

/// A point whose collectives are simulated or synthesized costs what each distinct one of its workload does, and what
/// communications side by side do where they contend; a scheme's solver comes on top. `of_collective` estimates a point
/// that runs one. A point that does not fit under the limit is estimated at the least limit it asks for. Zero where its
/// workload cannot be laid over its shape. O(layers + NPUs) and the calls.
[[nodiscard]] Estimate estimate_training(const DesignPoint& given,
                                         const std::function<Estimate(const DesignPoint&)>& of_collective,
                                         TrainingCache& cache, std::size_t memory_limit_bytes);

}  // namespace tenex
