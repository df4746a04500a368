// Whether the points of a study have the metrics that its [search] names: a metric that no point can have is a mistake,
// one that only some can have is worth a word.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tenex/design/study.hpp"

namespace tenex {

/// An objective of [search] where it stands.
struct AskedObjective {
  ObjectiveName name;
  Place place;
  bool prunes = false;  ///< points are pruned by it; else it is one of a front
};

/// Counts point by point, then tells. A value without text or file.
class ObjectiveCheck {
 public:
  /// `front` is where the front's list stands.
  ObjectiveCheck(std::vector<AskedObjective> asked, Place front);

  /// Whether there is anything to count.
  [[nodiscard]] bool asks() const { return !asked_.empty(); }
  /// O(objectives).
  void count(const DesignPoint& point);
  /// Errors (input): an objective that none of the points counted can have, a front of objectives that none can have
  /// together. Warnings: one that only some can have.
  void conclude(Diagnostics& errors, std::vector<std::string>& warnings) const;

 private:
  std::vector<AskedObjective> asked_;
  Place front_;
  std::vector<std::size_t> having_;  ///< points, per objective
  std::size_t points_ = 0;
  std::size_t on_front_ = 0;  ///< points that can have all objectives of the front
};

}  // namespace tenex
