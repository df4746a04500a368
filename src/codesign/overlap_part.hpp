// The maxima of sums in a ConvexProblem: their part of the barrier, of a Newton step and of the bound.
//
// max(a, b) is written as u with u >= a and u >= b, a = constant + the sum of the t_k of its terms. With the slack
// s = u - a, q = 1 / s^2 and, over the terms of a side, P = sum 1/h_k, G = sum g_k/h_k, M = sum m_k/h_k (gradient g_k
// and second derivative h_k of t_k, m_k mixed with x), a step changes
//
//   s by (du + G + M.dx) / (1 + q P),    t_k by (-g_k - m_k.dx + q ds) / h_k,
//   u by -(g_u + sum r (G + M.dx)) / R,  r = q / (1 + q P) of both sides, R their sum,
//
// so the t_k and u are eliminated from the system of x at the cost of one matrix of rank one per maximum,
// r1 r2 / R (M1 - M2)(M1 - M2)'. In the bound, a maximum is replaced by a mixture of its sides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "codesign/barrier.hpp"
#include "codesign/newton.hpp"

namespace tenex::codesign {

/// One side of a maximum at a point and along a step.
struct OverlapSide {
  std::size_t begin = 0;  ///< terms of the side: begin <= k < end
  std::size_t end = 0;
  double constant = 0;
  double slack = 0;  ///< s
  double pull = 0;   ///< P
  double lean = 0;   ///< G
  double stiff = 0;  ///< r
  double step = 0;   ///< ds
};

/// All maxima of a problem. Parameters `t` hold the t_k of all terms, then one u per maximum.
class OverlapPart {
 public:
  /// `plain` is the number of terms that belong to no side; the terms of the sides follow in order.
  OverlapPart(const ConvexProblem& problem, std::size_t plain)
      : n_(problem.n), heads_(plain), sides_(problem.sides.size()), reach_(problem.sides.size() * problem.n) {
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      sides_[side] = {heads_, heads_ + problem.sides[side].terms, problem.sides[side].constant};
      heads_ = sides_[side].end;
    }
  }

  [[nodiscard]] std::size_t count() const { return sides_.size() / 2; }
  [[nodiscard]] std::span<const OverlapSide> sides() const { return sides_; }
  void scale(double factor) {
    for (auto& side : sides_) side.constant *= factor;
  }

  /// The sum of the maxima; `time` gives the time of a term.
  template <class TermTime>
  [[nodiscard]] double value(const TermTime& time) const {
    double sum = 0;
    for (std::size_t l = 0; l < count(); ++l) sum += std::max(side_value(2 * l, time), side_value(2 * l + 1, time));
    return sum;
  }

  /// Sets every u well above its sides.
  void start(std::vector<double>& t) const {
    const auto time = [&](std::size_t k) { return t[k]; };
    for (std::size_t l = 0; l < count(); ++l)
      t[heads_ + l] = 1.5 * std::max(side_value(2 * l, time), side_value(2 * l + 1, time));
  }

  [[nodiscard]] double slack(std::size_t side, std::span<const double> t) const {
    return t[heads_ + side / 2] - side_value(side, [&](std::size_t k) { return t[k]; });
  }
  void take_slacks(std::span<const double> t) {
    for (std::size_t side = 0; side < sides_.size(); ++side) sides_[side].slack = slack(side, t);
  }

