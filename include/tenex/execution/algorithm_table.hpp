// The algorithms that a study may name: entries of the registries of textbook algorithms and synthesizers, and the
// words for the best of them.
#pragma once

#include <string_view>
#include <vector>

#include "tenex/schedule/algorithm_traits.hpp"

namespace tenex {

/// Textbook algorithms, the word for the best of them, synthesizers, and the word for the best of all.
[[nodiscard]] const std::vector<const AlgorithmTraits*>& algorithm_traits();
/// The entry of that name. InvariantError if there is none.
[[nodiscard]] const AlgorithmTraits& traits_of(std::string_view algorithm);

}  // namespace tenex
