// Linear programs in exact arithmetic: small and dense, for questions that rounding must not decide.
//
// The simplex method on a dictionary (Chvatal, "Linear programming", 1983, chapters 3 and 8) of fractions in 128 bits.
// Bland's rule ("New finite pivoting rules for the simplex method", Mathematics of Operations Research 2, 1977) makes
// it end: of the variables that improve the one with the least index enters, of those that limit it most the one with
// the least index leaves. An artificial variable finds a first point where x = 0 is none.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/base/rational.hpp"

namespace tenex {

/// coefficients . x <= bound
struct LpRow {
  std::vector<Rational> coefficients;
  Rational bound;
};

enum class LpStatus : std::uint8_t {
  optimal,
  infeasible,
  unbounded,
  too_long,  ///< a number did not fit in 128 bits
};

struct LpAnswer {
  LpStatus status = LpStatus::optimal;
  Rational value;
  std::vector<Rational> point;   ///< a best point; for an unbounded program any feasible one
  std::vector<Rational> prices;  ///< optimal: per row, not negative. They prove the value: prices . coefficients is at
                                 ///< least the objective for each variable, and prices . bounds is the value.
};

/// Maximizes objective . x over x >= 0 and the rows, each of which has a coefficient per variable. O(rows * variables)
/// per step; steps are few in practice and exponential at worst.
[[nodiscard]] LpAnswer maximize_exactly(const std::vector<Rational>& objective, const std::vector<LpRow>& rows);

}  // namespace tenex
