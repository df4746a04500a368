// Sums and products of int64 quantities that stop at the largest value instead of wrapping.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "tenex/base/quantity.hpp"

namespace tenex {

__extension__ using Wide = unsigned __int128;

inline constexpr std::int64_t kMostInt64 = std::numeric_limits<std::int64_t>::max();

/// a * b for non-negative factors, at most the largest int64.
constexpr std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  const Wide product = static_cast<Wide>(a) * static_cast<Wide>(b);
  return product > static_cast<Wide>(kMostInt64) ? kMostInt64 : static_cast<std::int64_t>(product);
}

/// a + b for non-negative amounts, at most the largest int64.
constexpr std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  return a > kMostInt64 - b ? kMostInt64 : a + b;
}

template <class Unit>
constexpr Quantity<Unit> saturating_product(Quantity<Unit> a, std::int64_t b) {
  return Quantity<Unit>::of(saturating_product(a.count(), b));
}
template <class Unit>
constexpr Quantity<Unit> saturating_sum(Quantity<Unit> a, Quantity<Unit> b) {
  return Quantity<Unit>::of(saturating_sum(a.count(), b.count()));
}

/// ceil(value * numerator / denominator) for non-negative factors and a positive denominator, at most the largest
/// int64.
constexpr std::int64_t scaled_up(std::int64_t value, std::int64_t numerator, std::int64_t denominator) {
  const Wide divisor = static_cast<Wide>(denominator);
  const Wide result = (static_cast<Wide>(value) * static_cast<Wide>(numerator) + divisor - 1) / divisor;
  return result > static_cast<Wide>(kMostInt64) ? kMostInt64 : static_cast<std::int64_t>(result);
}

}  // namespace tenex
