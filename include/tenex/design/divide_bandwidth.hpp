// Divides a total bandwidth over the dimensions of a shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/quantity.hpp"

namespace tenex {

/// Divides `total` in these positive shares, each rounded down; the rest goes to the first dimensions, 1 B/s each.
/// Expects: shares, all of them positive. O(shares).
[[nodiscard]] std::vector<Bandwidth> divide_bandwidth(Bandwidth total, const std::vector<std::int64_t>& shares);

/// The same with `split` as shares, or with equal ones where it is empty. Expects: dimensions, and a share for each in
/// a split.
[[nodiscard]] std::vector<Bandwidth> divide_bandwidth(Bandwidth total, std::vector<std::int64_t> split,
                                                      std::size_t dimensions);

}  // namespace tenex
