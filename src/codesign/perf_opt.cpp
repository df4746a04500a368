// perf_opt: one convex solve. equal: the baseline, which needs none.
#include <optional>

#include <fmt/core.h>

#include "codesign/barrier.hpp"
#include "codesign/neighbours.hpp"
#include "codesign/region_data.hpp"
#include "codesign/splitting.hpp"
#include "tenex/base/rational.hpp"

namespace tenex::codesign {
namespace {

constexpr double kWorstGap = 1e-9;  ///< above this gap, whole bandwidths farther off are searched

Diagnostic without_limit(std::size_t dimension, std::string_view scheme) {
  return input_error({}, fmt::format("{} has no best split", scheme),
                     fmt::format("nothing limits B{} from above, and more bandwidth is never slower", dimension + 1),
                     fmt::format("add a total bandwidth, a total cost or \"B{} <= ...\"", dimension + 1));
}

/// The range of t for which B_i = t meets all rows, and the rows that limit it.
struct EqualRange {
  std::optional<Rational> least, most;
  const LinearConstraint* at_least = nullptr;
  const LinearConstraint* at_most = nullptr;

  void limit_above(const Rational& bound, const LinearConstraint& row) {
    if (most && !(bound < *most)) return;
    most = bound;
    at_most = &row;
  }
  void limit_below(const Rational& bound, const LinearConstraint& row) {
    if (least && !(*least < bound)) return;
    least = bound;
    at_least = &row;
  }
};

Diagnostic no_equal_split(const LinearConstraint& row, const LinearConstraint* other) {
  const std::string with = other == nullptr || other == &row ? "" : fmt::format(" together with \"{}\"", other->text);
  return input_error(row.place, fmt::format("equal bandwidths cannot meet \"{}\"{}", row.text, with),
                     "the scheme equal gives every dimension the same bandwidth", "use another scheme or relax it");
}

}  // namespace

Result<BandwidthSplit> split_for_time(const SplitCase& given) {
  const auto& data = given.region.data();
  if (data.unlimited) return without_limit(*data.unlimited, "perf_opt");
  ConvexAnswer answer{data.interior, 0, 0, 0};
  const bool chosen = !data.is_point() && !(given.model.terms.empty() && given.model.overlaps.empty());
  if (chosen) {
    answer = solve_convex(time_problem(given), data.interior, given.options.time_gap, given.model.constant);
  } else {
    answer.value = answer.lower = time_at(given.model, data.interior) - given.model.constant;
  }
  BandwidthSplit split = rounded_split(given, answer.x);
  split.lower_bound = answer.lower + given.model.constant;
  split.objective = split.time;
  const auto time = [](const BandwidthSplit& of) { return of.time; };
  if (relative_gap(split.objective, split.lower_bound) > given.options.time_gap) step_to_neighbours(given, time, split);
  if (relative_gap(split.objective, split.lower_bound) > kWorstGap) search_around(given, time, split);
  split.relative_gap = relative_gap(split.objective, split.lower_bound);
  split.solver_gap = relative_gap(answer.value + given.model.constant, split.lower_bound);
  split.solves = chosen ? 1 : 0;
  split.newton_steps = answer.steps;
  return split;
}

Result<BandwidthSplit> split_equally(const SplitCase& given) {
  EqualRange range;
  for (const auto& row : given.region.constraints()) {
    WideInt sum = 0;
    for (const auto coefficient : row.coefficients) sum += coefficient;
    if (sum == 0) {
      if (row.relation == Relation::equal ? row.bound != 0 : row.bound < 0) return no_equal_split(row, nullptr);
      continue;
    }
    const Rational bound(row.bound, sum);
    if (sum > 0 || row.relation == Relation::equal) range.limit_above(bound, row);
    if (sum < 0 || row.relation == Relation::equal) range.limit_below(bound, row);
  }
  if (!range.most) return without_limit(0, "equal");
  if (range.most->sign() <= 0 || (range.least && *range.most < *range.least))
    return no_equal_split(*range.at_most, range.at_least);
  const std::vector<double> equal(given.region.dimensions(), range.most->in_double());
  BandwidthSplit split = rounded_split(given, equal);
  split.objective = split.lower_bound = split.time;
  return split;
}

}  // namespace tenex::codesign
