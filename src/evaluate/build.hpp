// Internal to evaluate: a point's transformed topology with how it was transformed.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

struct PointTopology {
  Topology topology;
  std::uint32_t unwound_degree = 0;
};

/// The degree to which this point's switches are unwound; 0 where it has none or keeps them.
[[nodiscard]] std::uint32_t unwinding_degree(const DesignPoint& point, const Topology& topology);

/// Shape or file, links removed, switches unwound, connectivity checked. Memory is not.
[[nodiscard]] Result<PointTopology> build_transformed_topology(const DesignPoint& point);

/// The NPUs that the point lets start late.
[[nodiscard]] std::vector<StartDelay> start_delays_of(const DesignPoint& point);

/// Errors (resource): making the point's topology takes more than the limit. O(dimensions).
[[nodiscard]] Status check_topology_memory(const DesignPoint& point, std::size_t limit_bytes);

}  // namespace tenex
