// Pairs of links that run between the same vertices in opposite directions.
#pragma once

#include <optional>
#include <vector>

#include "tenex/topology/topology.hpp"

namespace tenex {

/// For every link an opposite link of the same class, such that each link is the opposite of exactly one; nullopt if
/// some link has none. Exchanging each link with its opposite maps the topology to its reverse and keeps every vertex.
/// Parallel links are paired in order. O(links) for few parallel links.
[[nodiscard]] std::optional<std::vector<LinkId>> opposite_links(const Topology& topology);

}  // namespace tenex
