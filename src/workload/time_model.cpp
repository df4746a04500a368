// Evaluates and collapses T(B); the header has the formula.
//
// An overlap is brought into a normal form. The part that both sides share is moved out, because
// max(a + c, b + c) = c + max(a, b). A side that is never the later one disappears. Overlaps whose sides are then
// proportional are merged.
#include "tenex/workload/time_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tenex/base/diagnostic.hpp"

namespace tenex {
namespace {

/// Volumes that differ by less than this part of the largest count as proportional.
constexpr double kProportional = 1e-13;

/// The factor between `volumes` and `unit` when they are proportional; 0 when they are not.
double multiple_of(const std::vector<double>& unit, const std::vector<double>& volumes) {
  const auto largest = static_cast<std::size_t>(std::max_element(unit.begin(), unit.end()) - unit.begin());
  const double ratio = volumes[largest] / unit[largest];
  for (std::size_t i = 0; i < unit.size(); ++i)
    if (std::abs(volumes[i] - ratio * unit[i]) > kProportional * ratio * unit[largest]) return 0;
  return ratio;
}

void add_term(std::vector<TimeTerm>& terms, const TimeTerm& term, double weight) {
  const double largest = term.volumes.empty() ? 0 : *std::max_element(term.volumes.begin(), term.volumes.end());
  if (!(weight > 0) || !(largest > 0)) return;
  for (auto& known : terms) {
    const double ratio = multiple_of(known.volumes, term.volumes);
    if (!(ratio > 0)) continue;
    known.weight += weight * ratio;
    return;
  }
  terms.push_back({weight, term.volumes});
}

/// Whether two amounts are equal except for rounding.
bool about_equal(double a, double b) { return std::abs(a - b) <= kProportional * std::max(a, b); }

/// `sum` with proportional terms merged; its constant is not negative.
TimeSum collapsed_sum(const TimeSum& sum) {
  TimeSum result{sum.constant, {}};
  for (const auto& term : sum.terms) add_term(result.terms, term, term.weight);
  return result;
}

/// Moves the part that both sides share out of them. Returns that part.
TimeSum take_common(TimeSum& first, TimeSum& second) {
  TimeSum common{std::min(first.constant, second.constant), {}};
  first.constant -= common.constant;
  second.constant -= common.constant;
  for (auto& one : first.terms) {
    for (auto& other : second.terms) {
      const double ratio = multiple_of(one.volumes, other.volumes);
      if (!(ratio > 0)) continue;
      const double shared = std::min(one.weight, other.weight * ratio);
      const bool all_of_both = about_equal(one.weight, other.weight * ratio);
      common.terms.push_back({shared, one.volumes});
      other.weight = all_of_both || other.weight * ratio <= shared ? 0 : other.weight - shared / ratio;
      one.weight = all_of_both || one.weight <= shared ? 0 : one.weight - shared;
      break;
    }
  }
  const auto is_used_up = [](const TimeTerm& term) { return term.weight == 0; };
  std::erase_if(first.terms, is_used_up);
  std::erase_if(second.terms, is_used_up);
  return common;
}

bool is_zero(const TimeSum& sum) { return sum.constant == 0 && sum.terms.empty(); }

/// The factor between `sum` and `unit`, term by term in their order; 0 when they are not proportional.
double multiple_of(const TimeSum& unit, const TimeSum& sum) {
  if (unit.terms.size() != sum.terms.size()) return 0;
  double ratio = unit.constant > 0 ? sum.constant / unit.constant : 0;
  for (std::size_t k = 0; k < unit.terms.size(); ++k) {
    const double part =
        multiple_of(unit.terms[k].volumes, sum.terms[k].volumes) * sum.terms[k].weight / unit.terms[k].weight;
    if (ratio == 0) ratio = part;
    if (!(part > 0) || !about_equal(part, ratio)) return 0;
  }
  return about_equal(unit.constant * ratio, sum.constant) ? ratio : 0;
}

/// The factor between these sides and the overlap `unit`; 0 when they are not proportional.
double multiple_of(const TimeOverlap& unit, const TimeSum& first, const TimeSum& second) {
  const double ratio = multiple_of(unit.first, first);
  return ratio > 0 && about_equal(ratio, multiple_of(unit.second, second)) ? ratio : 0;
}

void add_sum(TimeModel& collapsed, const TimeSum& sum, double weight) {
  collapsed.constant += weight * sum.constant;
  for (const auto& term : sum.terms) add_term(collapsed.terms, term, weight * term.weight);
}

void add_overlap(TimeModel& collapsed, const TimeOverlap& overlap, double weight) {
  if (!(weight > 0)) return;
  auto first = collapsed_sum(overlap.first);
  auto second = collapsed_sum(overlap.second);
  add_sum(collapsed, take_common(first, second), weight);
  // No amount is negative, so a side of zero is never the later one.
  if (is_zero(first) || is_zero(second)) return add_sum(collapsed, is_zero(first) ? second : first, weight);
  for (auto& known : collapsed.overlaps) {
    double ratio = multiple_of(known, first, second);
    if (!(ratio > 0)) ratio = multiple_of(known, second, first);
    if (!(ratio > 0)) continue;
    known.weight += weight * ratio;
    return;
  }
  collapsed.overlaps.push_back({weight, std::move(first), std::move(second)});
}

void add_model(TimeModel& collapsed, const TimeModel& model, double weight) {
  ensure(model.dimensions == collapsed.dimensions, "workloads of a set run on one network");
  const auto check = [&](const std::vector<TimeTerm>& terms) {
    for (const auto& term : terms)
      ensure(term.volumes.size() == collapsed.dimensions, "a term has one volume per dimension");
  };
  check(model.terms);
  collapsed.constant += weight * model.constant;
  for (const auto& term : model.terms) add_term(collapsed.terms, term, weight * term.weight);
  for (const auto& overlap : model.overlaps) {
    check(overlap.first.terms);
    check(overlap.second.terms);
    add_overlap(collapsed, overlap, weight * overlap.weight);
  }
}

double in_double(double amount) { return amount; }
double in_double(Bandwidth amount) { return static_cast<double>(amount.count()); }

template <class Number>
double evaluate(double constant, const std::vector<TimeTerm>& terms, std::span<const Number> bandwidth) {
  double time = constant;
  for (const auto& term : terms) {
    double slowest = 0;
    for (std::size_t i = 0; i < bandwidth.size(); ++i)
      if (term.volumes[i] > 0) slowest = std::max(slowest, term.volumes[i] / in_double(bandwidth[i]));
    time += term.weight * slowest;
  }
  return time;
}

template <class Number>
double evaluate(const TimeModel& model, std::span<const Number> bandwidth) {
  ensure(bandwidth.size() == model.dimensions, "a split has one bandwidth per dimension");
  double time = evaluate(model.constant, model.terms, bandwidth);
  for (const auto& overlap : model.overlaps)
    time += overlap.weight * std::max(evaluate(overlap.first.constant, overlap.first.terms, bandwidth),
                                      evaluate(overlap.second.constant, overlap.second.terms, bandwidth));
  return time;
}

}  // namespace

TimeModel collapse(const TimeModel& model) {
  TimeModel collapsed{model.dimensions, 0, {}, {}};
  add_model(collapsed, model, 1);
  return collapsed;
}

TimeModel weighted_sum(std::span<const TimeModel> models, std::span<const double> weights) {
  ensure(!models.empty() && models.size() == weights.size(), "every workload of a set has a weight");
  TimeModel sum{models.front().dimensions, 0, {}, {}};
  for (std::size_t which = 0; which < models.size(); ++which) add_model(sum, models[which], weights[which]);
  return sum;
}

double time_at(const TimeModel& model, std::span<const double> bandwidth) { return evaluate(model, bandwidth); }
double time_at(const TimeModel& model, std::span<const Bandwidth> bandwidth) { return evaluate(model, bandwidth); }

}  // namespace tenex
