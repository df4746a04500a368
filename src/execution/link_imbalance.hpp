// How unevenly a collective loads links that are alike.
#pragma once

#include <vector>

#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Whether a topology has levels of links to compare: two of its switches are joined. O(links).
[[nodiscard]] bool has_link_levels(const Topology& topology);

/// The bytes of the busiest link over the mean of its level: the links whose ends are as far from the nearest NPU (in
/// links, each in its direction). Of several busiest links the one with the largest ratio counts. What wires carry is
/// counted on their physical links. kAbsentReal where nothing was sent. O(links and spans of wires).
[[nodiscard]] double link_imbalance(const Topology& topology, const std::vector<LinkLoad>& loads);

}  // namespace tenex
