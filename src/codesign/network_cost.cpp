// Prices times bandwidths; the formula is in the header.
#include "tenex/codesign/network_cost.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "tenex/base/words.hpp"
#include "tenex/codesign/constraint.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {
namespace {

constexpr std::array<std::string_view, kDimensionKinds> kKindNames{"chiplet", "package", "node", "pod"};
constexpr std::array<std::string_view, 3> kLevelNames{"low", "mid", "high"};
/// Prices are per 1e9 bytes per second.
constexpr std::int64_t kGiga = 1'000'000'000;

/// The price of one GB/s for every NPU in a dimension; nullopt beyond 64 bits.
Result<std::optional<std::int64_t>> price_of(const CostModel& model, PriceLevel level, const Shape& shape,
                                             DimensionKind kind, std::size_t dimension) {
  const Block& block = shape.blocks[dimension];
  const auto& prices = model.of(kind);
  const auto missing = [&](std::string_view part) {
    return input_error({},
                       fmt::format("dimension {} ({}) has {} without a price", dimension + 1, to_string(kind), part),
                       fmt::format("the cost model \"{}\" has no such price for kind {}", model.name, to_string(kind)),
                       "choose another kind for the dimension or add the price");
  };
  if (!prices.link) return missing("links");
  const bool switched = block.rule->through_switch;
  if (switched && !prices.switch_port) return missing("a switch");
  const auto npus = static_cast<WideInt>(shape.npus());
  const WideInt up = links_between_switches(shape, dimension);
  WideInt sum = (npus + up) * prices.link->at(level).count();
  if (switched) sum += (npus + 2 * up) * prices.switch_port->at(level).count();
  if (prices.nic && (switched || model.nic_without_switch)) sum += npus * prices.nic->at(level).count();
  if (sum > std::numeric_limits<std::int64_t>::max()) return std::optional<std::int64_t>();
  return std::optional(static_cast<std::int64_t>(sum));
}

}  // namespace

std::string_view to_string(DimensionKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }
std::string_view to_string(PriceLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

Result<DimensionKind> parse_dimension_kind(std::string_view text, const Place& place) {
  return parse_name<DimensionKind>(text, kKindNames, "dimension kind", place);
}

Result<PriceLevel> parse_price_level(std::string_view text, const Place& place) {
  return parse_name<PriceLevel>(text, kLevelNames, "price level", place);
}

std::vector<DimensionKind> default_dimension_kinds(std::size_t dimensions) {
  std::vector<DimensionKind> kinds(dimensions, DimensionKind::chiplet);
  for (std::size_t from_last = 0; from_last < std::min(dimensions, kDimensionKinds); ++from_last)
    kinds[dimensions - 1 - from_last] = static_cast<DimensionKind>(kDimensionKinds - 1 - from_last);
  return kinds;
}

Money PriceRange::at(PriceLevel level) const {
  return level == PriceLevel::low ? low : level == PriceLevel::mid ? mid : high;
}

Result<CostRates> cost_rates(const CostModel& model, PriceLevel level, const Shape& shape,
                             std::span<const DimensionKind> kinds) {
  if (!shape.is_product()) {
    return input_error({}, fmt::format("{} has no network cost", to_string(shape)),
                       "the cost model prices the dimensions of a product of blocks");
  }
  if (kinds.size() != shape.dimensions()) {
    return input_error({}, fmt::format("{} dimension kinds for {} dimensions", kinds.size(), shape.dimensions()),
                       "every dimension of the shape has a kind");
  }
  CostRates rates;
  Diagnostics errors;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto price = price_of(model, level, shape, kinds[i], i);
    if (!price) {
      append(errors, price.errors());
      continue;
    }
    if (!*price)
      errors.push_back(resource_error(fmt::format("the price of dimension {} is beyond 64 bits", i + 1),
                                      "it is counted in millionths of a dollar for all NPUs together"));
    rates.per_gigabyte_per_second.push_back(Money::of(price->value_or(0)));
  }
  if (!errors.empty()) return errors;
  return rates;
}

Money network_cost(const CostRates& rates, std::span<const Bandwidth> bandwidth) {
  ensure(bandwidth.size() == rates.per_gigabyte_per_second.size(), "a split has one bandwidth per priced dimension");
  WideInt sum = kGiga - 1;
  for (std::size_t i = 0; i < bandwidth.size(); ++i) {
    const WideInt part = static_cast<WideInt>(rates.per_gigabyte_per_second[i].count()) * bandwidth[i].count();
    if (__builtin_add_overflow(sum, part, &sum)) return Money::max();
  }
  const WideInt rounded = sum / kGiga;
  constexpr WideInt kLargest = std::numeric_limits<std::int64_t>::max();
  return Money::of(static_cast<std::int64_t>(std::min(rounded, kLargest)));
}

}  // namespace tenex
