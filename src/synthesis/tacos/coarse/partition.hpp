// Connected blocks of NPUs of about one size: the units that the coarse engine moves.
//
// Idea: on an intact product shape with one group, tiles of consecutive coordinates, as near to cubes as the dimensions
// allow. Elsewhere blocks grow from the lowest free NPU, always by the neighbour with the most links into the block
// (among equals the nearest to its seed, then the lowest), which gives round blocks; small remaining blocks join their
// smallest neighbour. Only links that exist both ways count, so that every block can gather inside itself. The same
// topology gives the same blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/topology/topology.hpp"

namespace tenex {

/// Blocks in order of group and lowest NPU; every NPU is in exactly one.
struct BlockPartition {
  std::vector<std::vector<std::uint32_t>> members;  ///< per block: NPUs
  std::vector<std::uint32_t> block_of;              ///< per NPU
};

/// Blocks of about `size` NPUs of one group (`group_of` per NPU). `topology` has no switches. O(links * small).
[[nodiscard]] BlockPartition partition_blocks(const Topology& topology, const std::vector<std::uint32_t>& group_of,
                                              std::size_t size);

}  // namespace tenex
