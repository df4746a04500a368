// The central path of a ConvexProblem: Newton steps at one barrier parameter, and the bound that a point proves.
//
// Internally, every variable is scaled by its starting value, the objective by its value there, and rows by their norm,
// so that all numbers start near 1 whatever the units.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "codesign/barrier.hpp"
#include "codesign/newton.hpp"
#include "codesign/overlap_part.hpp"

namespace tenex::codesign {

inline constexpr double kFraction = 0.95;     ///< largest step, as a part of the way to the boundary
inline constexpr double kCentred = 0.05;      ///< squared Newton decrement at which a centre is good enough
inline constexpr int kMostNewtonSteps = 500;  ///< per centre
inline constexpr int kMostHalvings = 30;

/// The least s / x + p x over least <= x <= most; `most` may be infinite.
inline double least_in_box(double s, double p, double least, double most) {
  const auto at = [&](double x) { return std::isinf(x) ? (p < 0 ? -x : 0.0) : s / x + p * x; };
  if (p <= 0 || s > p * most * most) return at(most);
  if (s < p * least * least) return at(least);
  return 2 * std::sqrt(s * p);
}

/// A point that moves along the central path.
class CentralPath {
 public:
  /// `start`: as in solve_convex().
  CentralPath(const ConvexProblem& problem, std::span<const double> start)
      : problem_(problem),
        n_(problem.n),
        terms_(n_ == 0 ? 0 : problem.volumes.size() / n_),
        row_count_(problem.bounds.size()),
        equality_count_(problem.targets.size()),
        plain_(std::accumulate(problem.sides.begin(), problem.sides.end(), terms_,
                               [](std::size_t rest, const SumSide& side) { return rest - side.terms; })),
        overlaps_(problem, plain_),
        scale_(start.begin(), start.end()) {
    scale_objective(start);
    scale_rows();
    x_.assign(n_, 1.0);
    t_.resize(terms_ + overlaps_.count());
    for (std::size_t k = 0; k < terms_; ++k) t_[k] = 1.5 * largest_volume(k);
    overlaps_.start(t_);
    slack_.resize(row_count_);
    gap_.resize(terms_ * n_);
    gradient_t_.resize(t_.size());
    hessian_t_.resize(terms_);
    step_t_.resize(t_.size());
    multipliers_.resize(equality_count_);
    price_.assign(equality_count_, 0.0);
    residual_.resize(equality_count_);
  }

  /// Takes Newton steps toward the centre of `barrier`. Returns false when no further step is possible.
  bool centre(double barrier, double tolerance, int most_steps = kMostNewtonSteps) {
    barrier_ = barrier;
    for (int step = 0; step < most_steps; ++step) {
      evaluate();
      solve_step();
      ++steps_;
      const double decrement = -slope_;
      // At the centre, rounding may leave no descending step.
      if (!(decrement > 0) || !std::isfinite(decrement)) return step > 0 || std::abs(decrement) < kCentred;
      if (!advance()) return decrement < kCentred;
      if (decrement < tolerance) return true;
    }
    return true;
  }

  /// A lower bound on the scaled objective from the multipliers at this point, corrected by a Newton step.
  double lower_bound() {
    evaluate();
    solve_step();
    std::array<double, kMostVariables> sum{};    // s
    std::array<double, kMostVariables> price{};  // p
    for (std::size_t k = 0; k < plain_; ++k) add_shares(k, 1, sum);
    double bound = 0;
    for (std::size_t which = 0; which < overlaps_.sides().size(); ++which) {
      const auto& side = overlaps_.sides()[which];
      const double share = overlaps_.share(which);
      for (std::size_t k = side.begin; k < side.end; ++k) add_shares(k, share, sum);
      bound += share * side.constant;
    }
    for (std::size_t i = 0; i < n_; ++i) price[i] = linear_[i];
    for (std::size_t q = 0; q < equality_count_; ++q) {
      for (std::size_t i = 0; i < n_; ++i) price[i] += price_[q] * equality_[q * n_ + i];
      bound -= price_[q] * target_[q];
    }
    for (std::size_t j = n_; j < row_count_; ++j) {
      double rise = 0;
      for (std::size_t i = 0; i < n_; ++i) rise += row_[j * n_ + i] * step_[i];
      const double multiplier = barrier_ / slack_[j] * std::max(1 + rise / slack_[j], 0.0);
      for (std::size_t i = 0; i < n_; ++i) price[i] += multiplier * row_[j * n_ + i];
      bound -= multiplier * bound_[j];
    }
    for (std::size_t i = 0; i < n_; ++i) {
      const double least = bound_[i] / row_[i * n_ + i];
      bound += least_in_box(sum[i], price[i], least, problem_.most[i] / scale_[i]);
    }
    return bound;
  }

