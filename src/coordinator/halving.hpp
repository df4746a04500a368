// Halving: which points of a study are pruned, from cheap values of all of them.
//
// In each round every point that is left is valued. When all values of a round are known, and not before, the round is
// cut: of each competition (points that agree in the settings `per`) the best part goes on. A point goes on too where
// it is as good as the last of those, so nothing hangs on the order of points; and so does a point without a value,
// since nothing is known against it. The values follow from the points alone, so every run of a study makes the same
// cuts, whatever was killed in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/wire.hpp"
#include "tenex/design/study.hpp"

namespace tenex {

/// A point that is left out, and by which cut.
struct PrunedPoint {
  std::uint32_t point = 0;
  std::uint32_t cut = 0;    ///< index in Halving's list of cuts
  std::uint32_t place = 0;  ///< of its value, from 1; equal values share the first place
  double value = 0;
};

/// A plain value. Not thread-safe.
class Halving {
 public:
  /// `study` must outlive it, and prunes. O(points); with `per` every point is built once.
  explicit Halving(const Study& study);

  /// Whether all rounds are cut.
  [[nodiscard]] bool over() const { return round_ == study_.search.rounds.size(); }
  /// Index of the round whose values are wanted. Precondition: not over.
  [[nodiscard]] std::size_t round() const { return round_; }
  /// The points whose values it wants, ascending: all that are left.
  [[nodiscard]] std::vector<std::uint32_t> points() const;

  /// Takes a value; one of another round, or for the second time, is ignored. O(1).
  void take(const EarlyValue& value);
  /// The point has a row for another reason: it is compared no more.
  void give_up(std::uint32_t point);
  /// Whether all values of the round are known.
  [[nodiscard]] bool complete() const { return missing_ == 0; }
  /// Cuts the round and goes on to the next. Precondition: complete and not over. O(points log points).
  [[nodiscard]] std::vector<PrunedPoint> cut();

  /// Why the point has no metrics: its value, its place, where the cut was, in which search.
  [[nodiscard]] std::string reason_of(const PrunedPoint& point) const;

 private:
  struct Cut {
    std::size_t round = 0;
    std::size_t points = 0;  ///< that had values
    std::size_t kept = 0;    ///< the last place that goes on
    double value = 0;        ///< at that place
  };
  void cut_competition(const std::vector<std::uint32_t>& points, std::vector<PrunedPoint>& pruned);
  void begin_round();

  const Study& study_;
  std::vector<std::uint32_t> competition_;  ///< per point; empty: all are in one
  std::size_t competitions_ = 1;
  std::size_t round_ = 0;
  std::size_t missing_ = 0;
  std::vector<bool> left_;   ///< not pruned, not given up
  std::vector<bool> known_;  ///< in this round
  std::vector<double> values_;
  std::vector<Cut> cuts_;
};

}  // namespace tenex
