// Checks whether the points of a study have the metrics that its [search] names: a metric that no point can have is an
// error, one that only some can have gives a warning.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tenex/design/study.hpp"

namespace tenex {

/// An objective of [search] and its place.
struct AskedObjective {
  ObjectiveName name;
  Place place;
  bool prunes = false;  ///< points are pruned by it; otherwise it belongs to a front
};

/// Counts point by point, then reports. A plain value.
class ObjectiveCheck {
 public:
  /// `front` is the place of the list of the front's objectives.
  ObjectiveCheck(std::vector<AskedObjective> asked, Place front);

  /// Whether there is anything to count.
  [[nodiscard]] bool asks() const { return !asked_.empty(); }
  /// O(objectives).
  void count(const DesignPoint& point);
  /// Errors (input): an objective that none of the counted points can have; a front of objectives that no point can
  /// have together. Warnings: an objective that only some can have.
  void conclude(Diagnostics& errors, std::vector<std::string>& warnings) const;

 private:
  std::vector<AskedObjective> asked_;
  Place front_;
  std::vector<std::size_t> having_;  ///< number of points per objective
  std::size_t points_ = 0;
  std::size_t on_front_ = 0;  ///< points that can have all objectives of the front
};

}  // namespace tenex