  [[nodiscard]] std::vector<double> point() const {
    std::vector<double> x(n_);
    for (std::size_t i = 0; i < n_; ++i) x[i] = x_[i] * scale_[i];
    return x;
  }
  /// The objective at this point, scaled.
  [[nodiscard]] double value() const {
    const auto slowest = [this](std::size_t k) {
      double time = 0;
      for (std::size_t i = 0; i < n_; ++i) time = std::max(time, volume_[k * n_ + i] / x_[i]);
      return time;
    };
    double sum = overlaps_.value(slowest);
    for (std::size_t k = 0; k < plain_; ++k) sum += slowest(k);
    for (std::size_t i = 0; i < n_; ++i) sum += linear_[i] * x_[i];
    return sum;
  }
  [[nodiscard]] double unit() const { return unit_; }
  [[nodiscard]] std::size_t barriers() const { return row_count_ + terms_ * n_ + overlaps_.sides().size(); }
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  [[nodiscard]] std::ptrdiff_t offset(std::size_t term) const { return static_cast<std::ptrdiff_t>(term * n_); }
  /// A term's time where every scaled x_i is 1.
  [[nodiscard]] double largest_volume(std::size_t k) const {
    return *std::max_element(volume_.begin() + offset(k), volume_.begin() + offset(k + 1));
  }

