// Pairs of links that run between the same vertices in opposite directions.
#pragma once

#include <optional>
#include <vector>

#include "tenex/topology/topology.hpp"

namespace tenex {

/// For every link one of the same class in the opposite direction, such that all links are taken once; nullopt where
/// there is none for some link. Exchanging each link with its opposite maps the topology to its reverse, every vertex
/// staying what it is. Of parallel links the first goes with the first. O(links) for few parallel links.
[[nodiscard]] std::optional<std::vector<LinkId>> opposite_links(const Topology& topology);

}  // namespace tenex
