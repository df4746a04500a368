// The best partition of a topology's vertices, for the strength bound.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/topology/topology.hpp"

namespace tenex {

/// A partition, and whether no other has more parts (less one) per capacity between them.
struct FoundPartition {
  std::vector<std::uint32_t> part_of;  ///< per vertex: the name of its part, below the number of vertices
  bool ended = true;
};

/// Minimizes (capacity of the directed links between parts) / (parts - 1) over the partitions of all vertices into two
/// parts or more, where each part counts, whatever is in it. `capacity`: per link class, at most 2^20. `work` counts
/// link visits down to zero, where the search ends. Deterministic. A maximum flow for each of a few steps, then
/// O(vertices) of them for each of a few.
[[nodiscard]] FoundPartition best_partition(const Topology& topology, const std::vector<std::int64_t>& capacity,
                                            std::uint64_t& work);

}  // namespace tenex
