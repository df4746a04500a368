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
//
// A kind of dimension may also have limits: the most bandwidth of an NPU, and its reach, as the most NPUs of the part
// of the network that one instance of the dimension joins (the sizes of it and of all inner dimensions, multiplied). So
// a dimension whose kind is varied chooses between technologies: cheap and short, or dear and far.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/units.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex {

/// The kinds of a shape's dimensions where the user names none: the outermost kinds, ending with the pod (2: node, pod;
/// 3: package, node, pod; 4: chiplet, package, node, pod). Beyond four dimensions, the inner ones are chiplets.
[[nodiscard]] std::vector<std::string> default_dimension_kinds(std::size_t dimensions);

/// Whether a kind may have this name, so that the key dimension_kinds can list it: small letters, digits and _, and not
/// "auto".
[[nodiscard]] bool is_kind_name(std::string_view name);

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

/// The medium of a dimension, such as copper in a package or fibres between pods: its prices and limits. A part without
/// a price does not exist in that kind.
struct DimensionKind {
  std::optional<PriceRange> link;
  std::optional<PriceRange> switch_port;
  std::optional<PriceRange> nic;
  std::optional<Bandwidth> bandwidth;  ///< the most of an NPU
  std::optional<std::int64_t> reach;   ///< the most NPUs that it joins, those of inner dimensions included
  bool operator==(const DimensionKind&) const = default;
};

/// A cost model, as a file describes it.
struct CostModel {
  std::string name;
  std::string source;                                       ///< where the prices come from, as the file states it
  std::map<std::string, DimensionKind, std::less<>> kinds;  ///< by name
  /// Whether dimensions without a switch pay for NICs too.
  bool nic_without_switch = false;
};

/// The most bandwidth of a dimension, by its kind.
struct BandwidthLimit {
  std::size_t dimension = 0;
  Bandwidth most;
  std::string kind;
  bool operator==(const BandwidthLimit&) const = default;
};

/// Millionths of a dollar per GB/s of B_i, for all NPUs together: the cost is linear in the bandwidths. And what limits
/// these.
struct CostRates {
  std::vector<Money> per_gigabyte_per_second;
  std::vector<BandwidthLimit> limits = {};  ///< of some dimensions, in their order
  bool operator==(const CostRates&) const = default;
};

/// The rates of a shape. `kinds` has the name of one kind per dimension. Errors: (input) a shape that is no product; a
/// kind that the model lacks; a dimension whose parts have no price in the model (for example a switch between
/// chiplets), or that joins more NPUs than its kind reaches; (resource) an amount beyond int64.
[[nodiscard]] Result<CostRates> cost_rates(const CostModel& model, PriceLevel level, const Shape& shape,
                                           std::span<const std::string> kinds);

/// The cost of these bandwidths (per NPU and dimension), rounded up to a millionth of a dollar; saturates.
/// O(dimensions).
[[nodiscard]] Money network_cost(const CostRates& rates, std::span<const Bandwidth> bandwidth);

}  // namespace tenex
