// Prepares a region (exact rows, the lattice of its equalities, an interior point, its missing limits) and rounds into
// it.
//
// The usual set has an interior point that equal bandwidths or a few Newton steps find. Exact linear programs decide
// whether the set is empty or flat only where they do not.

#include "tenex/codesign/region.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "codesign/newton.hpp"
#include "codesign/region_data.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/graph/exact_lp.hpp"
#include "tenex/codesign/constraint.hpp"

namespace tenex::codesign {
namespace {

// Answers questions about a set of constraints by exact linear programs.
//
// The linear programs below, in the variables u = B - 1 >= 0.

/// a . B <= bound, or = bound, in 64-bit coefficients without common divisor.
struct ExactRow {
  std::vector<std::int64_t> coefficients;
  WideInt bound = 0;
  Relation relation = Relation::at_most;
};

/// A relative interior point of a feasible set, and the inequalities that hold with equality everywhere in it.
struct RelativeInterior {
  std::vector<double> point;
  std::vector<bool> tight;  ///< per row, then per dimension for B_i >= 1
};

Diagnostic system_too_long() {
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
  if (answer.status != LpStatus::optimal) return system_too_long();
  tight = answer.value.sign() <= 0;
  std::vector<double> point;
  for (std::size_t i = 0; i < dimensions; ++i) point.push_back(answer.point[i].in_double() + 1);
  return point;
}

/// Whether B >= 1 and the rows have a solution. Errors: numbers too long for 128 bits.
Result<bool> is_feasible(const std::vector<ExactRow>& rows, std::size_t dimensions) {
  const auto answer = maximize_exactly(std::vector<Rational>(dimensions, Rational(0)), as_lp_rows(rows, 0));
  if (answer.status == LpStatus::too_long) return system_too_long();
  return answer.status != LpStatus::infeasible;
}

/// The diagnostic for constraints that contradict each other; it names an irreducible subset. `rows` are the rows of
/// `constraints`.
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

/// The largest B_i of a feasible set, rounded up; infinite where it has no limit (or numbers are too long).
double largest(const std::vector<ExactRow>& rows, std::size_t dimensions, std::size_t which) {
  std::vector<Rational> objective(dimensions, Rational(0));
  objective[which] = Rational(1);
  const auto answer = maximize_exactly(objective, as_lp_rows(rows, 0));
  if (answer.status != LpStatus::optimal) return std::numeric_limits<double>::infinity();
  return (answer.value.in_double() + 1) * (1 + 1e-12);
}

}  // namespace
}  // namespace tenex::codesign

namespace tenex {
namespace {

using codesign::EqualityLattice;
using codesign::ExactRow;

/// Divides by the coefficients' common divisor. Bandwidths are whole, so the bound of an inequality is rounded down.
ExactRow reduced(const LinearConstraint& constraint) {
  ExactRow row{constraint.coefficients, constraint.bound, constraint.relation};
  WideInt common = 0;
  for (const auto coefficient : row.coefficients) common = common_divisor(coefficient, common);
  if (common > 1 && row.relation == Relation::equal) common = common_divisor(common, row.bound);
  if (common <= 1) return row;
  for (auto& coefficient : row.coefficients) coefficient /= static_cast<std::int64_t>(common);
  const WideInt quotient = row.bound / common;
  row.bound = quotient * common > row.bound ? quotient - 1 : quotient;
  return row;
}

Diagnostics check_constraints(std::size_t dimensions, const std::vector<LinearConstraint>& constraints) {
  Diagnostics errors;
  if (dimensions < 1 || dimensions > kMostOptimizedDimensions) {
    errors.push_back(input_error({}, fmt::format("{} dimensions", dimensions),
                                 fmt::format("the optimizer takes 1 to {}", kMostOptimizedDimensions)));
    return errors;
  }
  for (const auto& constraint : constraints) {
    ensure(constraint.coefficients.size() == dimensions, "a constraint has one coefficient per dimension");
    const auto [least, most] = std::minmax_element(constraint.coefficients.begin(), constraint.coefficients.end());
    if (*least < -kLargestCoefficient || *most > kLargestCoefficient) {
      errors.push_back(input_error(constraint.place, fmt::format("the numbers of \"{}\" are too long", constraint.text),
                                   "a coefficient has 58 bits"));
    }
  }
  return errors;
}

/// Builds the parts of a region from its rows.
class Builder {
 public:
  Builder(std::size_t dimensions, std::vector<LinearConstraint> constraints) : dimensions_(dimensions) {
    data_.dimensions = dimensions;
    data_.constraints = std::move(constraints);
    for (const auto& constraint : data_.constraints) rows_.push_back(reduced(constraint));
    tight_.assign(rows_.size() + dimensions, false);
  }

