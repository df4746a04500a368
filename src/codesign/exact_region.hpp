// Answers questions about a set of constraints by exact linear programs.
#pragma once

#include <cstddef>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/codesign/constraint.hpp"

namespace tenex::codesign {

/// a . B <= bound, or = bound, in 64-bit coefficients without common divisor.
struct ExactRow {
  std::vector<std::int64_t> coefficients;
  WideInt bound = 0;
  Relation relation = Relation::at_most;
};

/// Whether B >= 1 and the rows have a solution. Errors: numbers too long for 128 bits.
[[nodiscard]] Result<bool> is_feasible(const std::vector<ExactRow>& rows, std::size_t dimensions);

/// The diagnostic for constraints that contradict each other; it names an irreducible subset. `rows` are the rows of
/// `constraints`.
[[nodiscard]] Diagnostic explain_conflict(const std::vector<LinearConstraint>& constraints,
                                          const std::vector<ExactRow>& rows, std::size_t dimensions);

/// A relative interior point of a feasible set, and the inequalities that hold with equality everywhere in it.
struct RelativeInterior {
  std::vector<double> point;
  std::vector<bool> tight;  ///< per row, then per dimension for B_i >= 1
};
[[nodiscard]] Result<RelativeInterior> relative_interior(const std::vector<ExactRow>& rows, std::size_t dimensions);

/// The largest B_i of a feasible set, rounded up; infinite where it has no limit (or numbers are too long).
[[nodiscard]] double largest(const std::vector<ExactRow>& rows, std::size_t dimensions, std::size_t which);

}  // namespace tenex::codesign
