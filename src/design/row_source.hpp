// The rows of a study's sweeps, by number: what points are built from, as long as anybody may ask for one.
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

/// The product of the axes' lengths, or how many rows a sampler drew; saturates above kMostRows.
[[nodiscard]] std::size_t rows_of(const Sweep& sweep);

/// Sets the keys that vary in `row` to the values of the sweep's `number`-th row; the others are left. False where one
/// of them has no value, because it was wrong. O(keys on axes).
[[nodiscard]] bool set_varying(const Sweep& sweep, std::size_t number, Row& row);

/// Owns the sweeps of a study and numbers their rows through. Immutable, so that any number of threads may read.
class RowSource {
 public:
  /// Of the vocabulary the words are kept, and those functions that read no file.
  RowSource(std::vector<Sweep> sweeps, const Vocabulary& vocabulary);

  [[nodiscard]] const std::vector<Sweep>& sweeps() const { return sweeps_; }
  /// The number of the first row of a sweep. A sweep that is not usable or has too many rows counts none.
  [[nodiscard]] std::size_t first_row(std::size_t sweep) const { return first_[sweep]; }
  /// The sweep that has a row. O(log sweeps).
  [[nodiscard]] const Sweep& sweep_of(std::size_t row) const { return sweeps_[number_of_sweep(row)]; }

  /// The sealed point of a row. `row` is less than the rows of all sweeps and has all its values.
  [[nodiscard]] DesignPoint build(std::size_t row, Groups groups) const;

 private:
  [[nodiscard]] std::size_t number_of_sweep(std::size_t row) const;

  std::vector<Sweep> sweeps_;
  std::vector<std::size_t> first_;  ///< per sweep, and the rows of all at the end
  Vocabulary vocabulary_;
};

}  // namespace tenex
