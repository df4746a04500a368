// The linear programs of exact_region.hpp, in the variables u = B - 1 >= 0.
#include "codesign/exact_region.hpp"

#include <limits>
#include <optional>

#include <fmt/core.h>

#include "tenex/base/graph/exact_lp.hpp"

namespace tenex::codesign {
namespace {

Diagnostic too_long() {
  return resource_error("the constraints' numbers are too long to be decided exactly",
                        "rational arithmetic here has 128 bits", "use fewer digits");
}

/// coefficients . u <= bound - coefficients . 1, times `sign`, with `extra` more variables.
LpRow as_lp_row(const ExactRow& row, int sign, std::size_t extra) {
  LpRow lp{{}, Rational(row.bound * sign)};
  for (const auto coefficient : row.coefficients) {
    lp.coefficients.emplace_back(WideInt{coefficient} * sign);
    lp.bound = lp.bound - lp.coefficients.back();
  }
  lp.coefficients.resize(lp.coefficients.size() + extra, Rational(0));
  return lp;
}

std::vector<LpRow> as_lp_rows(const std::vector<ExactRow>& rows, std::size_t extra) {
  std::vector<LpRow> lp;
  for (const auto& row : rows) {
    lp.push_back(as_lp_row(row, 1, extra));
    if (row.relation == Relation::equal) lp.push_back(as_lp_row(row, -1, extra));
  }
  return lp;
}

/// The point of the set with the largest slack, up to a limit, in one inequality. Sets `tight` where that slack is
/// zero.
Result<std::vector<double>> loosest(const std::vector<ExactRow>& rows, std::size_t dimensions, const ExactRow& row,
                                    bool& tight) {
  constexpr WideInt kEnough = 1'000'000'000;  // 1 GB/s, so that no slack is infinite
  auto program = as_lp_rows(rows, 1);
  LpRow slack = as_lp_row(row, 1, 1);  // row . u + slack <= bound
  slack.coefficients.back() = Rational(1);
  program.push_back(slack);
  LpRow limit{std::vector<Rational>(dimensions + 1, Rational(0)), Rational(kEnough)};
  limit.coefficients.back() = Rational(1);
  program.push_back(limit);
  const auto answer = maximize_exactly(limit.coefficients, program);
  if (answer.status != LpStatus::optimal) return too_long();
  tight = answer.value.sign() <= 0;
  std::vector<double> point;
  for (std::size_t i = 0; i < dimensions; ++i) point.push_back(answer.point[i].in_double() + 1);
  return point;
}

}  // namespace

Result<bool> is_feasible(const std::vector<ExactRow>& rows, std::size_t dimensions) {
  const auto answer = maximize_exactly(std::vector<Rational>(dimensions, Rational(0)), as_lp_rows(rows, 0));
  if (answer.status == LpStatus::too_long) return too_long();
  return answer.status != LpStatus::infeasible;
}

Diagnostic explain_conflict(const std::vector<LinearConstraint>& constraints, const std::vector<ExactRow>& rows,
                            std::size_t dimensions) {
  std::vector<bool> needed(rows.size(), true);
  for (std::size_t candidate = rows.size(); candidate-- > 0;) {
    needed[candidate] = false;
    std::vector<ExactRow> rest;
    for (std::size_t j = 0; j < rows.size(); ++j)
      if (needed[j]) rest.push_back(rows[j]);
    const auto feasible = is_feasible(rest, dimensions);
    if (!feasible) return feasible.errors().front();
    needed[candidate] = *feasible;  // without it the rest is feasible: it belongs to the conflict
  }
  std::vector<const LinearConstraint*> conflict;
  for (std::size_t j = 0; j < rows.size(); ++j)
    if (needed[j]) conflict.push_back(&constraints[j]);
  if (conflict.size() == 1) {
    return input_error(conflict.front()->place, fmt::format("\"{}\" cannot hold", conflict.front()->text),
                       "every bandwidth is positive");
  }
  std::string list;
  for (std::size_t j = 0; j < conflict.size(); ++j) {
    if (j > 0) list += j + 1 == conflict.size() ? " and " : ", ";
    list += '"' + conflict[j]->text + '"';
  }
  return input_error(conflict.front()->place, fmt::format("the constraints {} contradict each other", list),
                     "no positive bandwidths meet all of them", "without any one of them the others can be met");
}

Result<RelativeInterior> relative_interior(const std::vector<ExactRow>& rows, std::size_t dimensions) {
  RelativeInterior interior{std::vector<double>(dimensions, 0), std::vector<bool>(rows.size() + dimensions, false)};
  double points = 0;
  const auto visit = [&](const ExactRow& row, std::size_t which) -> std::optional<Diagnostics> {
    bool tight = false;
    const auto point = loosest(rows, dimensions, row, tight);
    if (!point) return point.errors();
    interior.tight[which] = tight;
    for (std::size_t i = 0; i < dimensions; ++i) interior.point[i] += (*point)[i];
    points += 1;
    return std::nullopt;
  };
  for (std::size_t j = 0; j < rows.size(); ++j) {
    if (rows[j].relation == Relation::equal) continue;
    if (auto errors = visit(rows[j], j)) return *std::move(errors);
  }
  for (std::size_t i = 0; i < dimensions; ++i) {
    ExactRow floor{std::vector<std::int64_t>(dimensions, 0), -1, Relation::at_most};
    floor.coefficients[i] = -1;
    if (auto errors = visit(floor, rows.size() + i)) return *std::move(errors);
  }
  for (auto& coordinate : interior.point) coordinate /= points;
  return interior;
}

double largest(const std::vector<ExactRow>& rows, std::size_t dimensions, std::size_t which) {
  std::vector<Rational> objective(dimensions, Rational(0));
  objective[which] = Rational(1);
  const auto answer = maximize_exactly(objective, as_lp_rows(rows, 0));
  if (answer.status != LpStatus::optimal) return std::numeric_limits<double>::infinity();
  return (answer.value.in_double() + 1) * (1 + 1e-12);
}

}  // namespace tenex::codesign
