// Internal to pages: which network is drawn, and what of it has failed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tenex/topology/topology.hpp"

namespace tenex {

/// What is drawn: the physical network, where all its switches cut through; else the topology itself. O(1).
[[nodiscard]] const Topology& drawn_network(const Topology& topology);

/// The links of the intact network that the other lacks, from vertex to vertex. Empty where `intact` is null or has
/// other vertices. O(links log links).
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> failed_links(const Topology& drawn,
                                                                                const Topology* intact);

}  // namespace tenex