  /// Adds what eliminating the maxima adds to the Hessian of x. `mixed(k, i)` is m_ki. Sets the entries of u in
  /// `gradient`.
  template <class Mixed>
  void eliminate(double barrier, const Mixed& mixed, std::span<double> gradient, std::span<const double> second,
                 DenseMatrix& hessian) {
    for (std::size_t l = 0; l < count(); ++l) {
      gradient[heads_ + l] = 1 / barrier;
      for (std::size_t side = 2 * l; side < 2 * l + 2; ++side) {
        gradient[heads_ + l] -= 1 / sides_[side].slack;
        gather(side, mixed, gradient, second);
      }
      const double rank_one = shared_stiffness(l);
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t other = 0; other <= i; ++other)
          hessian.at(i, other) += rank_one * difference(l, i) * difference(l, other);
    }
  }

  /// Adds what eliminating the maxima adds to the gradient of x.
  void reduce(std::span<const double> gradient, std::span<double> reduced) const {
    for (std::size_t l = 0; l < count(); ++l) {
      const auto& first = sides_[2 * l];
      const auto& second = sides_[2 * l + 1];
      const double lean = shared_stiffness(l) * (first.lean - second.lean);
      const double head = gradient[heads_ + l] / (first.stiff + second.stiff);
      for (std::size_t i = 0; i < n_; ++i)
        reduced[i] += lean * difference(l, i) -
                      head * (first.stiff * reach_[2 * l * n_ + i] + second.stiff * reach_[(2 * l + 1) * n_ + i]);
    }
  }

  /// Completes a step of x: adds the effect of the sides to the terms' steps, and computes the steps of u and of the
  /// slacks.
  void complete(std::span<const double> step_x, std::span<const double> gradient, std::span<const double> second,
                std::span<double> step_t) {
    for (std::size_t l = 0; l < count(); ++l) {
      std::array<double, 2> push{};  // G + M.dx
      double force = gradient[heads_ + l];
      for (std::size_t which = 0; which < 2; ++which) {
        const std::size_t side = 2 * l + which;
        push[which] = sides_[side].lean;
        for (std::size_t i = 0; i < n_; ++i) push[which] += reach_[side * n_ + i] * step_x[i];
        force += sides_[side].stiff * push[which];
      }
      step_t[heads_ + l] = -force / (sides_[2 * l].stiff + sides_[2 * l + 1].stiff);
      for (std::size_t which = 0; which < 2; ++which) {
        auto& side = sides_[2 * l + which];
        const double pressure = side.stiff * (step_t[heads_ + l] + push[which]);  // q ds
        side.step = pressure * side.slack * side.slack;
        for (std::size_t k = side.begin; k < side.end; ++k) step_t[k] += pressure / second[k];
      }
    }
  }

  /// The weight of a side in the bound: its multiplier after a Newton step, scaled so that both sides sum to 1.
  [[nodiscard]] double share(std::size_t side) const {
    const auto multiplier = [](const OverlapSide& one) { return std::max(1 - one.step / one.slack, 0.0) / one.slack; };
    const double own = multiplier(sides_[side]);
    const double both = own + multiplier(sides_[side ^ 1U]);
    return both > 0 ? own / both : 0.5;
  }

 private:
  template <class TermTime>
  [[nodiscard]] double side_value(std::size_t side, const TermTime& time) const {
    double sum = sides_[side].constant;
    for (std::size_t k = sides_[side].begin; k < sides_[side].end; ++k) sum += time(k);
    return sum;
  }

  template <class Mixed>
  void gather(std::size_t which, const Mixed& mixed, std::span<const double> gradient, std::span<const double> second) {
    auto& side = sides_[which];
    side.pull = side.lean = 0;
    std::fill_n(reach_.begin() + static_cast<std::ptrdiff_t>(which * n_), n_, 0.0);
    for (std::size_t k = side.begin; k < side.end; ++k) {
      side.pull += 1 / second[k];
      side.lean += gradient[k] / second[k];
      for (std::size_t i = 0; i < n_; ++i) reach_[which * n_ + i] += mixed(k, i) / second[k];
    }
    side.stiff = 1 / (side.slack * side.slack + side.pull);
  }

  /// r1 r2 / R of maximum l.
  [[nodiscard]] double shared_stiffness(std::size_t l) const {
    return sides_[2 * l].stiff * (sides_[2 * l + 1].stiff / (sides_[2 * l].stiff + sides_[2 * l + 1].stiff));
  }
  [[nodiscard]] double difference(std::size_t l, std::size_t i) const {
    return reach_[2 * l * n_ + i] - reach_[(2 * l + 1) * n_ + i];
  }

  std::size_t n_;
  std::size_t heads_;  // index of the first u in t
  std::vector<OverlapSide> sides_;
  std::vector<double> reach_;  // M: sides x n
};

}  // namespace tenex::codesign
