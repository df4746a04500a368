// Distances in time: the least time that a message of one size needs, hop by hop, store-and-forward.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Earliest arrival at every vertex of a message that leaves `source` at time zero. Each hop takes alpha + beta*m.
/// SimTime::max() where no path exists or the sum does not fit. Breadth-first where all hops take equally long, else
/// Dijkstra. O(links log vertices).
[[nodiscard]] std::vector<SimTime> arrival_times(const Topology& topology, VertexId source, Bytes size);

/// max over NPU pairs of the least total alpha on a path (beta = 0): the Diameter of TACOS, V-A. Computed per dimension
/// on an intact product shape and from the NPUs of one group on an intact dragonfly; elsewhere O(npus * links).
[[nodiscard]] SimTime latency_diameter(const Topology& topology);

/// The same; nullopt where the search would visit more than `link_visits` links in all.
[[nodiscard]] std::optional<SimTime> latency_diameter_within(const Topology& topology, std::uint64_t link_visits);

}  // namespace tenex
