// Internal to evaluate: the estimate of a point whose topology and collective exist already.
#pragma once

#include "tenex/collective/collective.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// What the point takes, its topology included.
[[nodiscard]] Estimate estimate_built(const DesignPoint& point, const Topology& topology, const Collective& collective);

}  // namespace tenex
