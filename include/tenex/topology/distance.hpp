// Distances in time: the fastest that a message of one size can travel, hop by hop, store-and-forward.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Earliest arrival at every vertex of a message that leaves `source` at time zero, each hop taking alpha + beta*m;
/// SimTime::max() where no path leads, or where the sum does not fit. Breadth-first where all hops take equally long,
/// else Dijkstra. O(links log vertices).
[[nodiscard]] std::vector<SimTime> arrival_times(const Topology& topology, VertexId source, Bytes size);

/// max over NPU pairs of the least total alpha on a path (beta = 0): the Diameter of TACOS, V-A. By dimension where the
/// shape is an intact product, from the NPUs of one group where it is an intact dragonfly, else O(npus * links).
[[nodiscard]] SimTime latency_diameter(const Topology& topology);

/// The same, nullopt where searching would look at more than `link_visits` links in all.
[[nodiscard]] std::optional<SimTime> latency_diameter_within(const Topology& topology, std::uint64_t link_visits);

}  // namespace tenex
