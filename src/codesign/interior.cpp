// Finds a point inside all rows: the guess if it is inside, else by a barrier method that minimizes the rows'
// violation.
#include <algorithm>
#include <cmath>
#include <limits>

#include "codesign/barrier.hpp"
#include "codesign/central_path.hpp"

namespace tenex::codesign {
namespace {

/// The depth of a point inside all rows: the least slack relative to the row's norm at the point.
double margin(const ConvexProblem& problem, std::span<const double> x) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < problem.bounds.size(); ++j) {
    double slack = problem.bounds[j];
    double norm = 0;
    for (std::size_t i = 0; i < problem.n; ++i) {
      const double part = problem.rows[j * problem.n + i] * x[i];
      slack -= part;
      norm += std::abs(part);
    }
    least = std::min(least, slack / norm);
  }
  return least;
}

/// The point nearest to `x`, in units of `scale`, that meets the equalities.
void project(const ConvexProblem& problem, std::span<const double> scale, std::vector<double>& x) {
  const std::size_t n = problem.n;
  const std::size_t count = problem.targets.size();
  if (count == 0) return;
  DenseMatrix identity(n);
  for (std::size_t i = 0; i < n; ++i) identity.at(i, i) = 1;
  std::vector<double> rows(problem.equalities);
  std::vector<double> residual(problem.targets);
  for (std::size_t q = 0; q < count; ++q) {
    double norm = 0;
    for (std::size_t i = 0; i < n; ++i) {
      residual[q] -= rows[q * n + i] * x[i];
      norm += std::abs(rows[q * n + i] *= scale[i]);
    }
    for (std::size_t i = 0; i < n; ++i) rows[q * n + i] /= norm;
    residual[q] /= norm;
  }
  const std::vector<double> gradient(n, 0.0);
  std::vector<double> step(n);
  std::vector<double> multipliers(count);
  solve_newton(identity, rows, gradient, residual, step, multipliers);
  for (std::size_t i = 0; i < n; ++i) x[i] += step[i] * scale[i];
}

/// The problem with one more variable s >= -1, which relaxes all rows but the lower bounds: minimize s.
ConvexProblem relaxed(const ConvexProblem& problem, std::span<const double> x) {
  const std::size_t n = problem.n;
  ConvexProblem wider;
  wider.n = n + 1;
  wider.linear.assign(n + 1, 0.0);
  wider.linear[n] = 1;
  const auto copy_rows = [&](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t j = 0; j * n < from.size(); ++j) {
      to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(j * n),
                from.begin() + static_cast<std::ptrdiff_t>((j + 1) * n));
      to.push_back(0);
    }
  };
  copy_rows(problem.equalities, wider.equalities);
  wider.targets = problem.targets;
  copy_rows(problem.rows, wider.rows);
  wider.bounds = problem.bounds;
  std::vector<double> least(n + 1, 0.0);
  least[n] = -1;
  wider.most = problem.most;
  wider.most.push_back(std::numeric_limits<double>::infinity());
  const auto place = static_cast<std::ptrdiff_t>(n);
  wider.rows.insert(wider.rows.begin() + place * (place + 1), least.begin(), least.end());
  wider.bounds.insert(wider.bounds.begin() + place, 1.0);
  for (std::size_t j = n + 1; j < wider.bounds.size(); ++j) {
    double norm = 0;
    for (std::size_t i = 0; i < n; ++i) norm += std::abs(wider.rows[j * (n + 1) + i] * x[i]);
    wider.rows[j * (n + 1) + n] = -norm;
  }
  return wider;
}

}  // namespace

std::vector<double> find_interior(const ConvexProblem& problem, std::span<const double> guess) {
  constexpr double kInside = 1e-3;       // deep enough to stop
  constexpr double kLeastInside = 1e-9;  // below this, the set may have no interior
  constexpr int kMostProjections = 100;
  const std::size_t n = problem.n;
  std::vector<double> x(guess.begin(), guess.end());
  for (int round = 0; round < kMostProjections; ++round) {
    project(problem, guess, x);
    bool positive = true;
    for (std::size_t i = 0; i < n; ++i) positive = positive && x[i] > 0.01 * guess[i];
    if (positive) break;
    if (round + 1 == kMostProjections) return {};
    for (std::size_t i = 0; i < n; ++i) x[i] = std::max(x[i], 0.02 * guess[i]);
  }
  double inside = margin(problem, x);
  if (inside > kInside) return x;
  const ConvexProblem wider = relaxed(problem, x);
  std::vector<double> start = x;
  start.push_back(1.1 * std::max(-inside, 0.0) + 0.1);
  CentralPath path(wider, start);
  double barrier = 1.0 / static_cast<double>(path.barriers());
  for (int step = 0; step < kMostNewtonSteps && barrier > 1e-13; ++step) {
    const bool moved = path.centre(barrier, kCentred, 1);
    if (step % 3 == 2) barrier *= 0.1;
    auto point = path.point();
    point.pop_back();
    const double now = margin(problem, point);
    if (now > inside) {
      inside = now;
      x = std::move(point);
    }
    if (inside > kInside || !moved) break;
  }
  if (inside < kLeastInside) x.clear();
  return x;
}

}  // namespace tenex::codesign
