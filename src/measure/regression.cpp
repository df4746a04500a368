#include "measure/regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tenex::measure {
namespace {

using Vector = std::array<double, kMostUnknowns>;
using Matrix = std::array<Vector, kMostUnknowns>;

constexpr double kHuber = 1.345;    // in standard deviations
constexpr double kNormal = 0.6745;  // the median of |x| of a standard normal
constexpr int kMostRounds = 30;
constexpr double kSettled = 1e-9;
constexpr double kRoughlySettled = 1e-3;  // where residuals alone are compared
constexpr double kLeastSpread = 1e-9;     // exact data have no noise to divide by

/// The unknowns that are free to differ from 0.
using Free = std::vector<std::size_t>;

/// The inverse of the leading n by n part, or nothing where it is singular.
std::optional<Matrix> inverse(Matrix a, std::size_t n) {
  constexpr double kSingular = 1e-11;
  Matrix result{};
  for (std::size_t i = 0; i < n; ++i) result[i][i] = 1;
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row)
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    if (std::abs(a[pivot][column]) < kSingular) return std::nullopt;
    std::swap(a[pivot], a[column]);
    std::swap(result[pivot], result[column]);
    const double scale = 1 / a[column][column];
    for (std::size_t k = 0; k < n; ++k) {
      a[column][k] *= scale;
      result[column][k] *= scale;
    }
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = a[row][column];
      for (std::size_t k = 0; k < n; ++k) {
        a[row][k] -= factor * a[column][k];
        result[row][k] -= factor * result[column][k];
      }
    }
  }
  return result;
}

/// The work on one set of observations.
class Robust {
 public:
  Robust(std::span<const Observation> observations, Free free, Intervals intervals)
      : observations_(observations),
        free_(std::move(free)),
        settled_(intervals == Intervals::yes ? kSettled : kRoughlySettled),
        weights_(observations.size(), 1.0) {
    fitted_.reserve(observations.size());
    for (const auto& each : observations) fitted_.push_back(each.time);
  }

  /// False where the normal equations are singular.
  bool run() {
    for (int round = 0; round < kMostRounds; ++round) {
      const auto before = values_;
      if (!solve()) return false;
      reweigh();
      double moved = 0;
      for (const auto j : free_)
        moved = std::max(moved, std::abs(values_[j] - before[j]) / std::max(std::abs(values_[j]), 1e-300));
      if (round > 0 && moved < settled_) break;
    }
    return true;
  }

  [[nodiscard]] const Vector& values() const { return values_; }
  [[nodiscard]] double spread() const { return spread_; }

  /// Half the width of the 95 % interval of each unknown; 0 of those that are not free.
  [[nodiscard]] Vector half_widths() const {
    const auto n = static_cast<double>(observations_.size());
    const auto p = static_cast<double>(free_.size());
    Vector widths{};
    if (observations_.size() <= free_.size()) {
      for (const auto j : free_) widths[j] = std::numeric_limits<double>::infinity();
      return widths;
    }
    double squares = 0;
    double inner = 0;
    for (const auto r : residuals_) {
      const double bounded = std::clamp(r, -kHuber * spread_, kHuber * spread_);
      squares += bounded * bounded;
      inner += std::abs(r) <= kHuber * spread_ ? 1 : 0;
    }
    const double mean = std::max(inner / n, 0.5);
    const double correction = 1 + p / n * (1 - mean) / mean;
    const double variance = correction * correction * squares / (n - p) / (mean * mean);
    const auto normal = normal_equations(false);
    const auto inverted = inverse(normal.matrix, free_.size());
    if (!inverted) return widths;
    const double quantile = student_quantile(observations_.size() - free_.size());
    for (std::size_t i = 0; i < free_.size(); ++i)
      widths[free_[i]] = quantile * std::sqrt(variance * (*inverted)[i][i]) / normal.scales[i];
    return widths;
  }

 private:
  struct Normal {
    Matrix matrix{};
    Vector right{};
    Vector scales{};  ///< of each column, so that the matrix has ones on its diagonal
  };

