// Products of exact fractions, reduced so that they stay in int64 for everything that fits a shape.
#pragma once

#include <numeric>

#include "tenex/workload/libra_time.hpp"

namespace tenex {

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
