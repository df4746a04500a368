// Exact linear programs against all their corners, and fractions against cross products.
#include "tenex/base/graph/exact_lp.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "support/linear_programs.hpp"

namespace tenex {
namespace {

using support::LinearProgram;
using support::maximum;

TEST(ExactLp, FindsMaximaByHand) {
  // 2x + y <= 2 and x + 3y <= 2 meet at x = 4/5, y = 2/5.
  EXPECT_EQ(maximum({{1, 1}, {{2, 1}, {1, 3}}, {2, 2}}), Rational(6, 5));
  // x - y <= 1 lets x grow with y.
  EXPECT_EQ(support::solve({{1, 0}, {{1, -1}}, {1}}).status, LpStatus::unbounded);
  // x >= 2 and x <= 1; then x <= 3, where x + y >= 4 asks for the artificial variable: x + 2y is least at x = 3, y = 1.
  EXPECT_EQ(support::solve({{1}, {{-1}, {1}}, {-2, 1}}).status, LpStatus::infeasible);
  EXPECT_EQ(maximum({{-1, -2}, {{1, 0}, {-1, -1}}, {3, -4}}), Rational(-5));
  // Beale's program, on which the largest gain first cycles for ever: the maximum is 1/20, here in hundredths.
  const std::vector<std::vector<std::int64_t>> rows{{25, -6000, -4, 900}, {25, -4500, -1, 150}, {0, 0, 1, 0}};
  EXPECT_EQ(maximum({{75, -15000, 2, -600}, rows, {0, 0, 1}}), Rational(5));
}

TEST(ExactLp, SaysWhereNumbersDoNotFit) {
  const Rational large(std::numeric_limits<std::int64_t>::max());
  const std::vector<LpRow> rows{{{large * large, Rational(1)}, Rational(1)},
                                {{Rational(1), large * large}, Rational(1)}};
  EXPECT_EQ(maximize_exactly({large * large, large * large}, rows).status, LpStatus::too_long);
}

/// The solution of as many equations as unknowns, by Gauss; nullopt where it is not the only one. A row ends with what
/// it is equal to.
std::optional<std::vector<Rational>> solved(std::vector<std::vector<Rational>> rows) {
  const std::size_t unknowns = rows.size();
  for (std::size_t column = 0; column < unknowns; ++column) {
    std::size_t pivot = column;
    while (pivot < unknowns && rows[pivot][column].sign() == 0) ++pivot;
    if (pivot == unknowns) return std::nullopt;
    std::swap(rows[pivot], rows[column]);
    for (std::size_t r = 0; r < unknowns; ++r) {
      if (r == column) continue;
      const Rational factor = rows[r][column] / rows[column][column];
      for (std::size_t c = 0; c <= unknowns; ++c) rows[r][c] = rows[r][c] - factor * rows[column][c];
    }
  }
  std::vector<Rational> x;
  for (std::size_t i = 0; i < unknowns; ++i) x.push_back(rows[i].back() / rows[i][i]);
  return x;
}

/// The greatest value at a corner, where as many rows and axes as there are variables hold with equality; nullopt where
/// there is none. Where x >= 0, a program that is feasible has a corner, and one that is bounded its maximum there.
std::optional<Rational> best_corner(const LinearProgram& program) {
  const std::size_t variables = program.gain.size();
  auto rows = program.rows;
  auto limits = program.limits;
  for (std::size_t v = 0; v < variables; ++v) {
    rows.emplace_back(variables, 0)[v] = -1;
    limits.push_back(0);
  }
  std::optional<Rational> best;
  for (std::uint32_t tight = 0; tight < std::uint32_t{1} << rows.size(); ++tight) {
    std::vector<std::vector<Rational>> equations;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if ((tight >> r & 1U) == 0) continue;
      equations.emplace_back(rows[r].begin(), rows[r].end());
      equations.back().emplace_back(limits[r]);
    }
    if (equations.size() != variables) continue;
    const auto x = solved(std::move(equations));
    if (!x) continue;
    const auto sum = [&](const std::vector<std::int64_t>& coefficients) {
      Rational value = 0;
      for (std::size_t v = 0; v < variables; ++v) value = value + Rational(coefficients[v]) * (*x)[v];
      return value;
    };
    bool feasible = true;
    for (std::size_t r = 0; r < rows.size(); ++r) feasible = feasible && !(Rational(limits[r]) < sum(rows[r]));
    if (feasible && (!best || *best < sum(program.gain))) best = sum(program.gain);
  }
  return best;
}

/// Whether some direction that stays inside gains: the same question about directions, in a box.
bool has_gaining_direction(const LinearProgram& program) {
  LinearProgram directions = program;
  directions.limits.assign(program.limits.size(), 0);
  directions.rows.emplace_back(program.gain.size(), 1);
  directions.limits.push_back(1);
  return best_corner(directions)->sign() > 0;
}

// support::maximum() also checks that the prices prove the maximum.
RC_GTEST_PROP(ExactLp, IsTheBestCornerOfRandomPrograms, ()) {
  LinearProgram program;
  const auto variables = *rc::gen::inRange<std::size_t>(1, 4);
  const auto number = [](int least, int most) { return std::int64_t{*rc::gen::inRange(least, most + 1)}; };
  for (std::size_t v = 0; v < variables; ++v) program.add_variable(number(-4, 4));
  for (auto rows = *rc::gen::inRange<std::size_t>(1, 5); rows > 0; --rows) {
    const auto row = program.add_row(number(-6, 9));
    for (auto& coefficient : program.rows[row]) coefficient = number(-4, 4);
  }
  const auto answer = support::solve(program);
  const auto best = best_corner(program);
  if (!best) {
    RC_ASSERT(answer.status == LpStatus::infeasible);
  } else if (has_gaining_direction(program)) {
    RC_ASSERT(answer.status == LpStatus::unbounded);
  } else {
    RC_ASSERT(answer.status == LpStatus::optimal);
    RC_ASSERT(answer.value == *best);
  }
}

RC_GTEST_PROP(Rational, IsWhatCrossProductsSay, ()) {
  const auto any = [] { return std::int64_t{*rc::gen::inRange(-40, 41)}; };
  const auto positive = [] { return std::int64_t{*rc::gen::inRange(1, 41)}; };
  const auto a = any();
  const auto b = positive();
  const auto c = any();
  const auto d = positive();
  const Rational x(a, b);
  const Rational y(c, d);
  RC_ASSERT((x == y) == (a * d == c * b));
  RC_ASSERT((x < y) == (a * d < c * b));
  RC_ASSERT(x + y == Rational(a * d + c * b, b * d));
  RC_ASSERT(x - y == Rational(a * d - c * b, b * d));
  RC_ASSERT(x * y == Rational(a * c, b * d));
  if (c != 0) RC_ASSERT(x / y == Rational(a * d, b * c));
  RC_ASSERT(x.is_whole() == (a % b == 0));
}

TEST(Rational, NoticesThatItDoesNotFit) {
  const Rational large(WideInt{1} << 100U);
  EXPECT_TRUE((large + large).fits());
  EXPECT_FALSE((large * large).fits());
  EXPECT_FALSE((large * large - large).fits());
  EXPECT_FALSE((Rational(1, 3) / large / large).fits());
}

}  // namespace
}  // namespace tenex
