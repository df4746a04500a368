// An exact solver of small linear programs: the simplex method on a dense table of whole numbers. Slow and obvious.
//
// The table is that of Edmonds and Bareiss: all entries are whole numbers over one common denominator, the pivot
// before, so every division is exact (entries are determinants of parts of the program). Bland's rule (the first column
// that gains, the first basic variable among the tightest rows) never cycles. The answer is proven without the table:
// the dual values that stand in the table's last row are put into the program itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex::support {

__extension__ using Wide = __int128;

/// A ratio in lowest terms; the denominator is positive.
struct Fraction {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  bool operator==(const Fraction&) const = default;
};

/// Maximise gain * x where row * x <= limit for every row, and x >= 0. No limit is negative, so that x = 0 is a start.
struct LinearProgram {
  std::vector<std::int64_t> gain;               ///< per variable
  std::vector<std::vector<std::int64_t>> rows;  ///< a coefficient per variable
  std::vector<std::int64_t> limits;             ///< per row

  /// Adds a variable that is in no row yet; returns its number.
  std::size_t add_variable(std::int64_t its_gain) {
    gain.push_back(its_gain);
    for (auto& row : rows) row.push_back(0);
    return gain.size() - 1;
  }
  /// Adds a row without variables; returns its number.
  std::size_t add_row(std::int64_t limit) {
    rows.emplace_back(gain.size(), 0);
    limits.push_back(limit);
    return rows.size() - 1;
  }
};

/// The simplex method on one program.
class ExactSimplex {
 public:
  explicit ExactSimplex(const LinearProgram& program)
      : program_(program), variables_(program.gain.size()), rows_(program.rows.size()), table_(rows_ + 1) {
    for (std::size_t r = 0; r < rows_; ++r) {
      ensure(program.limits[r] >= 0, "x = 0 must meet every row");
      table_[r] = program.rows[r];
      table_[r].resize(variables_ + rows_ + 1, 0);
      table_[r][variables_ + r] = 1;  // the slack of the row
      table_[r].back() = program.limits[r];
      basic_.push_back(variables_ + r);
    }
    for (const auto gain : program.gain) table_[rows_].push_back(-gain);
    table_[rows_].resize(variables_ + rows_ + 1, 0);
  }

  /// The maximum; nullopt where there is none. Throws InvariantError where a number leaves 64 bits.
  [[nodiscard]] std::optional<Fraction> maximum() {
    while (const auto column = gaining_column()) {
      const auto row = tightest_row(*column);
      if (!row) return std::nullopt;
      pivot(*row, *column);
    }
    prove();
    const auto value = table_[rows_].back();
    const auto common = std::gcd(value, denominator_);
    return Fraction{value / common, denominator_ / common};
  }

 private:
  [[nodiscard]] std::optional<std::size_t> gaining_column() const {
    for (std::size_t c = 0; c < variables_ + rows_; ++c)
      if (table_[rows_][c] < 0) return c;
    return std::nullopt;
  }

  /// The row that limits the column's variable most.
  [[nodiscard]] std::optional<std::size_t> tightest_row(std::size_t column) const {
    std::optional<std::size_t> best;
    for (std::size_t r = 0; r < rows_; ++r) {
      if (table_[r][column] <= 0) continue;
      if (!best) {
        best = r;
        continue;
      }
      const auto its = Wide{table_[r].back()} * table_[*best][column];
      const auto least = Wide{table_[*best].back()} * table_[r][column];
      if (its < least || (its == least && basic_[r] < basic_[*best])) best = r;
    }
    return best;
  }

  void pivot(std::size_t row, std::size_t column) {
    const auto divisor = std::exchange(denominator_, table_[row][column]);
    for (std::size_t r = 0; r <= rows_; ++r) {
      if (r == row) continue;
      const auto factor = table_[r][column];
      for (std::size_t c = 0; c < table_[r].size(); ++c) {
        if (table_[r][c] == 0 && (factor == 0 || table_[row][c] == 0)) continue;
        const auto scaled = Wide{table_[r][c]} * denominator_ - Wide{factor} * table_[row][c];
        const auto value = divisor == 1 ? scaled : scaled / divisor;
        ensure(value <= kMost && value >= -kMost, "a number of the simplex table leaves 64 bits");
        table_[r][c] = static_cast<std::int64_t>(value);
      }
    }
    basic_[row] = column;
  }

  /// Puts both solutions into the program: x meets all rows, the duals y >= 0 price every variable at its gain or more,
  /// and gain * x = limit * y. Then no x gains more, since gain * x <= (y * rows) * x <= y * limits for every x.
  void prove() const {
    std::vector<std::int64_t> x(variables_, 0);
    for (std::size_t r = 0; r < rows_; ++r) {
      ensure(table_[r].back() >= 0, "a basic variable is negative");
      if (basic_[r] < variables_) x[basic_[r]] = table_[r].back();
    }
    const std::vector<std::int64_t> y(table_[rows_].end() - 1 - static_cast<std::ptrdiff_t>(rows_),
                                      table_[rows_].end() - 1);
    Wide gained = 0;
    Wide priced = 0;
    for (std::size_t r = 0; r < rows_; ++r) {
      Wide used = 0;
      for (std::size_t v = 0; v < variables_; ++v) used += Wide{program_.rows[r][v]} * x[v];
      ensure(used <= Wide{program_.limits[r]} * denominator_, "the solution breaks a row");
      ensure(y[r] >= 0, "a dual value is negative");
      priced += Wide{program_.limits[r]} * y[r];
    }
    for (std::size_t v = 0; v < variables_; ++v) {
      Wide price = 0;
      for (std::size_t r = 0; r < rows_; ++r) price += Wide{program_.rows[r][v]} * y[r];
      ensure(price >= Wide{program_.gain[v]} * denominator_, "the dual values do not pay for a variable");
      gained += Wide{program_.gain[v]} * x[v];
    }
    ensure(gained == priced && gained == table_[rows_].back(), "the solutions have different values");
  }

  static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const LinearProgram& program_;
  std::size_t variables_;
  std::size_t rows_;
  std::vector<std::vector<std::int64_t>> table_;  ///< rows: variables, slacks, limit; last: gains, duals, value
  std::vector<std::size_t> basic_;                ///< per row: the variable that it states
  std::int64_t denominator_ = 1;                  ///< of all entries; positive
};

/// The maximum of a program; nullopt where there is none.
inline std::optional<Fraction> maximum(const LinearProgram& program) { return ExactSimplex(program).maximum(); }

}  // namespace tenex::support
