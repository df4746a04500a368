// Evaluating and collapsing T(B); the idea is in the header.
#include "tenex/codesign/time_model.hpp"

#include <algorithm>
#include <cmath>

#include "tenex/base/diagnostic.hpp"

namespace tenex {
namespace {

/// Volumes that differ by less than this part of the largest count as proportional.
constexpr double kProportional = 1e-13;

/// How many times `unit` fits in `volumes` when they are proportional; 0 when they are not.
double multiple_of(const std::vector<double>& unit, const std::vector<double>& volumes) {
  const auto largest = static_cast<std::size_t>(std::max_element(unit.begin(), unit.end()) - unit.begin());
  const double ratio = volumes[largest] / unit[largest];
  for (std::size_t i = 0; i < unit.size(); ++i)
    if (std::abs(volumes[i] - ratio * unit[i]) > kProportional * ratio * unit[largest]) return 0;
  return ratio;
}

void add_term(TimeModel& collapsed, const TimeTerm& term, double weight) {
  ensure(term.volumes.size() == collapsed.dimensions, "a term has one volume per dimension");
  const double largest = term.volumes.empty() ? 0 : *std::max_element(term.volumes.begin(), term.volumes.end());
  if (!(weight > 0) || !(largest > 0)) return;
  for (auto& known : collapsed.terms) {
    const double ratio = multiple_of(known.volumes, term.volumes);
    if (!(ratio > 0)) continue;
    known.weight += weight * ratio;
    return;
  }
  collapsed.terms.push_back({weight, term.volumes});
}

template <class Number>
double evaluate(const TimeModel& model, std::span<const Number> bandwidth) {
  ensure(bandwidth.size() == model.dimensions, "a split has one bandwidth per dimension");
  const auto in_double = [](Number amount) {
    if constexpr (std::is_same_v<Number, double>)
      return amount;
    else
      return static_cast<double>(amount.count());
  };
  double time = model.constant;
  for (const auto& term : model.terms) {
    double slowest = 0;
    for (std::size_t i = 0; i < model.dimensions; ++i)
      if (term.volumes[i] > 0) slowest = std::max(slowest, term.volumes[i] / in_double(bandwidth[i]));
    time += term.weight * slowest;
  }
  return time;
}

}  // namespace

TimeModel collapse(const TimeModel& model) {
  TimeModel collapsed{model.dimensions, model.constant, {}};
  for (const auto& term : model.terms) add_term(collapsed, term, term.weight);
  return collapsed;
}

TimeModel weighted_sum(std::span<const TimeModel> models, std::span<const double> weights) {
  ensure(!models.empty() && models.size() == weights.size(), "every workload of a set has a weight");
  TimeModel sum{models.front().dimensions, 0, {}};
  for (std::size_t which = 0; which < models.size(); ++which) {
    ensure(models[which].dimensions == sum.dimensions, "workloads of a set run on one network");
    sum.constant += weights[which] * models[which].constant;
    for (const auto& term : models[which].terms) add_term(sum, term, weights[which] * term.weight);
  }
  return sum;
}

double time_at(const TimeModel& model, std::span<const double> bandwidth) { return evaluate(model, bandwidth); }
double time_at(const TimeModel& model, std::span<const Bandwidth> bandwidth) { return evaluate(model, bandwidth); }

}  // namespace tenex
