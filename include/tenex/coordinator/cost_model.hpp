// Cost model: learns per kind of point, during the run, by which factor real times differ from expected ones.
//
// The estimator's constants were measured on one machine. Other machines are slower or faster, and formulas fit some
// algorithms better than others. Points of a kind (algorithm, collective or trained model, class of sizes) have a
// similar error, so their expectations are multiplied by the kind's factor: real over expected time of the kind's ended
// points. A kind of which little is known also uses all points together: two further average points enter its factor,
// with the factor of the whole study. Only the order of evaluation depends on the model, never a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "tenex/design/design_point.hpp"

namespace tenex {

/// Expected and real time of finished points of one kind, in seconds of one thread. Only points with an ok row count: a
/// refusal says nothing about its kind.
struct KindCost {
  std::uint32_t kind = 0;
  std::uint32_t points = 0;
  double expected = 0;
  double measured = 0;
  double ended = 0;  ///< expected time of all points of the kind that ended, also of those without an ok row
};

/// The kind of a point: a digest of its algorithm, its collective (or the model that it trains) and its class of sizes,
/// which spans a factor of four. Equal on all ranks. O(length of the names).
[[nodiscard]] std::uint32_t kind_of(const DesignPoint& point);

/// Sums per kind. Not thread-safe.
class LearnedCosts {
 public:
  /// Takes finished points; sums that make no sense are ignored. O(1).
  void add(const KindCost& cost);
  /// The factor for expectations of this kind: 1 before anything is known. O(1).
  [[nodiscard]] double factor(std::uint32_t kind) const;
  /// Expected seconds of all points that it has learned from.
  [[nodiscard]] double expected() const { return all_.expected; }

  /// Whether expectations should be updated: twice as many points are known as at the last update (the first time 8),
  /// and some factor has changed by more than a tenth since. Call mark_used() after the update. O(kinds).
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
