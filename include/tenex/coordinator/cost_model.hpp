// Cost model: how far what points really take is from what was expected, learned per kind of point during the run.
//
// The estimator's constants were measured on one machine; another is slower, and algorithms differ in how well their
// formula fits. Points of a kind (algorithm, collective or model that trains, class of sizes) are alike in that error,
// so their expectations are multiplied by the kind's factor: what the points of the kind took over what they were
// expected to take. Kinds of which little is known lean on all points together: the factor counts as two average points
// of the kind that took what the whole study suggests. Only the order of evaluation depends on it, never a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "tenex/design/design_point.hpp"

namespace tenex {

/// What finished points of one kind (those with an ok row: a refusal says nothing) were expected to take and took, in
/// seconds of one thread.
struct KindCost {
  std::uint32_t kind = 0;
  std::uint32_t points = 0;
  double expected = 0;
  double measured = 0;
  double ended = 0;  ///< expected of all points of the kind that ended, those without an ok row included
};

/// The kind of a point: a digest of its algorithm, its collective (or the model that it trains) and the power of four
/// below its size. Equal on all ranks. O(length of the names).
[[nodiscard]] std::uint32_t kind_of(const DesignPoint& point);

/// Sums per kind. Not thread-safe.
class LearnedCosts {
 public:
  /// Takes finished points; sums that make no sense are ignored. O(1).
  void add(const KindCost& cost);
  /// What to multiply an expectation of this kind by: 1 before anything is known. O(1).
  [[nodiscard]] double factor(std::uint32_t kind) const;
  /// Expected seconds of all points that it has learned from.
  [[nodiscard]] double expected() const { return all_.expected; }

  /// Whether expectations should be made anew: twice as many points are known as the last time (at first 8), and some
  /// factor has changed by more than a tenth since. To be followed by mark_used(). O(kinds).
  [[nodiscard]] bool has_news() const;
  void mark_used();

 private:
  struct Sums {
    std::uint64_t points = 0;
    double expected = 0;
    double measured = 0;
    double used_factor = 1;
  };
  [[nodiscard]] double overall_factor() const;
  [[nodiscard]] double factor_of(const Sums& sums) const;

  std::unordered_map<std::uint32_t, Sums> kinds_;
  Sums all_;
  std::uint64_t used_points_ = 4;
};

}  // namespace tenex
