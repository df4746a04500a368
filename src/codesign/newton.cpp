// Cholesky factorization and the Schur complement of a few equalities.
#include "codesign/newton.hpp"

#include <algorithm>
#include <cmath>

namespace tenex::codesign {
namespace {

/// A pivot below this part of its diagonal entry is only rounding.
constexpr double kLeastPivot = 1e-16;

}  // namespace

void DenseMatrix::factor() {
  for (std::size_t j = 0; j < n_; ++j) {
    const double diagonal = at(j, j);
    double pivot = diagonal;
    for (std::size_t k = 0; k < j; ++k) pivot -= at(j, k) * at(j, k);
    const double root = std::sqrt(std::max(pivot, kLeastPivot * std::abs(diagonal) + 1e-300));
    at(j, j) = root;
    for (std::size_t i = j + 1; i < n_; ++i) {
      double entry = at(i, j);
      for (std::size_t k = 0; k < j; ++k) entry -= at(i, k) * at(j, k);
      at(i, j) = entry / root;
    }
  }
}

void DenseMatrix::solve(std::span<double> side) const {
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t k = 0; k < i; ++k) side[i] -= at(i, k) * side[k];
    side[i] /= at(i, i);
  }
  for (std::size_t i = n_; i-- > 0;) {
    for (std::size_t k = i + 1; k < n_; ++k) side[i] -= at(k, i) * side[k];
    side[i] /= at(i, i);
  }
}

void solve_newton(DenseMatrix& hessian, std::span<const double> equalities, std::span<const double> gradient,
                  std::span<const double> residual, std::span<double> step, std::span<double> multipliers) {
  const std::size_t n = gradient.size();
  const std::size_t count = multipliers.size();
  hessian.factor();
  for (std::size_t i = 0; i < n; ++i) step[i] = -gradient[i];
  hessian.solve(step);
  if (count == 0) return;
  // With Z = H^-1 E': (E Z) multipliers = E step - residual.
  std::array<std::array<double, kMostVariables>, kMostVariables> solved{};
  DenseMatrix schur(count);
  for (std::size_t q = 0; q < count; ++q) {
    std::copy_n(equalities.begin() + static_cast<std::ptrdiff_t>(q * n), n, solved[q].begin());
    hessian.solve(std::span(solved[q]).first(n));
    double violation = -residual[q];
    for (std::size_t i = 0; i < n; ++i) violation += equalities[q * n + i] * step[i];
    multipliers[q] = violation;
    for (std::size_t other = 0; other <= q; ++other) {
      double entry = 0;
      for (std::size_t i = 0; i < n; ++i) entry += equalities[other * n + i] * solved[q][i];
      schur.at(q, other) = entry;
    }
  }
  schur.factor();
  schur.solve(multipliers);
  for (std::size_t q = 0; q < count; ++q)
    for (std::size_t i = 0; i < n; ++i) step[i] -= solved[q][i] * multipliers[q];
}

}  // namespace tenex::codesign