  void scale_objective(std::span<const double> start) {
    volume_ = problem_.volumes;
    linear_.assign(n_, 0.0);
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t k = 0; k < terms_; ++k) volume_[k * n_ + i] /= start[i];
      if (!problem_.linear.empty()) linear_[i] = problem_.linear[i] * start[i];
    }
    unit_ = overlaps_.value([this](std::size_t k) { return largest_volume(k); });
    for (std::size_t k = 0; k < plain_; ++k) unit_ += largest_volume(k);
    for (const double part : linear_) unit_ += std::abs(part);
    if (!(unit_ > 0)) unit_ = 1;
    for (auto& volume : volume_) volume /= unit_;
    for (auto& part : linear_) part /= unit_;
    overlaps_.scale(1 / unit_);
  }

  /// Scales rows and bounds to the scaled variables, each row to norm 1.
  void scale_rows() {
    const auto scaled = [&](const std::vector<double>& rows, const std::vector<double>& bounds,
                            std::vector<double>& row, std::vector<double>& bound) {
      row = rows;
      bound = bounds;
      for (std::size_t j = 0; j < bounds.size(); ++j) {
        double norm = 0;
        for (std::size_t i = 0; i < n_; ++i) norm += std::abs(row[j * n_ + i] *= scale_[i]);
        for (std::size_t i = 0; i < n_; ++i) row[j * n_ + i] /= norm;
        bound[j] /= norm;
      }
    };
    scaled(problem_.rows, problem_.bounds, row_, bound_);
    scaled(problem_.equalities, problem_.targets, equality_, target_);
  }

  /// Adds a term's volumes, each times its multiplier l_ki; the multipliers sum to `whole`.
  void add_shares(std::size_t k, double whole, std::array<double, kMostVariables>& sum) const {
    std::array<double, kMostVariables> share{};
    double total = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (volume_[k * n_ + i] <= 0) continue;
      const double gap = gap_[k * n_ + i];
      const double rise = t_[k] * step_[i] + x_[i] * step_t_[k];
      share[i] = std::max((x_[i] + step_[i]) / gap * (1 - rise / gap), 0.0);
      total += share[i];
    }
    for (std::size_t i = 0; i < n_; ++i)
      if (share[i] > 0) sum[i] += whole * share[i] / total * volume_[k * n_ + i];
  }

  /// Computes the gradient and the Hessian of objective / barrier + barriers; all variables but x are eliminated from
  /// the Hessian.
  void evaluate() {
    hessian_ = DenseMatrix(n_);
    for (std::size_t i = 0; i < n_; ++i) gradient_[i] = linear_[i] / barrier_;
    for (std::size_t j = 0; j < row_count_; ++j) add_row(j);
    for (std::size_t k = 0; k < plain_; ++k) add_term(k, 1 / barrier_);
    overlaps_.take_slacks(t_);
    for (const auto& side : overlaps_.sides())
      for (std::size_t k = side.begin; k < side.end; ++k) add_term(k, 1 / side.slack);
    const auto mixed_or_zero = [this](std::size_t k, std::size_t i) {
      return volume_[k * n_ + i] > 0 ? mixed(k, i) : 0.0;
    };
    overlaps_.eliminate(barrier_, mixed_or_zero, gradient_t_, hessian_t_, hessian_);
    for (std::size_t q = 0; q < equality_count_; ++q) {
      residual_[q] = target_[q];
      for (std::size_t i = 0; i < n_; ++i) residual_[q] -= equality_[q * n_ + i] * x_[i];
    }
  }

  void add_row(std::size_t j) {
    const double* row = &row_[j * n_];
    double slack = bound_[j];
    for (std::size_t i = 0; i < n_; ++i) slack -= row[i] * x_[i];
    slack_[j] = slack;
    const double inverse = 1 / slack;
    if (j < n_) {  // the row bounds only x_j
      const double part = row[j] * inverse;
      gradient_[j] += part;
      hessian_.at(j, j) += part * part;
      return;
    }
    for (std::size_t i = 0; i < n_; ++i) {
      if (row[i] == 0) continue;
      const double part = row[i] * inverse;
      gradient_[i] += part;
      for (std::size_t other = 0; other <= i; ++other) hessian_.at(i, other) += part * row[other] * inverse;
    }
  }

  /// Adds a term. `gradient` is the gradient of t_k without its own barrier.
  void add_term(std::size_t k, double gradient) {
    const double* volume = &volume_[k * n_];
    double hessian = 0;
    auto& mixed = mixed_scratch_;
    for (std::size_t i = 0; i < n_; ++i) {
      mixed[i] = 0;
      if (volume[i] <= 0) continue;
      const double gap = t_[k] * x_[i] - volume[i];
      gap_[k * n_ + i] = gap;
      const double inverse = 1 / gap;
      gradient -= x_[i] * inverse;
      hessian += x_[i] * inverse * x_[i] * inverse;
      gradient_[i] -= t_[k] * inverse;
      hessian_.at(i, i) += t_[k] * inverse * t_[k] * inverse;
      mixed[i] = volume[i] * inverse * inverse;
    }
    gradient_t_[k] = gradient;
    hessian_t_[k] = hessian;
    for (std::size_t i = 0; i < n_; ++i) {
      if (mixed[i] == 0) continue;
      const double part = mixed[i] / hessian;
      for (std::size_t other = 0; other <= i; ++other) hessian_.at(i, other) -= part * mixed[other];
    }
  }

  /// Computes the Newton step from the last evaluate(), and the slope of the function along it.
  void solve_step() {
    std::array<double, kMostVariables> reduced{};
    for (std::size_t i = 0; i < n_; ++i) reduced[i] = gradient_[i];
    for (std::size_t k = 0; k < terms_; ++k)
      for (std::size_t i = 0; i < n_; ++i)
        if (volume_[k * n_ + i] > 0) reduced[i] -= mixed(k, i) / hessian_t_[k] * gradient_t_[k];
    overlaps_.reduce(gradient_t_, reduced);
    // The last multipliers are subtracted first. Near the centre little is then left to solve for, so little cancels.
    for (std::size_t q = 0; q < equality_count_; ++q)
      for (std::size_t i = 0; i < n_; ++i) reduced[i] += price_[q] / barrier_ * equality_[q * n_ + i];
    solve_newton(hessian_, equality_, std::span(reduced).first(n_), residual_, std::span(step_).first(n_),
                 multipliers_);
    for (std::size_t q = 0; q < equality_count_; ++q) price_[q] += barrier_ * multipliers_[q];
    // The equalities do not change along a step, so their part of the objective is only rounding.
    slope_ = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      priced_[i] = linear_[i];
      for (std::size_t q = 0; q < equality_count_; ++q) priced_[i] += price_[q] * equality_[q * n_ + i];
      slope_ += (gradient_[i] + (priced_[i] - linear_[i]) / barrier_) * step_[i];
    }
    for (std::size_t k = 0; k < terms_; ++k) {
      double side = gradient_t_[k];
      for (std::size_t i = 0; i < n_; ++i)
        if (volume_[k * n_ + i] > 0) side += mixed(k, i) * step_[i];
      step_t_[k] = -side / hessian_t_[k];
    }
    overlaps_.complete(step_, gradient_t_, hessian_t_, step_t_);
    for (std::size_t k = 0; k < t_.size(); ++k) slope_ += gradient_t_[k] * step_t_[k];
  }

  [[nodiscard]] double mixed(std::size_t k, std::size_t i) const {
    const double inverse = 1 / gap_[k * n_ + i];
    return volume_[k * n_ + i] * inverse * inverse;
  }

  /// The largest step that stays inside, up to 1 / kFraction.
  [[nodiscard]] double room() const {
    double most = 1 / kFraction;
    for (std::size_t j = 0; j < row_count_; ++j) {
      double rise = 0;
      if (j < n_) {
        rise = row_[j * n_ + j] * step_[j];
      } else {
        for (std::size_t i = 0; i < n_; ++i) rise += row_[j * n_ + i] * step_[i];
      }
      if (rise * most > slack_[j]) most = slack_[j] / rise;
    }
    for (std::size_t k = 0; k < terms_; ++k) {
      for (std::size_t i = 0; i < n_; ++i) {
        if (volume_[k * n_ + i] <= 0) continue;
        // gap + first * a + second * a^2 > 0 until its first positive root.
        const double gap = gap_[k * n_ + i];
        const double first = t_[k] * step_[i] + x_[i] * step_t_[k];
        const double second = step_t_[k] * step_[i];
        if (gap + most * (first + most * second) > 0 && (first >= 0 || second <= 0)) continue;
        const double root = std::sqrt(std::max(first * first - 4 * gap * second, 0.0));
        if (second > 0 && (first >= 0 || first * first < 4 * gap * second)) continue;
        const double denominator = root - first;
        if (denominator > 0) most = std::min(most, 2 * gap / denominator);
      }
    }
    for (const auto& side : overlaps_.sides())
      if (-side.step * most > side.slack) most = -side.slack / side.step;
    return most;
  }

  /// Moves along the step; halves it while the function rises. Returns false when no step is found.
  bool advance() {
    double length = std::min(1.0, kFraction * room());
    const auto old_x = x_;
    const auto old_t = t_;
    for (int halving = 0; halving < kMostHalvings; ++halving, length *= 0.5) {
      for (std::size_t i = 0; i < n_; ++i) x_[i] = old_x[i] + length * step_[i];
      for (std::size_t k = 0; k < t_.size(); ++k) t_[k] = old_t[k] + length * step_t_[k];
      if (inside() && slope_here() <= -0.5 * slope_) return true;
    }
    x_ = old_x;
    t_ = old_t;
    return false;
  }

  [[nodiscard]] bool inside() const {
    for (std::size_t j = 0; j < row_count_; ++j) {
      double slack = bound_[j];
      for (std::size_t i = 0; i < n_; ++i) slack -= row_[j * n_ + i] * x_[i];
      if (!(slack > 0)) return false;
    }
    for (std::size_t k = 0; k < terms_; ++k)
      for (std::size_t i = 0; i < n_; ++i)
        if (volume_[k * n_ + i] > 0 && !(t_[k] * x_[i] - volume_[k * n_ + i] > 0)) return false;
    for (std::size_t side = 0; side < overlaps_.sides().size(); ++side)
      if (!(overlaps_.slack(side, t_) > 0)) return false;
    return true;
  }

  /// The derivative along the step at the current point.
  [[nodiscard]] double slope_here() const {
    double slope = 0;
    for (std::size_t i = 0; i < n_; ++i) slope += priced_[i] / barrier_ * step_[i];
    for (std::size_t j = 0; j < row_count_; ++j) {
      double slack = bound_[j];
      double rise = 0;
      for (std::size_t i = 0; i < n_; ++i) {
        slack -= row_[j * n_ + i] * x_[i];
        rise += row_[j * n_ + i] * step_[i];
      }
      slope += rise / slack;
    }
    for (std::size_t k = 0; k < plain_; ++k) slope += step_t_[k] / barrier_;
    for (std::size_t head = terms_; head < t_.size(); ++head) slope += step_t_[head] / barrier_;
    for (std::size_t side = 0; side < overlaps_.sides().size(); ++side)
      slope -= overlaps_.sides()[side].step / overlaps_.slack(side, t_);
    for (std::size_t k = 0; k < terms_; ++k) {
      for (std::size_t i = 0; i < n_; ++i) {
        if (volume_[k * n_ + i] <= 0) continue;
        slope -= (t_[k] * step_[i] + x_[i] * step_t_[k]) / (t_[k] * x_[i] - volume_[k * n_ + i]);
      }
    }
    return slope;
  }

  const ConvexProblem& problem_;
  std::size_t n_;
  std::size_t terms_;
  std::size_t row_count_;
  std::size_t equality_count_;
  std::size_t plain_;  // terms that belong to no maximum of sums
  OverlapPart overlaps_;
  std::vector<double> scale_;
  double unit_ = 1;
  std::vector<double> volume_, linear_, row_, bound_, equality_, target_;
  std::vector<double> x_, t_;  // t: one per term, then one per maximum of sums
  double barrier_ = 1;
  // Results of the last evaluate() and solve_step().
  std::vector<double> slack_, gap_, gradient_t_, hessian_t_, step_t_, multipliers_, residual_;
  std::vector<double> price_;                    // of the equalities: nu
  std::array<double, kMostVariables> priced_{};  // c + E'nu
  std::array<double, kMostVariables> gradient_{}, step_{}, mixed_scratch_{};
  DenseMatrix hessian_{0};
  double slope_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace tenex::codesign
