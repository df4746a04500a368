// Linear constraints on the bandwidths of a network's dimensions, written as text:
//
//   "B1 + B2 = 500GB/s"   "B1 >= B2 >= B3"   "25GB/s <= B3 <= 150GB/s"   "B1 <= 2*B2"   "total = 1000GB/s"
//   "cost <= $1,500,000"  "cost <= 15MUSD"
//
// The grammar is that of comparisons (tenex/spec/expression.hpp) with =, <= and >=; a chain is several comparisons. The
// words are B1, B2, ... (the bandwidth of a dimension per NPU), `total` (the sum of all) and `cost` (that of the
// network).
//
// A study names a constraint once for all its shapes. So a text is read into a Constraint, which holds for any number
// of dimensions and any prices. With these given, rows_of() turns it into rows of integers:
// coefficients . B <= bound, or = bound. Numbers are exact from the text to the row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/base/rational.hpp"
#include "tenex/codesign/network_cost.hpp"

namespace tenex {

/// The most dimensions of a network that is optimized.
inline constexpr std::size_t kMostOptimizedDimensions = 16;

/// With coefficients up to this size, 16 products with bandwidths can be added in 128 bits.
inline constexpr std::int64_t kLargestCoefficient = std::int64_t{1} << 58;

enum class Relation : std::uint8_t { at_most, equal };

/// coefficients . B (relation) bound, B in bytes per second.
struct LinearConstraint {
  std::vector<std::int64_t> coefficients;  ///< per dimension, not all zero
  Relation relation = Relation::at_most;
  WideInt bound = 0;
  std::string text;  ///< as the user wrote this part of a chain
  Place place;       ///< of its first character

  /// Whether whole bandwidths meet the constraint, exactly. O(dimensions).
  [[nodiscard]] bool holds(std::span<const Bandwidth> bandwidth) const;
};

/// One comparison: dimensions . B + total * sum(B) + cost * (the network's cost) + constant <= 0, or = 0. It compares
/// either bandwidths (bytes per second; `cost` is 0) or money (millionths of a dollar; only `cost` is not 0).
struct BandwidthComparison {
  std::array<WideInt, kMostOptimizedDimensions> dimensions{};  ///< coefficients of B1, B2, ...
  WideInt total = 0;
  WideInt cost = 0;
  WideInt constant = 0;
  Relation relation = Relation::at_most;
  std::string text;  ///< as the user wrote this part of a chain
  Place place;       ///< of its first character
};

/// A constraint as written, for networks of any shape.
struct Constraint {
  struct Mention {
    std::size_t dimension = 0;  ///< from 1; 0: `cost`
    Place place;
  };
  std::string text;  ///< as the user wrote it, without spaces at its ends
  Place place;       ///< of its first character
  std::vector<BandwidthComparison> comparisons;
  std::vector<Mention> mentions;  ///< every B1, B2, ... and `cost`, in the order of the text
};

/// Parses one constraint. `place` is where the first character of the text stands. Errors (input), at their column:
/// syntax, units, an unknown word, a comparison that names no bandwidth. O(length).
[[nodiscard]] Result<Constraint> parse_constraint(std::string_view text, const Place& place = {});

/// The rows of a constraint for a network, one per comparison. `rates` is null where no cost model is given. Errors
/// (input): a dimension that the network lacks, `cost` without rates, a row without a bandwidth, coefficients of more
/// than 58 bits. O(comparisons * dimensions).
[[nodiscard]] Result<std::vector<LinearConstraint>> rows_of(const Constraint& constraint, std::size_t dimensions,
                                                            const CostRates* rates);

/// "total = X" as a constraint, for keys that state it without text.
[[nodiscard]] LinearConstraint total_bandwidth_is(std::size_t dimensions, Bandwidth total);
/// "B1 <= X" as a constraint, by the kind of the dimension.
[[nodiscard]] LinearConstraint bandwidth_at_most(std::size_t dimensions, const BandwidthLimit& limit);
/// "cost <= X" as a constraint.
[[nodiscard]] LinearConstraint cost_at_most(const CostRates& rates, Money budget);

}  // namespace tenex
