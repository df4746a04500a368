// Closed forms of the strength of product shapes: meshes, grids, tori, and products with fully connected blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/bound/bound.hpp"

namespace tenex {

/// The best partition of an intact product of lines, rings and fully connected blocks: NPUs that differ only in joined
/// dimensions are in one part.
struct ProductPartition {
  std::vector<bool> joined;  ///< per dimension
  std::int64_t parts = 0;
};

/// The partition with the most parts (less one) per capacity between them, if one group of all NPUs works. nullopt for
/// other topologies, and where the proof does not reach (product_partition.cpp). O(links * dimensions).
[[nodiscard]] std::optional<ProductPartition> product_partition(const BoundProblem& problem);

}  // namespace tenex
