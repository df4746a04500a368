// The cost of a network: dollars per GB/s for links, switches and NICs, by the kind of each dimension.
//
// The cost model of LIBRA (Won et al., section IV-D, Table I, Fig. 12). A dimension with bandwidth B_i per NPU costs,
// for every NPU, one link of B_i. On a switch it also costs a switch port and, where the kind has NICs, a NIC of the
// same bandwidth:
//
//   cost = npus * sum over i of B_i * (link_i + [switch dimension] * (switch_i + nic_i))
//
// The links of a ring, line or fully connected dimension divide B_i among themselves, so together they cost as one
// link.
//
// A dimension with a hierarchy of switches, such as SW(k,l:o) (LIBRA, Fig. 4b), has links between its switches too.
// Each is a link of B_i and takes a port of the switch below and one of the switch above. Of up-links for one NPU there
// are u = sum over levels of 1 / (the product of the oversubscriptions up to that level), so
//
//   cost of the dimension = npus * B_i * ((1 + u) * link_i + (1 + 2u) * switch_i + nic_i).
//
// For example 4 NPUs with 10 GB/s in one pod dimension at the prices of Table I (link $7.8, switch $18.0, NIC $31.6 per
// GB/s): SW(4) costs 4 * 10 * (7.8 + 18.0 + 31.6) = $2,296; SW(4,2) has u = 1 and costs
// 4 * 10 * (2 * 7.8 + 3 * 18.0 + 31.6) = $4,048; SW(4,2:2) has u = 1/2 and costs
// 4 * 10 * (1.5 * 7.8 + 2 * 18.0 + 31.6) = $3,172.
// Money is exact: whole millionths of a dollar.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/units.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex {

/// The medium of a dimension, from the inside of a package to the network between pods.
enum class DimensionKind : std::uint8_t { chiplet, package, node, pod };
inline constexpr std::size_t kDimensionKinds = 4;
[[nodiscard]] std::string_view to_string(DimensionKind kind);
/// Parses a kind's name. Errors (input): an unknown name, with the nearest spelling.
[[nodiscard]] Result<DimensionKind> parse_dimension_kind(std::string_view text, const Place& place = {});

/// The kinds of a shape's dimensions where the user names none: the outermost kinds, ending with the pod (2: node, pod;
/// 3: package, node, pod; 4: chiplet, package, node, pod). Beyond four dimensions, the inner ones are chiplets.
[[nodiscard]] std::vector<DimensionKind> default_dimension_kinds(std::size_t dimensions);

/// The value of a printed price range that is used.
enum class PriceLevel : std::uint8_t { low, mid, high };
[[nodiscard]] std::string_view to_string(PriceLevel level);
[[nodiscard]] Result<PriceLevel> parse_price_level(std::string_view text, const Place& place = {});

/// A price per GB/s (1e9 bytes per second), as a range.
struct PriceRange {
  Money low;
  Money mid;
  Money high;
  [[nodiscard]] Money at(PriceLevel level) const;
  bool operator==(const PriceRange&) const = default;
};

/// Prices of one kind of dimension. A part without a price does not exist in that kind.
struct KindPrices {
  std::optional<PriceRange> link;
  std::optional<PriceRange> switch_port;
  std::optional<PriceRange> nic;
  bool operator==(const KindPrices&) const = default;
};

/// A cost model, as a file describes it.
struct CostModel {
  std::string name;
  std::string source;  ///< where the prices come from, as the file states it
  std::array<KindPrices, kDimensionKinds> kinds;
  /// Whether dimensions without a switch pay for NICs too.
  bool nic_without_switch = false;

  [[nodiscard]] const KindPrices& of(DimensionKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};

/// Millionths of a dollar per GB/s of B_i, for all NPUs together: the cost is linear in the bandwidths.
struct CostRates {
  std::vector<Money> per_gigabyte_per_second;
  bool operator==(const CostRates&) const = default;
};

/// The rates of a shape. `kinds` has one kind per dimension. Errors: (input) a shape that is no product; a dimension
/// whose parts have no price in the model (for example a switch between chiplets); (resource) an amount beyond int64.
[[nodiscard]] Result<CostRates> cost_rates(const CostModel& model, PriceLevel level, const Shape& shape,
                                           std::span<const DimensionKind> kinds);

/// The cost of these bandwidths (per NPU and dimension), rounded up to a millionth of a dollar; saturates.
/// O(dimensions).
[[nodiscard]] Money network_cost(const CostRates& rates, std::span<const Bandwidth> bandwidth);

}  // namespace tenex
