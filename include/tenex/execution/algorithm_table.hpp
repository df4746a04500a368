// The algorithms that a study may name: entries of the registries of textbook algorithms and synthesizers, and the
// words for the best of them. What follows from a point's algorithm alone.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/schedule/algorithm_traits.hpp"

namespace tenex {

/// Textbook algorithms, the word for the best of them, synthesizers, and the word for the best of all.
[[nodiscard]] const std::vector<const AlgorithmTraits*>& algorithm_traits();
/// The entry of that name. InvariantError if there is none.
[[nodiscard]] const AlgorithmTraits& traits_of(std::string_view algorithm);

/// Whether the point's synthesizer sends over links between NPUs only and the point keeps its switches (a machine file
/// counts as if it had some): the synthesizer then schedules the network with its switches unwound to degree 1, and its
/// schedule is played on the switches.
[[nodiscard]] bool plays_on_switches(const DesignPoint& point);
/// The degree to which switches, if any, are unwound in the network that the point's algorithm sees; 0 if they stay.
[[nodiscard]] std::uint32_t unwinding_degree(const DesignPoint& point);

/// Whether the point asks for the best of all textbook algorithms.
[[nodiscard]] inline bool tries_all(const DesignPoint& point) { return point.family == AlgorithmFamily::any_textbook; }
/// Whether the point runs a textbook algorithm, or the best of them.
[[nodiscard]] bool is_program(const DesignPoint& point);
/// Whether every message or send of the point's algorithm is known to carry one chunk; false for the best of all.
[[nodiscard]] bool sends_single_chunks(const DesignPoint& point);
/// Whether the point's textbook algorithm, or one of those it tries on so many NPUs, has a trait.
[[nodiscard]] bool may_run(const DesignPoint& point, std::uint64_t npus, bool Algorithm::*trait);

}  // namespace tenex
