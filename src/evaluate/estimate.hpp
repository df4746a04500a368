// Internal to evaluate: the estimate of a point whose topology and collective exist already.
#pragma once

#include <cstddef>
#include <string>

#include "tenex/collective/collective.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// What the point takes under this limit, its topology included. Beyond the limit where even the least does not fit.
[[nodiscard]] Estimate estimate_built(const DesignPoint& point, const Topology& topology, const Collective& collective,
                                      std::size_t memory_limit_bytes);

/// What a point takes, and whether its timed stream is kept for the verifier.
struct PointPlan {
  Estimate estimate;
  bool records = true;
  std::string left_out;  ///< why not, with the bytes it would take
};
[[nodiscard]] PointPlan plan_built(const DesignPoint& point, const Topology& topology, const Collective& collective,
                                   std::size_t memory_limit_bytes);

/// What the limit leaves to a synthesizer: all but the point's topology and the check of its schedule.
[[nodiscard]] std::size_t left_for_synthesis(const DesignPoint& point, const Topology& topology,
                                             const Collective& collective, std::size_t memory_limit_bytes);

}  // namespace tenex
