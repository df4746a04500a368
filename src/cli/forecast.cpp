#include "forecast.hpp"

#include <algorithm>
#include <cmath>

namespace tenex::cli {
namespace {

constexpr double kNineInTen = 1.645;  // of a normal distribution: the interval holds 90 %
constexpr std::size_t kFewest = 3;    // fewest finished points from which a spread is computed

}  // namespace

Forecast forecast(const std::vector<DoneWork>& done, const std::vector<double>& left, double longest_left,
                  double work_per_second) {
  if (left.empty()) return {0, 0, 0};
  double expected = 0;
  double measured = 0;
  double squares = 0;
  for (const auto& point : done) {
    expected += point.expected;
    measured += point.measured;
    squares += point.expected * point.expected;
  }
  if (!(expected > 0) || !(measured > 0) || !(work_per_second > 0)) return {};
  const double factor = measured / expected;
  double work = 0;
  double squares_left = 0;
  for (const double seconds : left) {
    work += seconds;
    squares_left += seconds * seconds;
  }
  // One point cannot be divided among ranks.
  const double least = factor * longest_left;
  Forecast answer;
  answer.seconds = std::max(factor * work / work_per_second, least);
  if (done.size() < kFewest) return answer;
  double residuals = 0;
  for (const auto& point : done) {
    const double off = point.measured - factor * point.expected;
    residuals += off * off;
  }
  const auto n = static_cast<double>(done.size());
  const double spread = residuals / squares * n / (n - 1);
  const double share = work / expected;
  const double deviation = std::sqrt(spread * (squares_left + squares * share * share));
  const double center = factor * work;
  answer.low = std::max(0.0, center - kNineInTen * deviation) / work_per_second;
  answer.high = std::max((center + kNineInTen * deviation) / work_per_second, answer.seconds);
  return answer;
}

}  // namespace tenex::cli
