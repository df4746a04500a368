// Linear programs in exact arithmetic: small and dense, for questions that rounding must not decide.
#pragma once

#include <cstdint>
#include <vector>

#include "codesign/rational.hpp"

namespace tenex::codesign {

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
  std::vector<Rational> point;  ///< a best point; for an unbounded program any feasible one
};

/// Maximizes objective . x over x >= 0 and the rows: the simplex method on a dictionary with Bland's rule (it always
/// ends) and an artificial variable where x = 0 is not feasible (Chvatal, "Linear Programming", chapters 3 and 8).
[[nodiscard]] LpAnswer maximize(const std::vector<Rational>& objective, const std::vector<LpRow>& rows);

}  // namespace tenex::codesign
