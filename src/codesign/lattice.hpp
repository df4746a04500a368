// The whole-number solutions of a few linear equations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tenex/base/rational.hpp"

namespace tenex::codesign {

/// The solutions x = U w, where the first `rank` entries of w are fixed and the others free. U is unimodular, so x is
/// whole exactly where w is. Columns are combined until each equation in turn has one entry left (Hermite's normal
/// form; Schrijver, "Theory of Linear and Integer Programming", section 4.1).
class EqualityLattice {
 public:
  explicit EqualityLattice(std::size_t n);

  enum class Added { independent, redundant, contradictory, too_long };
  /// Adds an equation. O(n^2 log of the coefficients).
  Added add(std::span<const std::int64_t> coefficients, WideInt bound);

  [[nodiscard]] std::size_t rank() const { return fixed_.size(); }
  /// Whether the equations have whole solutions.
  [[nodiscard]] bool has_whole_points() const { return whole_; }
  /// Column j of U.
  [[nodiscard]] WideInt entry(std::size_t row, std::size_t column) const { return forward_[row][column]; }
  /// The whole solution whose free entries are nearest to those of x. Requires has_whole_points().
  [[nodiscard]] std::vector<WideInt> round(std::span<const double> x) const;

 private:
  bool combine(std::size_t column, std::size_t other, WideInt times);

  std::size_t n_;
  std::vector<std::vector<WideInt>> forward_;   // U
  std::vector<std::vector<WideInt>> backward_;  // its inverse
  std::vector<Rational> fixed_;
  bool whole_ = true;
};

}  // namespace tenex::codesign
