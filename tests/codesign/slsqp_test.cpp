// NLopt's SLSQP (Kraft 1988), an independent solver, on the same problems: it finds nothing better, and its answers
// agree.
#include <gtest/gtest.h>
#include <nlopt.hpp>

#include "codesign/support.hpp"

namespace tenex {
namespace {

/// minimize sum of t_k and u_l over x = (B in units of `unit`, t and u in units of `second`), t_k B_i >= w_k V_ki and
/// u_l >= constant + the sum of t_k of each of its sides.
struct Smooth {
  double unit = 1;
  double second = 1;
  std::size_t dimensions = 0;
  std::size_t plain = 0;  ///< terms outside overlaps; the terms of the sides follow
  std::vector<TimeTerm> terms;
  struct Side {
    std::size_t begin = 0;
    std::size_t end = 0;
    double constant = 0;
  };
  std::vector<Side> sides;  ///< two per u

  Smooth(const TimeModel& model, double unit_, double second_)
      : unit(unit_), second(second_), dimensions(model.dimensions), plain(model.terms.size()), terms(model.terms) {
    for (const auto& overlap : model.overlaps) {
      for (const auto* side : {&overlap.first, &overlap.second}) {
        const std::size_t begin = terms.size();
        for (auto term : side->terms) {
          term.weight *= overlap.weight;
          terms.push_back(std::move(term));
        }
        sides.push_back({begin, terms.size(), overlap.weight * side->constant});
      }
    }
  }
  [[nodiscard]] std::size_t variables() const { return head(0) + sides.size() / 2; }
  [[nodiscard]] std::size_t head(std::size_t side) const { return dimensions + terms.size() + side / 2; }
};

struct Hyperbola {
  const Smooth* problem;
  std::size_t term;
  std::size_t dimension;
};

struct Later {
  const Smooth* problem;
  std::size_t side;
};

double sum_of_times(const std::vector<double>& x, std::vector<double>& gradient, void* data) {
  const auto& problem = *static_cast<const Smooth*>(data);
  const auto counts = [&](std::size_t j) {
    return j >= problem.head(0) || (j >= problem.dimensions && j < problem.dimensions + problem.plain);
  };
  double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += counts(j) ? x[j] : 0;
  for (std::size_t j = 0; j < gradient.size(); ++j) gradient[j] = counts(j) ? 1 : 0;
  return sum;
}

double below_hyperbola(const std::vector<double>& x, std::vector<double>& gradient, void* data) {
  const auto& which = *static_cast<const Hyperbola*>(data);
  const auto& problem = *which.problem;
  const auto& term = problem.terms[which.term];
  const std::size_t t = problem.dimensions + which.term;
  const double volume = term.weight * term.volumes[which.dimension] / problem.unit / problem.second;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  if (!gradient.empty()) {
    gradient[which.dimension] = -volume / (x[which.dimension] * x[which.dimension]);
    gradient[t] = -1;
  }
  return volume / x[which.dimension] - x[t];
}

double not_later(const std::vector<double>& x, std::vector<double>& gradient, void* data) {
  const auto& which = *static_cast<const Later*>(data);
  const auto& problem = *which.problem;
  const auto& side = problem.sides[which.side];
  std::fill(gradient.begin(), gradient.end(), 0.0);
  double value = side.constant / problem.second - x[problem.head(which.side)];
  for (std::size_t k = side.begin; k < side.end; ++k) value += x[problem.dimensions + k];
  if (!gradient.empty()) {
    gradient[problem.head(which.side)] = -1;
    for (std::size_t k = side.begin; k < side.end; ++k) gradient[problem.dimensions + k] = 1;
  }
  return value;
}

struct LinearRow {
  const LinearConstraint* row;
  double unit;
  std::size_t dimensions;
};

double linear_row(const std::vector<double>& x, std::vector<double>& gradient, void* data) {
  const auto& which = *static_cast<const LinearRow*>(data);
  std::fill(gradient.begin(), gradient.end(), 0.0);
  double norm = 0;
  for (const auto coefficient : which.row->coefficients) norm += std::abs(static_cast<double>(coefficient));
  double value = -static_cast<double>(which.row->bound) / which.unit / norm;
  for (std::size_t i = 0; i < which.dimensions; ++i) {
    value += static_cast<double>(which.row->coefficients[i]) / norm * x[i];
    if (!gradient.empty()) gradient[i] = static_cast<double>(which.row->coefficients[i]) / norm;
  }
  return value;
}

/// The time at the point that SLSQP returns in `bandwidth`. The point may violate constraints.
double slsqp_time(const TimeModel& model, const std::vector<LinearConstraint>& rows, double unit,
                  std::vector<double>& bandwidth) {
  const std::size_t n = model.dimensions;
  std::vector<double> start(n, unit);
  Smooth problem(model, unit, time_at(model, start) - model.constant);
  std::vector<Hyperbola> hyperbolas;
  for (std::size_t k = 0; k < problem.terms.size(); ++k)
    for (std::size_t i = 0; i < n; ++i)
      if (problem.terms[k].volumes[i] > 0) hyperbolas.push_back({&problem, k, i});
  std::vector<Later> later;
  for (std::size_t side = 0; side < problem.sides.size(); ++side) later.push_back({&problem, side});
  std::vector<LinearRow> linear;
  for (const auto& row : rows) linear.push_back({&row, unit, n});
  nlopt::opt solver(nlopt::LD_SLSQP, static_cast<unsigned>(problem.variables()));
  solver.set_min_objective(sum_of_times, &problem);
  for (auto& hyperbola : hyperbolas) solver.add_inequality_constraint(below_hyperbola, &hyperbola, 1e-10);
  for (auto& side : later) solver.add_inequality_constraint(not_later, &side, 1e-10);
  for (auto& row : linear) {
    if (row.row->relation == Relation::equal)
      solver.add_equality_constraint(linear_row, &row, 1e-10);
    else
      solver.add_inequality_constraint(linear_row, &row, 1e-10);
  }
  solver.set_lower_bounds(1e-6);
  solver.set_ftol_rel(1e-13);
  solver.set_maxeval(2000);
  std::vector<double> x(problem.variables(), 1.0);
  double best = 0;
  try {
    solver.optimize(x, best);
  } catch (const std::exception&) {  // NLopt reports rounding by an exception; the point is still usable
  }
  bandwidth.clear();
  for (std::size_t i = 0; i < n; ++i) bandwidth.push_back(x[i] * unit);
  return time_at(model, bandwidth);
}

/// Runs both solvers on 30 random models for each of three sets: SLSQP never finds a better answer, and mostly the
/// same.
template <class MakeModel>
void expect_agreement(const MakeModel& make_model) {
  const auto rates = support::libra_4d_rates();
  const std::vector<std::vector<std::string>> sets{
      {"total = 1000GB/s"},
      {"total = 1000GB/s", "B1 >= B2 >= B3", "25GB/s <= B3 <= 150GB/s"},
      {"total = 1000GB/s", "cost <= 40MUSD"},
  };
  int agreed = 0;
  int solved = 0;
  for (const auto& texts : sets) {
    const auto rows = support::constraints(4, texts, &rates);
    const auto set = support::region(4, texts, &rates);
    for (int round = 0; round < 30; ++round) {
      const TimeModel model = make_model(round);
      const auto best = split_bandwidth(SplitScheme::perf_opt, model, set, &rates);
      ASSERT_TRUE(best.ok()) << to_string(best.errors());
      std::vector<double> bandwidth;
      const double theirs = slsqp_time(model, rows, 2.5e11, bandwidth);
      double violation = 0;  // relative to the total
      for (const auto& row : rows) {
        double left = -static_cast<double>(row.bound);
        double norm = 0;
        for (std::size_t i = 0; i < 4; ++i) {
          left += static_cast<double>(row.coefficients[i]) * bandwidth[i];
          norm += std::abs(static_cast<double>(row.coefficients[i]));
        }
        violation = std::max(violation, (row.relation == Relation::equal ? std::abs(left) : left) / norm / 1e12);
      }
      if (violation > 1e-8) continue;  // SLSQP stopped outside the set
      ++solved;
      EXPECT_LE(best->time, theirs * (1 + 1e-6));
      if (theirs <= best->time * (1 + 1e-5)) ++agreed;
    }
  }
  EXPECT_GE(solved, 60);
  EXPECT_GE(agreed, solved * 8 / 10) << "of " << solved;
}

TEST(PerfOpt, AgreesWithSlsqp) {
  Random random(29);
  expect_agreement([&](int) { return support::random_model(random, 4, 3); });
}

TEST(PerfOptWithOverlaps, AgreesWithSlsqp) {
  Random random(47);
  expect_agreement([&](int round) { return support::random_overlap_model(random, 4, round % 3, 1 + round % 2); });
}

}  // namespace
}  // namespace tenex
