// Internal to evaluate: what a point that trains is expected to cost.
#pragma once

#include <functional>

#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {

/// A formula costs little, a scheme's solver more; a model that simulates or synthesizes costs what its collectives do,
/// of each scope with two or more NPUs a few. `of_collective` estimates a point that runs one. Zero where the
/// parallelization does not fit the shape. O(dimensions) and the calls.
[[nodiscard]] Estimate estimate_training(const DesignPoint& point,
                                         const std::function<Estimate(const DesignPoint&)>& of_collective);

}  // namespace tenex