  /// With Huber's weights, or with those of the model alone: relative residuals.
  [[nodiscard]] Normal normal_equations(bool robust) const {
    Normal normal;
    for (std::size_t i = 0; i < observations_.size(); ++i) {
      const double weight = robust ? weights_[i] : 1.0;
      const auto& [factors, time] = observations_[i];
      const double part = weight / (fitted_[i] * fitted_[i]);
      for (std::size_t a = 0; a < free_.size(); ++a) {
        const double left = part * factors[free_[a]];
        normal.right[a] += left * time;
        for (std::size_t b = 0; b < free_.size(); ++b) normal.matrix[a][b] += left * factors[free_[b]];
      }
    }
    for (std::size_t a = 0; a < free_.size(); ++a) normal.scales[a] = std::sqrt(normal.matrix[a][a]);
    for (std::size_t a = 0; a < free_.size(); ++a) {
      if (normal.scales[a] <= 0) return normal;  // the matrix stays singular
      normal.right[a] /= normal.scales[a];
      for (std::size_t b = 0; b < free_.size(); ++b)
        if (normal.scales[b] > 0) normal.matrix[a][b] /= normal.scales[a] * normal.scales[b];
    }
    return normal;
  }

  bool solve() {
    const auto normal = normal_equations(true);
    const auto inverted = inverse(normal.matrix, free_.size());
    if (!inverted) return false;
    values_ = {};
    for (std::size_t a = 0; a < free_.size(); ++a) {
      double value = 0;
      for (std::size_t b = 0; b < free_.size(); ++b) value += (*inverted)[a][b] * normal.right[b];
      values_[free_[a]] = value / normal.scales[a];
    }
    return true;
  }

  void reweigh() {
    residuals_.clear();
    std::vector<double> sizes;
    for (std::size_t i = 0; i < observations_.size(); ++i) {
      double fitted = 0;
      for (const auto j : free_) fitted += observations_[i].factors[j] * values_[j];
      // A fit that passes below zero while it settles would make weights without bound.
      fitted_[i] = std::max(fitted, observations_[i].time / 10);
      residuals_.push_back((observations_[i].time - fitted) / fitted_[i]);
      sizes.push_back(std::abs(residuals_.back()));
    }
    const auto n = static_cast<double>(observations_.size());
    const auto p = static_cast<double>(free_.size());
    const double freedom = n > p ? std::sqrt(n / (n - p)) : 1.0;
    spread_ = std::max(median(std::move(sizes)) / kNormal * freedom, kLeastSpread);
    for (std::size_t i = 0; i < observations_.size(); ++i)
      weights_[i] = std::min(1.0, kHuber * spread_ / std::max(std::abs(residuals_[i]), 1e-300));
  }

  std::span<const Observation> observations_;
  Free free_;
  double settled_;  ///< relative moves of values that end the rounds
  std::vector<double> weights_;
  std::vector<double> fitted_;
  std::vector<double> residuals_;
  Vector values_{};
  double spread_ = 0;
};

}  // namespace

std::optional<Regression> regress(std::span<const Observation> observations, std::size_t unknowns,
                                  Intervals intervals) {
  if (observations.size() < unknowns) return std::nullopt;
  Free free(unknowns);
  for (std::size_t j = 0; j < unknowns; ++j) free[j] = j;
  Robust whole(observations, free, intervals);
  if (!whole.run()) return std::nullopt;
  const auto of_free = intervals == Intervals::yes ? whole.half_widths() : Vector{};
  Regression found;
  // Unknowns that would be negative are 0; the most negative one relative to its time leaves first.
  Robust fit = whole;
  while (true) {
    const auto worst = std::ranges::min_element(free, {}, [&](std::size_t j) { return fit.values()[j]; });
    if (worst == free.end() || fit.values()[*worst] >= 0) break;
    free.erase(worst);
    if (free.empty()) return std::nullopt;
    fit = Robust(observations, free, intervals);
    if (!fit.run()) return std::nullopt;
  }
  const auto widths = intervals == Intervals::yes ? fit.half_widths() : Vector{};
  found.spread = fit.spread();
  for (std::size_t j = 0; j < unknowns; ++j) {
    const bool is_free = std::ranges::find(free, j) != free.end();
    const double value = is_free ? fit.values()[j] : 0;
    const double width = is_free ? widths[j] : std::max(0.0, whole.values()[j] + of_free[j]);
    found.values[j] = value;
    found.estimates[j] = {value, std::max(0.0, value - width), value + width};
  }
  return found;
}

double student_quantile(std::size_t degrees) {
  constexpr std::array<double, 8> kFew{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306};
  if (degrees == 0) return std::numeric_limits<double>::infinity();
  if (degrees <= kFew.size()) return kFew[degrees - 1];
  // Cornish and Fisher's expansion around the normal quantile (Abramowitz and Stegun, 26.7.5).
  constexpr double z = 1.959964;
  const auto d = static_cast<double>(degrees);
  constexpr double z2 = z * z;
  return z + z * (z2 + 1) / (4 * d) + z * ((5 * z2 + 16) * z2 + 3) / (96 * d * d) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * d * d * d);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace tenex::measure
