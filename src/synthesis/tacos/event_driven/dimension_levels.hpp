// Levels of links by the dimensions of a shape, for networks in which cost does not tell which links should bring
// chunks to the others.
//
// Idea: along a long dimension a chunk travels far, and each hop is made by few links. If these carry chunks that the
// target's neighbours in a short dimension hold already, the short dimension soon runs out of chunks to spread: a line
// of 11 fully connected blocks of 14 was measured at 0.69 of its bound. So links of a long dimension are treated as
// slow ones (cost_levels.hpp): they leave to the short dimensions what these can deliver.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// A level cost for every link, by dimension; several choices, the most promising first. Empty unless the topology is
/// an intact product of two dimensions or more, perhaps with its switches unwound. O(links * choices).
[[nodiscard]] std::vector<std::vector<std::int64_t>> dimension_levels(const SynthesisProblem& problem);

}  // namespace tenex
