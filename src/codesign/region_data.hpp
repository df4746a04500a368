// The data of a BandwidthRegion.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "codesign/barrier.hpp"
#include "codesign/lattice.hpp"
#include "tenex/codesign/region.hpp"

namespace tenex {

struct RegionData {
  std::size_t dimensions = 0;
  std::vector<LinearConstraint> constraints;
  /// The set without an objective: true inequalities (first B_i >= 1 for every i) and independent equalities.
  codesign::ConvexProblem polytope;
  codesign::EqualityLattice lattice{0};
  std::vector<double> interior;  ///< strictly inside all inequalities
  std::optional<std::size_t> unlimited;
  bool reaches_zero = false;

  /// Whether the equalities determine every bandwidth.
  [[nodiscard]] bool is_point() const { return lattice.rank() == dimensions; }
};

}  // namespace tenex