  Result<BandwidthRegion> run() {
    auto status = separate();
    if (!status) return status.errors();
    data_.interior = data_.is_point() ? std::vector<double>() : codesign::find_interior(data_.polytope, guess());
    if (data_.interior.empty()) {
      status = decide_exactly();
      if (!status) return status.errors();
    }
    find_limits();
    return BandwidthRegion(std::make_shared<const RegionData>(std::move(data_)));
  }

 private:
  [[nodiscard]] Diagnostic conflict() const {
    return codesign::explain_conflict(data_.constraints, rows_, dimensions_);
  }

  /// Sorts rows into equalities (with the lattice) and inequalities.
  Status separate() {
    data_.lattice = EqualityLattice(dimensions_);
    data_.polytope = {};
    data_.polytope.n = dimensions_;
    auto& polytope = data_.polytope;
    for (std::size_t i = 0; i < dimensions_; ++i) {
      const ExactRow floor = floor_of(i);
      if (tight_[rows_.size() + i]) {
        auto status = add_equality(floor);
        if (!status) return status;
      }
      // Where the bound of 1 B/s is tight, the row's bound is 0.5 B/s, so that the first n rows stay inequalities with
      // an interior.
      polytope.rows.insert(polytope.rows.end(), floor.coefficients.begin(), floor.coefficients.end());
      polytope.bounds.push_back(tight_[rows_.size() + i] ? -0.5 : -1.0);
    }
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      const bool empty = std::all_of(rows_[j].coefficients.begin(), rows_[j].coefficients.end(),
                                     [](auto coefficient) { return coefficient == 0; });
      if (empty && rows_[j].bound >= 0) continue;
      if (empty) return conflict();
      if (rows_[j].relation == Relation::equal || tight_[j]) {
        auto status = add_equality(rows_[j]);
        if (!status) return status;
        continue;
      }
      polytope.rows.insert(polytope.rows.end(), rows_[j].coefficients.begin(), rows_[j].coefficients.end());
      polytope.bounds.push_back(static_cast<double>(rows_[j].bound));
    }
    return success();
  }

  Status add_equality(const ExactRow& row) {
    switch (data_.lattice.add(row.coefficients, row.bound)) {
      case EqualityLattice::Added::contradictory:
        return conflict();
      case EqualityLattice::Added::too_long:
        return resource_error("the coefficients of the constraints' equalities are too long",
                              "they are solved in whole numbers of 128 bits", "use fewer digits");
      case EqualityLattice::Added::redundant:
        break;
      case EqualityLattice::Added::independent:
        auto& polytope = data_.polytope;
        polytope.equalities.insert(polytope.equalities.end(), row.coefficients.begin(), row.coefficients.end());
        polytope.targets.push_back(static_cast<double>(row.bound));
        break;
    }
    return success();
  }

  [[nodiscard]] ExactRow floor_of(std::size_t dimension) const {
    ExactRow floor{std::vector<std::int64_t>(dimensions_, 0), -1, Relation::at_most};
    floor.coefficients[dimension] = -1;
    return floor;
  }

  /// Equal bandwidths of the constraints' order of magnitude.
  [[nodiscard]] std::vector<double> guess() const {
    double most = 2;
    for (const auto& row : rows_) {
      double norm = 0;
      for (const auto coefficient : row.coefficients) norm += std::abs(static_cast<double>(coefficient));
      if (norm > 0) most = std::max(most, std::abs(static_cast<double>(row.bound)) / norm);
    }
    return std::vector<double>(dimensions_, most);
  }

  /// Called where no interior point was found: the set is empty, flat or very thin.
  Status decide_exactly() {
    const auto feasible = codesign::is_feasible(rows_, dimensions_);
    if (!feasible) return feasible.errors();
    if (!*feasible) return conflict();
    auto interior = codesign::relative_interior(rows_, dimensions_);
    if (!interior) return interior.errors();
    tight_ = interior->tight;
    const auto status = separate();
    if (!status) return status;
    // The exact point may lie near the boundary. Since the set is no longer flat, steps find a point deeper inside.
    if (!data_.is_point()) data_.interior = codesign::find_interior(data_.polytope, guess());
    if (data_.interior.empty()) data_.interior = std::move(interior->point);
    return success();
  }

  void find_limits() {
    data_.reaches_zero = std::all_of(rows_.begin(), rows_.end(), [](const ExactRow& row) {
      return row.relation == Relation::equal ? row.bound == 0 : row.bound >= 0;
    });
    // Each row limits a bandwidth by what the others leave. Where this gives no limit, a linear program decides.
    auto& most = data_.polytope.most;
    most.assign(dimensions_, std::numeric_limits<double>::infinity());
    for (std::size_t round = 0; round < dimensions_; ++round) {
      for (const auto& row : rows_) {
        limit(row, 1, most);
        if (row.relation == Relation::equal) limit(row, -1, most);
      }
    }
    for (std::size_t i = dimensions_; i-- > 0;) {
      if (!std::isinf(most[i])) continue;
      most[i] = codesign::largest(rows_, dimensions_, i);
      if (std::isinf(most[i])) data_.unlimited = i;
    }
  }

