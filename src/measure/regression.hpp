// Internal to measure: robust linear regression of times.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tenex/measure/fit.hpp"

namespace tenex::measure {

inline constexpr std::size_t kMostUnknowns = 3;

/// A measured time and the factors of the unknowns in its model.
struct Observation {
  std::array<double, kMostUnknowns> factors{};
  double time = 0;  ///< positive
};

struct Regression {
  std::array<double, kMostUnknowns> values{};
  std::array<Estimated, kMostUnknowns> estimates{};
  double spread = 0;  ///< robust standard deviation of relative residuals
};

/// Which parts of the answer are wanted. Without intervals values are settled to a thousandth, which is enough to
/// compare residuals.
enum class Intervals : bool { no, yes };

/// Least relative residuals of time = sum of factors * unknowns, all unknowns at least 0, with Huber's weights (1964;
/// 95 % efficient for normal noise), reweighted until they settle. Intervals: Huber's covariance (Robust Statistics,
/// 1981, section 7.6, first estimate) and Student's t. An unknown that would be negative is 0, and its interval ends
/// where that of the free fit does. Nothing where observations do not tell the unknowns apart. O(observations).
[[nodiscard]] std::optional<Regression> regress(std::span<const Observation> observations, std::size_t unknowns,
                                                Intervals intervals);

/// The 97.5 % quantile of Student's t. Exact to a thousandth. O(1).
[[nodiscard]] double student_quantile(std::size_t degrees);

/// The middle value; 0 of none. O(n).
[[nodiscard]] double median(std::vector<double> values);

}  // namespace tenex::measure
