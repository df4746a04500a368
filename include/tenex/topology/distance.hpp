// Distances in time: the least time that a message of one size needs, from holder to holder: hop by hop, and over a
// path of cut-through switches at once (wires.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Whether no link begins or ends at a vertex: an NPU that has failed, for example. O(1).
[[nodiscard]] inline bool is_isolated(const Topology& topology, VertexId vertex) {
  return topology.out_links(vertex).empty() && topology.in_links(vertex).empty();
}

/// Earliest arrival at every vertex of a message that leaves `source` at time zero. Each hop takes alpha + beta*m. Any
/// path over cut-through switches takes its alphas and beta*m of its slowest link; in such a switch the time is that of
/// the message's first part. A slowed link counts there with its effective bandwidth: up to rounding, never too long.
/// Over switches with virtual cut-through (hand_over.hpp) a path takes its alphas, the serialization of its first link,
/// and what each link serializes longer than the one before it; the time of such a switch is that of the whole arrival.
/// Not for networks with both. SimTime::max() where no path exists or the sum does not fit. Breadth-first where all
/// hops take equally long, else Dijkstra. O(links log vertices).
[[nodiscard]] std::vector<SimTime> arrival_times(const Topology& topology, VertexId source, Bytes size);

/// max over NPU pairs of the least total alpha on a path (beta = 0): the Diameter of TACOS, V-A. NPUs without links do
/// not count. Computed per dimension on an intact product shape and from the representatives of an intact family;
/// elsewhere O(npus * links).
[[nodiscard]] SimTime latency_diameter(const Topology& topology);

/// The same; nullopt where the search would visit more than `link_visits` links in all.
[[nodiscard]] std::optional<SimTime> latency_diameter_within(const Topology& topology, std::uint64_t link_visits);

/// In a row of hops: there is no path.
inline constexpr std::uint32_t kNoHops = std::numeric_limits<std::uint32_t>::max();

/// By vertex, the links on the shortest path from `source`; kNoHops where there is none. O(links).
[[nodiscard]] std::vector<std::uint32_t> hops_from(const Topology& topology, VertexId source);

/// By vertex, the links on the shortest path to the nearest NPU: the level of a switch. The largest number where no
/// path leads to one. Breadth-first from all NPUs at once. O(links).
[[nodiscard]] std::vector<std::uint32_t> links_to_nearest_npu(const Topology& topology);

}  // namespace tenex