  /// Lowers the limits of the bandwidths to what a row, times `sign`, allows while the others are between 1 B/s and
  /// their limits.
  void limit(const ExactRow& row, int sign, std::vector<double>& most) const {
    constexpr double kRoundUp = 1 + 1e-12;
    for (std::size_t i = 0; i < dimensions_; ++i) {
      if (row.coefficients[i] * sign <= 0) continue;
      double left = static_cast<double>(row.bound) * sign;
      for (std::size_t other = 0; other < dimensions_; ++other) {
        const double coefficient = static_cast<double>(row.coefficients[other]) * sign;
        if (other != i && coefficient != 0) left -= coefficient * (coefficient > 0 ? 1.0 : most[other]);
      }
      most[i] = std::min(most[i], std::max(left / std::abs(static_cast<double>(row.coefficients[i])), 1.0) * kRoundUp);
    }
  }

  std::size_t dimensions_;
  RegionData data_;
  std::vector<ExactRow> rows_;
  std::vector<bool> tight_;  ///< per inequality, then per lower bound: whether it holds with equality everywhere
};

/// The part of the way from `from` to the interior point at which every row has enough slack for rounding.
double way_inside(const RegionData& data, std::span<const double> from) {
  double way = 0;
  const std::size_t n = data.dimensions;
  const auto& polytope = data.polytope;
  for (std::size_t j = 0; j < polytope.bounds.size(); ++j) {
    long double here = polytope.bounds[j];
    long double inside = polytope.bounds[j];
    for (std::size_t i = 0; i < n; ++i) {
      here -= static_cast<long double>(polytope.rows[j * n + i]) * static_cast<long double>(from[i]);
      inside -= static_cast<long double>(polytope.rows[j * n + i]) * static_cast<long double>(data.interior[i]);
    }
    // Half a unit of every free entry, and a little more for floating-point rounding.
    long double needed = 0;
    for (std::size_t column = data.lattice.rank(); column < n; ++column) {
      long double change = 0;
      for (std::size_t i = 0; i < n; ++i)
        change += static_cast<long double>(polytope.rows[j * n + i]) *
                  static_cast<long double>(data.lattice.entry(i, column));
      needed += 0.505L * std::abs(change);
    }
    if (needed == 0 || here >= needed) continue;
    const auto part = inside > here ? (needed - here) / (inside - here) : 1.0L;
    way = std::max(way, static_cast<double>(std::min(part, 1.0L)));
  }
  return way;
}

}  // namespace

std::size_t BandwidthRegion::dimensions() const { return data_->dimensions; }
const std::vector<LinearConstraint>& BandwidthRegion::constraints() const { return data_->constraints; }
std::optional<std::size_t> BandwidthRegion::unlimited_dimension() const { return data_->unlimited; }
bool BandwidthRegion::reaches_zero() const { return data_->reaches_zero; }

bool BandwidthRegion::contains(std::span<const Bandwidth> bandwidth) const {
  return std::all_of(bandwidth.begin(), bandwidth.end(), [](Bandwidth one) { return one.count() >= 1; }) &&
         std::all_of(data_->constraints.begin(), data_->constraints.end(),
                     [&](const auto& constraint) { return constraint.holds(bandwidth); });
}

BandwidthRegion::Rounded BandwidthRegion::round(std::span<const double> bandwidth) const {
  const auto as_bandwidths = [](const auto& numbers) {
    std::vector<Bandwidth> whole;
    for (const auto number : numbers) {
      constexpr WideInt kLargest = std::numeric_limits<std::int64_t>::max();
      whole.push_back(
          Bandwidth::of(static_cast<std::int64_t>(std::clamp<WideInt>(static_cast<WideInt>(number), 1, kLargest))));
    }
    return whole;
  };
  if (data_->lattice.has_whole_points()) {
    const double way = way_inside(*data_, bandwidth);
    std::vector<double> moved(bandwidth.begin(), bandwidth.end());
    for (const double length : {0.0, way, std::min(2 * way, 1.0), std::min(1000 * way, 1.0)}) {
      for (std::size_t i = 0; i < moved.size(); ++i)
        moved[i] = bandwidth[i] + length * (data_->interior[i] - bandwidth[i]);
      Rounded rounded{as_bandwidths(data_->lattice.round(moved)), true};
      if (contains(rounded.bandwidth)) return rounded;
    }
  }
  std::vector<long double> nearest;
  for (const double one : bandwidth) nearest.push_back(std::round(static_cast<long double>(one)));
  Rounded rounded{as_bandwidths(nearest), false};
  rounded.exact = contains(rounded.bandwidth);
  return rounded;
}

Result<BandwidthRegion> make_region(std::size_t dimensions, std::vector<LinearConstraint> constraints) {
  auto errors = check_constraints(dimensions, constraints);
  if (!errors.empty()) return errors;
  return Builder(dimensions, std::move(constraints)).run();
}

}  // namespace tenex
