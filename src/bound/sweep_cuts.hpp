// Sets of vertices that lie nearer to one landmark than to another, as cuts of what goes from many NPUs to many.
#pragma once

#include <cstdint>
#include <vector>

#include "bound/densest_cut.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

/// For every two of a few landmarks that lie far apart: vertices in order of how much nearer they are to the first, and
/// of all first parts of that order the one that most must leave (leaving.hpp) per capacity of its leaving links. On a
/// mesh the order between two corners of a side is a coordinate, so that halves are found without the shape. `work`
/// counts link visits down to zero, where it ends. Deterministic. O(links log links) per pair.
[[nodiscard]] std::vector<VertexSet> sweep_cuts(const BoundProblem& problem, std::uint64_t& work);

}  // namespace tenex
