// Column operations that turn equations into fixed entries.
#include "codesign/lattice.hpp"

#include <cmath>
#include <utility>

namespace tenex::codesign {
namespace {

/// Entries beyond this could overflow later products.
constexpr WideInt kLargestEntry = WideInt{1} << 62;

}  // namespace

EqualityLattice::EqualityLattice(std::size_t n)
    : n_(n), forward_(n, std::vector<WideInt>(n, 0)), backward_(n, std::vector<WideInt>(n, 0)) {
  for (std::size_t i = 0; i < n; ++i) forward_[i][i] = backward_[i][i] = 1;
}

/// Column -= times * other column of U; updates the inverse.
bool EqualityLattice::combine(std::size_t column, std::size_t other, WideInt times) {
  bool fits = magnitude(times) <= kLargestEntry;
  for (std::size_t i = 0; fits && i < n_; ++i) {
    forward_[i][column] -= times * forward_[i][other];
    backward_[other][i] += times * backward_[column][i];
    fits = magnitude(forward_[i][column]) <= kLargestEntry && magnitude(backward_[other][i]) <= kLargestEntry;
  }
  return fits;
}

EqualityLattice::Added EqualityLattice::add(std::span<const std::int64_t> coefficients, WideInt bound) {
  std::vector<WideInt> row(n_, 0);
  for (std::size_t j = 0; j < n_; ++j) {
    for (std::size_t i = 0; i < n_; ++i) {
      WideInt part = 0;
      if (__builtin_mul_overflow(WideInt{coefficients[i]}, forward_[i][j], &part) ||
          __builtin_add_overflow(row[j], part, &row[j]))
        return Added::too_long;
    }
  }
  // Euclid's algorithm over the free columns.
  const std::size_t first = rank();
  for (std::size_t j = first + 1; j < n_; ++j) {
    while (row[j] != 0) {
      const WideInt times = row[first] / row[j];
      if (!combine(first, j, times)) return Added::too_long;
      row[first] -= times * row[j];
      std::swap(row[first], row[j]);
      for (auto& entries : forward_) std::swap(entries[first], entries[j]);
      std::swap(backward_[first], backward_[j]);
    }
  }
  Rational rest(bound);
  for (std::size_t j = 0; j < first; ++j) rest = rest - Rational(row[j]) * fixed_[j];
  if (!rest.fits()) return Added::too_long;
  if (first == n_ || row[first] == 0) return rest.sign() == 0 ? Added::redundant : Added::contradictory;
  const Rational value = rest / Rational(row[first]);
  if (!value.fits()) return Added::too_long;
  fixed_.push_back(value);
  whole_ = whole_ && value.is_whole();
  return Added::independent;
}

std::vector<WideInt> EqualityLattice::round(std::span<const double> x) const {
  std::vector<WideInt> whole(n_, 0);
  for (std::size_t j = 0; j < n_; ++j) {
    WideInt entry = 0;
    if (j < rank()) {
      entry = fixed_[j].numerator();
    } else {
      long double sum = 0;
      for (std::size_t i = 0; i < n_; ++i)
        sum += static_cast<long double>(backward_[j][i]) * static_cast<long double>(x[i]);
      entry = static_cast<WideInt>(std::round(sum));
    }
    for (std::size_t i = 0; i < n_; ++i) whole[i] += forward_[i][j] * entry;
  }
  return whole;
}

}  // namespace tenex::codesign
