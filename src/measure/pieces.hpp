// Internal to measure: sizes at which times begin to follow another line.
#pragma once

#include <cstddef>
#include <vector>

#include "tenex/measure/fit.hpp"

namespace tenex::measure {

/// The time of one row.
struct Point {
  double size = 0;
  double time = 0;  ///< us
};

/// The first point of each piece; points are in order of size. Of several pieces each has four sizes at least. The
/// number of pieces is the one with the least n log(mean |relative residual|) * 2 + 3 pieces log n: Laplace's
/// likelihood, which single wild points do not sway, and Schwarz's price of a line and its end. A mean residual below 2
/// % is noise.
[[nodiscard]] std::vector<std::size_t> piece_begins(const std::vector<Point>& points);

/// The line through points, with intervals; its first and last size are the caller's to set.
[[nodiscard]] FittedPiece fit_piece(const std::vector<Point>& points, std::size_t begin, std::size_t end);

/// How two neighbouring pieces differ, in words.
[[nodiscard]] std::string describe_change(const FittedPiece& before, const FittedPiece& after);

}  // namespace tenex::measure
