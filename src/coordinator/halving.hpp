// Halving: which points of a study are pruned, from cheap values of all of them.
//
// In each round every remaining point is valued. When all values of a round are known, and not before, the round is
// cut: of each competition (points that agree in the settings `per`) the best part goes on. A point that is as good as
// the last of those also goes on, so the order of points does not matter. A point without a value also goes on, since
// nothing is known against it. The values follow from the points alone, so every run of a study makes the same cuts,
// whichever processes were killed.
//
// A point is sure to go on before the cut once no value that is missing can displace it. Of k known values s are better
// than its own, m are missing, and a part a/b goes on. If j of the missing ones turn out better and the others are no
// values at all, it goes on if s + j < ceil((k + j) a/b). That is hardest for j = m, because a/b is at most 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/wire.hpp"
#include "tenex/design/study.hpp"

namespace tenex {

/// A pruned point and the cut that pruned it.
struct PrunedPoint {
  std::uint32_t point = 0;
  std::uint32_t cut = 0;    ///< index in Halving's list of cuts
  std::uint32_t place = 0;  ///< rank of its value, from 1; equal values have equal places
  double value = 0;
};

/// A plain value. Not thread-safe.
class Halving {
 public:
  /// `study` must outlive it and must have a search that prunes. O(points); with `per` every point is built once.
  explicit Halving(const Study& study);

  /// Whether all rounds are cut.
  [[nodiscard]] bool over() const { return round_ == study_.search.rounds.size(); }
  /// Index of the round whose values are needed. Precondition: not over.
  [[nodiscard]] std::size_t round() const { return round_; }
  /// The points that must be valued, ascending: all that are left.
  [[nodiscard]] std::vector<std::uint32_t> points() const;

  /// Takes a value. A value of another round, or a second value of a point, is ignored. O(1).
  void take(const EarlyValue& value);
  /// The point has got a row for another reason: it does not go on. Its value of this round still counts if it is
  /// known, so that a cut does not depend on when a point that was sure to go on ended its process.
  void give_up(std::uint32_t point);
  /// Whether all values of the round are known.
  [[nodiscard]] bool complete() const { return missing_ == 0; }
  /// The number of values that are not known.
  [[nodiscard]] std::size_t missing() const { return missing_; }
  /// The points that are sure to go on, ascending. O(points log points).
  [[nodiscard]] std::vector<std::uint32_t> sure() const;
  /// Cuts the round and begins the next. Precondition: complete and not over. O(points log points).
  [[nodiscard]] std::vector<PrunedPoint> cut();

  /// Says why the point has no metrics: its value, its place, the cut and the search.
  [[nodiscard]] std::string reason_of(const PrunedPoint& point) const;

 private:
  struct Cut {
    std::size_t round = 0;
    std::size_t points = 0;  ///< number of points with values
    std::size_t kept = 0;    ///< last place that goes on
    double value = 0;        ///< value at that place
  };
  void cut_competition(const std::vector<std::uint32_t>& points, std::vector<PrunedPoint>& pruned);
  void begin_round();
  /// The points with values, by competition.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> valued() const;
  /// Their values, best first. Smaller ones are better here.
  [[nodiscard]] std::vector<std::pair<double, std::uint32_t>> ordered(const std::vector<std::uint32_t>& points) const;
  /// How many of so many points with values go on; those that are as good as the last beside them. At least one.
  [[nodiscard]] std::size_t kept_of(std::size_t points) const;
  [[nodiscard]] std::size_t competition_of_point(std::uint32_t point) const {
    return competition_.empty() ? 0 : competition_[point];
  }

  const Study& study_;
  std::vector<std::uint32_t> competition_;  ///< per point; empty: all points are in one
  std::size_t competitions_ = 1;
  std::size_t round_ = 0;
  std::size_t missing_ = 0;
  std::vector<bool> left_;      ///< not pruned, not given up before its value was known
  std::vector<bool> given_up_;  ///< given up in this round, with a known value
  std::vector<bool> known_;     ///< per point: its value in this round is known
  std::vector<double> values_;
  std::vector<Cut> cuts_;
};

}  // namespace tenex
