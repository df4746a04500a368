// One Newton system of the barrier method, small and dense.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "tenex/codesign/constraint.hpp"

namespace tenex::codesign {

/// One variable per dimension, and a slack during the search for an interior point.
inline constexpr std::size_t kMostVariables = kMostOptimizedDimensions + 1;

/// A symmetric matrix, of which the lower triangle is read, and its Cholesky factor in place.
class DenseMatrix {
 public:
  explicit DenseMatrix(std::size_t n) : n_(n) {}
  double& at(std::size_t row, std::size_t column) { return entries_[row * kMostVariables + column]; }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const { return entries_[row * kMostVariables + column]; }

  /// Replaces the matrix by its factor. Pivots that are too small because of rounding are raised.
  void factor();
  /// Solves for one right side in place, after factor().
  void solve(std::span<double> side) const;

 private:
  std::size_t n_;
  std::array<double, kMostVariables * kMostVariables> entries_{};
};

/// Solves [H E'; E 0] [step; multipliers] = [-gradient; residual] by eliminating the step. `hessian` is factored in
/// place; `equalities` is multipliers.size() x n.
void solve_newton(DenseMatrix& hessian, std::span<const double> equalities, std::span<const double> gradient,
                  std::span<const double> residual, std::span<double> step, std::span<double> multipliers);

}  // namespace tenex::codesign
