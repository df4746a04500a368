// Linear constraints on the bandwidths of a network's dimensions, written as text:
//
//   "B1 + B2 = 500GB/s"   "B1 >= B2 >= B3"   "25GB/s <= B3 <= 150GB/s"   "B1 <= 2*B2"   "total = 1000GB/s"
//   "cost <= $1,500,000"  "cost <= 15MUSD"
//
//   constraint = sum ( "=" | "<=" | ">=" ) sum { ... sum }     a chain is several constraints
//   sum        = [ "-" ] product { ("+" | "-") product }
//   product    = factor { "*" factor }                          at most one factor is no plain number
//   factor     = number | bandwidth | money | "B" dimension | "total" | "cost" | "(" sum ")"
//
// B_i is the bandwidth of dimension i (from 1) per NPU, `total` is the sum of all, `cost` that of the network. Numbers
// are read exactly, and a constraint becomes one row of integers: coefficients . B <= bound, or = bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/codesign/network_cost.hpp"

namespace tenex {

/// 128-bit integers: bandwidths times prices go beyond int64.
__extension__ using WideInt = __int128;

/// Coefficients up to here let 16 products with bandwidths be added in 128 bits.
inline constexpr std::int64_t kLargestCoefficient = std::int64_t{1} << 58;

enum class Relation : std::uint8_t { at_most, equal };

/// coefficients . B (relation) bound, B in bytes per second.
struct LinearConstraint {
  std::vector<std::int64_t> coefficients;  ///< per dimension, not all zero
  Relation relation = Relation::at_most;
  WideInt bound = 0;
  std::string text;  ///< as the user wrote this part of a chain
  Place place;       ///< of its first character

  /// Whether whole bandwidths meet it, exactly. O(dimensions).
  [[nodiscard]] bool holds(std::span<const Bandwidth> bandwidth) const;
};

/// What the words of a constraint stand for.
struct ConstraintWords {
  std::size_t dimensions = 0;
  const CostRates* rates = nullptr;  ///< null: no cost model is given, and `cost` is an error
};

/// Parses one text into one constraint per comparison. `place` is where its first character stands; errors are input
/// errors at their column. O(length).
[[nodiscard]] Result<std::vector<LinearConstraint>> parse_constraint(std::string_view text,
                                                                     const ConstraintWords& words,
                                                                     const Place& place = {});

/// "total = X" as a constraint, for the keys that state it without text.
[[nodiscard]] LinearConstraint total_bandwidth_is(std::size_t dimensions, Bandwidth total);
/// "cost <= X".
[[nodiscard]] LinearConstraint cost_at_most(const CostRates& rates, Money budget);

}  // namespace tenex
