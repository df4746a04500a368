// Exact arithmetic of workloads: divisors, products of a model's dimensions, products of fractions.
#pragma once

#include <fmt/core.h>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include "tenex/workload/libra_time.hpp"
#include "workload/saturating.hpp"

namespace tenex {

// Degrees to suggest: the divisors of a number nearest to one that does not divide it.

/// The largest divisor of `number` below `wanted` and the smallest above, where there are any. O(sqrt(number)).
inline std::vector<std::int64_t> nearest_divisors(std::int64_t number, std::int64_t wanted) {
  std::int64_t below = 0;
  std::int64_t above = 0;
  const auto consider = [&](std::int64_t divisor) {
    if (divisor < wanted && divisor > below) below = divisor;
    if (divisor > wanted && (above == 0 || divisor < above)) above = divisor;
  };
  for (std::int64_t small = 1; small * small <= number; ++small) {
    if (number % small != 0) continue;
    consider(small);
    consider(number / small);
  }
  std::vector<std::int64_t> found;
  if (below != 0) found.push_back(below);
  if (above != 0) found.push_back(above);
  return found;
}

/// "use 8 or 16", for messages.
inline std::string suggest_divisors(std::int64_t number, std::int64_t wanted) {
  std::string text;
  for (const auto divisor : nearest_divisors(number, wanted))
    text += fmt::format("{}{}", text.empty() ? "use " : " or ", divisor);
  return text;
}

// Products of a model's dimensions, with detection of overflow.

/// Multiplies positive numbers and remembers whether any result went beyond int64.
class Amounts {
 public:
  /// The product of `factors` over `divisor`, rounded up.
  std::int64_t product(std::initializer_list<std::int64_t> factors, std::int64_t divisor = 1) {
    Wide result = 1;
    for (const auto factor : factors) {
      result *= static_cast<Wide>(factor);
      if (result > static_cast<Wide>(kMostInt64)) {
        overflowed_ = true;
        return kMostInt64;
      }
    }
    return ceil_div(static_cast<std::int64_t>(result), divisor);
  }
  std::int64_t sum(std::int64_t a, std::int64_t b) {
    const auto result = saturating_sum(a, b);
    overflowed_ |= result == kMostInt64;
    return result;
  }
  [[nodiscard]] bool overflowed() const { return overflowed_; }

 private:
  bool overflowed_ = false;
};

// Products of exact fractions, reduced so that they stay in int64 for everything that fits a shape.

/// a * b in lowest terms. Both positive. O(log).
constexpr Fraction product(Fraction a, Fraction b) {
  const auto across = std::gcd(a.numerator, b.denominator);
  const auto other = std::gcd(b.numerator, a.denominator);
  a = {a.numerator / across, a.denominator / other};
  b = {b.numerator / other, b.denominator / across};
  const auto common = std::gcd(a.numerator, a.denominator);
  const auto rest = std::gcd(b.numerator, b.denominator);
  return {a.numerator / common * (b.numerator / rest), a.denominator / common * (b.denominator / rest)};
}

/// a / b in lowest terms.
constexpr Fraction quotient(Fraction a, Fraction b) { return product(a, {b.denominator, b.numerator}); }

}  // namespace tenex
