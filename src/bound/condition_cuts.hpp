// Minimum cuts of stored conditions, as sets for the cut bound.
#pragma once

#include <cstdint>
#include <vector>

#include "bound/densest_cut.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// The densest sets by what one destination must get (a Gather with amounts), by what one source must send to single
/// destinations (a Scatter with amounts), and the least cuts between a source and destinations that share chunks. NPUs
/// with the most bytes per capacity of their links come first. `work` counts link visits down to zero, where it ends.
/// Deterministic. A flow or some per NPU.
[[nodiscard]] std::vector<VertexSet> condition_cuts(const BoundProblem& problem, GroupId group, std::uint64_t& work);

}  // namespace tenex
