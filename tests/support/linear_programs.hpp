// Linear programs of whole numbers, with maxima that are proven: the dual values are put into the program itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/graph/exact_lp.hpp"

namespace tenex::support {

/// Maximise gain * x where row * x <= limit for every row, and x >= 0.
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

/// Puts both solutions into the program: x >= 0 meets all rows, the prices y >= 0 pay for every variable its gain or
/// more, and gain * x = limit * y. Then no x gains more, since gain * x <= (y * rows) * x <= y * limits for every x.
inline void prove(const LinearProgram& program, const LpAnswer& answer) {
  Rational gained = 0;
  Rational priced = 0;
  for (std::size_t r = 0; r < program.rows.size(); ++r) {
    Rational used = 0;
    for (std::size_t v = 0; v < program.gain.size(); ++v) used = used + Rational(program.rows[r][v]) * answer.point[v];
    ensure(used.fits() && !(Rational(program.limits[r]) < used), "the solution breaks a row");
    ensure(answer.prices[r].sign() >= 0, "a dual value is negative");
    priced = priced + Rational(program.limits[r]) * answer.prices[r];
  }
  for (std::size_t v = 0; v < program.gain.size(); ++v) {
    Rational price = 0;
    for (std::size_t r = 0; r < program.rows.size(); ++r)
      price = price + Rational(program.rows[r][v]) * answer.prices[r];
    ensure(price.fits() && !(price < Rational(program.gain[v])), "the dual values do not pay for a variable");
    ensure(answer.point[v].sign() >= 0, "a variable is negative");
    gained = gained + Rational(program.gain[v]) * answer.point[v];
  }
  ensure(gained.fits() && gained == priced && gained == answer.value, "the solutions have different values");
}

inline LpAnswer solve(const LinearProgram& program) {
  std::vector<LpRow> rows;
  for (std::size_t r = 0; r < program.rows.size(); ++r)
    rows.push_back({{program.rows[r].begin(), program.rows[r].end()}, program.limits[r]});
  auto answer = maximize_exactly({program.gain.begin(), program.gain.end()}, rows);
  ensure(answer.status != LpStatus::too_long, "a number of the program leaves 128 bits");
  if (answer.status == LpStatus::optimal) prove(program, answer);
  return answer;
}

/// The proven maximum of a program; nullopt where there is none.
inline std::optional<Rational> maximum(const LinearProgram& program) {
  const auto answer = solve(program);
  if (answer.status != LpStatus::optimal) return std::nullopt;
  return answer.value;
}

}  // namespace tenex::support
