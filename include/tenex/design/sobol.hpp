// Sobol' points: low-discrepancy points of the unit cube, moved by a digital shift.
//
// Idea: in base 2, for each pair of early dimensions, the first 2^m points are spread equally over the elementary boxes
// of volume 2^-m, so that few points cover every axis well. A digital shift (the same random 32 bits added to every
// point of a dimension, without carry) makes the points random and keeps that property (Dick and Pillichshammer,
// "Digital nets and sequences", 2010, chapter 4). Encoding: coordinates are 32-bit fractions of 2^32. Source of the
// direction numbers: S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better two-dimensional projections", SIAM
// J. Sci. Comput. 30, 2635-2654 (2008), their table new-joe-kuo-6, dimensions 2 to 40; dimension 1 is van der Corput's
// sequence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenex {

/// An immutable generator with random access to points.
class Sobol {
 public:
  static constexpr std::size_t kMostDimensions = 40;
  static constexpr unsigned kBits = 32;

  /// `dimensions` is at most kMostDimensions. The seed determines the shift; `shifted` = false leaves it out. O(32 *
  /// dimensions).
  Sobol(std::size_t dimensions, std::uint64_t seed, bool shifted = true);

  [[nodiscard]] std::size_t dimensions() const { return directions_.size(); }
  /// The coordinate of point `index` (from 0) in a dimension (from 0), as a fraction of 2^32. O(bits of index).
  [[nodiscard]] std::uint32_t at(std::uint32_t index, std::size_t dimension) const;

 private:
  std::vector<std::array<std::uint32_t, kBits>> directions_;
  std::vector<std::uint32_t> shift_;
};

}  // namespace tenex
