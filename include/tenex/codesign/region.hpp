// The set of bandwidths that meet all constraints, prepared for the solver.
//
// Every bandwidth is at least 1 B/s. Rows that can only hold with equality ("B1 >= B2" beside "B2 >= B1") are separated
// from true inequalities, so that an interior point exists. Equalities are solved in whole numbers once (a unimodular
// change of variables, as in Hermite's normal form), so that an answer rounds to whole bandwidths that still meet them.
// Feasibility is decided in rational arithmetic. The error of a contradictory set names an irreducible subset: its
// constraints conflict, but without any one of them they do not (deletion filter, Chinneck and Dravnieks, ORSA Journal
// on Computing 1991).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/codesign/constraint.hpp"

namespace tenex {

struct RegionData;

/// A non-empty set of bandwidths. Cheap to copy: its data are shared and constant, so that threads may use one
/// together.
class BandwidthRegion {
 public:
  explicit BandwidthRegion(std::shared_ptr<const RegionData> data) : data_(std::move(data)) {}

  [[nodiscard]] std::size_t dimensions() const;
  [[nodiscard]] const std::vector<LinearConstraint>& constraints() const;
  /// The first dimension (from 0) whose bandwidth may grow without limit; nullopt if there is none.
  [[nodiscard]] std::optional<std::size_t> unlimited_dimension() const;
  /// Whether all bandwidths may shrink to zero together.
  [[nodiscard]] bool reaches_zero() const;
  /// Whether these whole bandwidths meet all constraints, exactly. O(constraints * dimensions).
  [[nodiscard]] bool contains(std::span<const Bandwidth> bandwidth) const;

  /// Whole bandwidths near `bandwidth` (a point of the region, up to rounding).
  struct Rounded {
    std::vector<Bandwidth> bandwidth;
    /// Whether they meet every constraint. False where no whole numbers do ("B1 = 2*B2" beside a total that is not
    /// divisible by 3): then each equality holds to within half a byte per second and coefficient.
    bool exact = true;
  };
  [[nodiscard]] Rounded round(std::span<const double> bandwidth) const;

  /// The data for this module's solvers.
  [[nodiscard]] const RegionData& data() const { return *data_; }

 private:
  std::shared_ptr<const RegionData> data_;
};

/// Prepares a region. Errors (input): a contradictory set, reported at its first constraint with an irreducible subset;
/// more than 16 dimensions; numbers that rational arithmetic in 128 bits cannot hold. O(constraints * dimensions^2)
/// where equal bandwidths or a few Newton steps find an interior point.
[[nodiscard]] Result<BandwidthRegion> make_region(std::size_t dimensions, std::vector<LinearConstraint> constraints);

}  // namespace tenex
