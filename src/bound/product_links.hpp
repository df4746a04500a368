// The links of an intact product shape, by dimension.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/bound/bound.hpp"

namespace tenex {

/// Whether one group of all NPUs runs the collective on an intact product without switches.
[[nodiscard]] bool is_plain_product(const BoundProblem& problem);

/// The dimension of an intact product along which a link leads. O(dimensions).
[[nodiscard]] std::size_t dimension_of(const Topology& topology, LinkId link);

/// The number of links of each class, per dimension of an intact product: [dimension][class]. O(links * dimensions).
[[nodiscard]] std::vector<std::vector<std::int64_t>> links_by_dimension(const Topology& topology);

}  // namespace tenex
