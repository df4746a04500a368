// The rows of a study's sweeps, by number. Points are built from them as long as the study exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "design/row_checks.hpp"
#include "design/sweep.hpp"
#include "tenex/design/study.hpp"

namespace tenex {

inline constexpr std::size_t kMostRows = 100'000'000;

/// The product of the axes' lengths, or the number of rows that a sampler drew; saturates above kMostRows.
[[nodiscard]] std::size_t rows_of(const Sweep& sweep);

/// Sets the keys that vary in `row` to the values of the sweep's `number`-th row, and leaves the others. False if one
/// of them has no value, because it was wrong. O(keys on axes).
[[nodiscard]] bool set_varying(const Sweep& sweep, std::size_t number, Row& row);

/// Owns the sweeps of a study and numbers all their rows. Immutable, so any number of threads may read it.
class RowSource {
 public:
  /// Keeps the words of the vocabulary, and those of its functions that read no file.
  RowSource(std::vector<Sweep> sweeps, const Vocabulary& vocabulary);

  [[nodiscard]] const std::vector<Sweep>& sweeps() const { return sweeps_; }
  /// The number of the first row of a sweep. A sweep that is not usable or has too many rows counts as empty.
  [[nodiscard]] std::size_t first_row(std::size_t sweep) const { return first_[sweep]; }
  /// The sweep to which a row belongs. O(log sweeps).
  [[nodiscard]] const Sweep& sweep_of(std::size_t row) const { return sweeps_[number_of_sweep(row)]; }

  /// The sealed point of a row. `row` is less than the rows of all sweeps and has all its values.
  [[nodiscard]] DesignPoint build(std::size_t row, Groups groups) const;

 private:
  [[nodiscard]] std::size_t number_of_sweep(std::size_t row) const;

  std::vector<Sweep> sweeps_;
  std::vector<std::size_t> first_;  ///< per sweep, and at the end the total number of rows
  Vocabulary vocabulary_;
};

}  // namespace tenex
