// The time that a certificate's weights prove, for checkers alone: the search has time_to_carry().
#pragma once

#include <cstdint>
#include <span>

#include "tenex/bound/bound.hpp"

namespace tenex {

__extension__ using CheckedSum = __int128;

/// The least T by which the links, each times its weight, can have delivered `needed` chunks of `size` (or their bytes,
/// where sends may carry several chunks). Link by link, by bisection in 128 bits. Zero for `needed` = 0, SimTime::max()
/// where it is never reached. O(61 * links).
[[nodiscard]] SimTime checked_time(const BoundProblem& problem, std::span<const std::uint32_t> weights, Bytes size,
                                   CheckedSum needed);

}  // namespace tenex
