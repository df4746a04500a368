// The time that a certificate's weights prove, for checkers alone: the search has time_to_carry().
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "tenex/bound/bound.hpp"

namespace tenex {

__extension__ using CheckedSum = __int128;

/// The least T by which the links, each times its weight, can have delivered `needed` chunks of `size` (or their bytes,
/// where chunks may be cut). Link by link, by bisection in 128 bits. Zero for `needed` = 0, SimTime::max()
/// where it is never reached. O(61 * links).
[[nodiscard]] SimTime checked_time(const BoundProblem& problem, std::span<const std::uint32_t> weights, Bytes size,
                                   CheckedSum needed);

/// The same for needs of several sizes, which are counted as sized_needs.hpp says: for each size, what is no smaller as
/// that size; bytes; and the busy time of links that are all alike. Zero where nothing is needed. O(sizes * links).
[[nodiscard]] SimTime checked_time_of_sizes(const BoundProblem& problem, std::span<const std::uint32_t> weights,
                                            const std::map<Bytes, CheckedSum>& needed);

}  // namespace tenex
