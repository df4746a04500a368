// A linear program with some whole variables, row by row: what synthesizers hand to a solver.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace tenex {

/// Minimizes the sum of cost * value over columns within bounds, such that the sum over each row's terms lies between
/// the row's bounds.
struct LinearProgram {
  static constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  /// Column and coefficient.
  using Term = std::pair<int, double>;

  /// Adds a column and returns its number.
  int add_column(double least, double most, double weight = 0, bool whole = false) {
    lower.push_back(least);
    upper.push_back(most);
    cost.push_back(weight);
    if (whole) whole_columns.push_back(static_cast<int>(lower.size()) - 1);
    return static_cast<int>(lower.size()) - 1;
  }
  /// Adds a row. No column occurs twice in its terms.
  void add_row(std::span<const Term> terms, double least, double most) {
    for (const auto& [column, value] : terms) {
      columns.push_back(column);
      values.push_back(value);
    }
    row_ends.push_back(static_cast<int>(columns.size()));
    row_lower.push_back(least);
    row_upper.push_back(most);
  }
  [[nodiscard]] int column_count() const { return static_cast<int>(lower.size()); }
  [[nodiscard]] int row_count() const { return static_cast<int>(row_lower.size()); }

  std::vector<double> lower, upper, cost;  ///< by column
  std::vector<int> whole_columns;          ///< ascending
  std::vector<double> row_lower, row_upper;
  std::vector<int> row_ends;  ///< terms of row r end here in `columns` and `values`
  std::vector<int> columns;
  std::vector<double> values;
};

}  // namespace tenex
