// The order of a vertex's in-ports, in which it handles simultaneous arrivals.
//
// On an intact product shape the in-links of an NPU are ordered by (dimension, step along it), so that all NPUs of a
// symmetric shape handle the same arrivals in the same order. By link id they would not, as ids wrap around at the ends
// of a ring. Links from switches follow. On all other topologies the order is that of link ids.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The order of a link among the in-links of its target; links of one order are ranked by id. O(dimensions).
[[nodiscard]] std::uint64_t port_order(const Topology& topology, LinkId link);

/// The in-links of all vertices, vertex by vertex, each vertex's in the order of its ports. O(links * dimensions).
[[nodiscard]] std::vector<LinkId> links_by_port(const Topology& topology);

}  // namespace tenex
