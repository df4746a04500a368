// Pieces by dynamic programming over sizes: the least sum of absolute relative residuals for each number of pieces.
#include "measure/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/regression.hpp"
#include "tenex/base/units.hpp"

namespace tenex::measure {
namespace {

constexpr std::size_t kLeastSizes = 4;  // of a piece beside others: fewer fit any line
constexpr std::size_t kMostPieces = 8;
constexpr std::size_t kMostGroups = 128;
constexpr double kNoise = 0.02;  // a mean relative residual that no piece is made for

constexpr std::size_t kFewPoints = 256;

/// One size, and its first point. Of many points, a size is the median of its times.
struct Group {
  std::vector<Observation> rows;
  std::size_t begin = 0;
};

std::vector<Group> groups_of(const std::vector<Point>& points) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < points.size();) {
    std::size_t end = i;
    std::vector<double> times;
    for (; end < points.size() && points[end].size == points[i].size; ++end) times.push_back(points[end].time);
    if (points.size() > kFewPoints) times = {median(std::move(times))};
    groups.push_back({{}, i});
    for (const auto time : times) groups.back().rows.push_back({{1.0, points[i].size, 0}, time});
    i = end;
  }
  if (groups.size() <= kMostGroups) return groups;
  std::vector<Group> chosen;
  for (std::size_t i = 0; i < kMostGroups; ++i) chosen.push_back(groups[i * groups.size() / kMostGroups]);
  return chosen;
}

/// The sum of absolute relative residuals of the line through groups [begin, end).
double residuals_of(const std::vector<Group>& groups, std::size_t begin, std::size_t end) {
  std::vector<Observation> rows;
  for (std::size_t i = begin; i < end; ++i) rows.insert(rows.end(), groups[i].rows.begin(), groups[i].rows.end());
  const auto line = regress(rows, 2, Intervals::no);
  if (!line) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const auto& row : rows) {
    const double fitted = line->values[0] + line->values[1] * row.factors[1];
    sum += std::abs(row.time - fitted) / std::max(fitted, row.time / 10);
  }
  return sum;
}

/// The best ends of k pieces for each k, as the first groups of pieces.
struct Partition {
  std::vector<std::vector<double>> cost;         ///< [k][groups in the first k pieces]
  std::vector<std::vector<std::size_t>> before;  ///< where the k-th piece begins
};

Partition partition(const std::vector<Group>& groups, std::size_t most) {
  const auto n = groups.size();
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> line(n, std::vector<double>(n + 1, kNever));
  for (std::size_t begin = 0; begin < n; ++begin)
    for (std::size_t end = begin + kLeastSizes; end <= n; ++end) line[begin][end] = residuals_of(groups, begin, end);
  Partition best{std::vector(most + 1, std::vector<double>(n + 1, kNever)),
                 std::vector(most + 1, std::vector<std::size_t>(n + 1, 0))};
  best.cost[0][0] = 0;
  for (std::size_t k = 1; k <= most; ++k)
    for (std::size_t end = kLeastSizes; end <= n; ++end)
      for (std::size_t begin = 0; begin + kLeastSizes <= end; ++begin) {
        const double cost = best.cost[k - 1][begin] + line[begin][end];
        if (cost >= best.cost[k][end]) continue;
        best.cost[k][end] = cost;
        best.before[k][end] = begin;
      }
  return best;
}

}  // namespace

std::vector<std::size_t> piece_begins(const std::vector<Point>& points) {
  const auto groups = groups_of(points);
  const auto n = groups.size();
  const auto most = std::min(kMostPieces, n / kLeastSizes);
  if (most < 2) return {0};
  const auto best = partition(groups, most);
  std::size_t chosen = 1;
  double least = std::numeric_limits<double>::infinity();
  double count = 0;
  for (const auto& group : groups) count += static_cast<double>(group.rows.size());
  for (std::size_t k = 1; k <= most; ++k) {
    const double mean = std::max(best.cost[k][n] / count, kNoise);
    const double price = 2 * count * std::log(mean) + 3 * static_cast<double>(k) * std::log(count);
    if (price >= least) continue;
    least = price;
    chosen = k;
  }
  std::vector<std::size_t> begins(chosen);
  for (std::size_t k = chosen, end = n; k > 0; --k) {
    end = best.before[k][end];
    begins[k - 1] = groups[end].begin;
  }
  return begins;
}

FittedPiece fit_piece(const std::vector<Point>& points, std::size_t begin, std::size_t end) {
  std::vector<Observation> rows;
  for (std::size_t i = begin; i < end; ++i) rows.push_back({{1.0, points[i].size, 0}, points[i].time});
  FittedPiece piece;
  piece.points = rows.size();
  auto line = regress(rows, 2, Intervals::yes);
  if (!line) {  // sizes that are all but equal tell nothing of bytes
    line = regress(rows, 1, Intervals::yes);
    ensure(line.has_value(), "a time that is positive is fitted by itself");
    line->estimates[1] = {0, 0, std::numeric_limits<double>::infinity()};
  }
  piece.at_zero_us = line->estimates[0];
  piece.us_per_byte = line->estimates[1];
  piece.spread = line->spread;
  return piece;
}

std::string describe_change(const FittedPiece& before, const FittedPiece& after) {
  const double first = after.at_zero_us.value - before.at_zero_us.value;
  const auto more = fmt::format("{}{:.3g}us at size zero", first < 0 ? "-" : "+", std::abs(first));
  if (after.us_per_byte.value <= 0 || before.us_per_byte.value <= 0) return more;
  const double ratio = after.us_per_byte.value / before.us_per_byte.value;
  auto text = fmt::format("{}, {:.3g} of the time per byte", more, ratio);
  // LL sends 4 bytes of data in 8, LL128 120 in 128.
  if (ratio > 0.4 && ratio < 0.6 && first > 0) return text + ": as from LL to Simple or LL128";
  if (ratio > 0.9 && ratio < 0.97 && first > 0) return text + ": as from LL128 to Simple";
  if (ratio < 1 && first > 0) return text + ": another protocol or algorithm";
  return text;
}

}  // namespace tenex::measure
