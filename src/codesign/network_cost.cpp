// Prices times bandwidths; the formula is in the header.
#include "tenex/codesign/network_cost.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tenex/base/words.hpp"
#include "tenex/codesign/constraint.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {
namespace {

constexpr std::array<std::string_view, 4> kDefaultKinds{"chiplet", "package", "node", "pod"};  // LIBRA, Table I
constexpr std::array<std::string_view, 3> kLevelNames{"low", "mid", "high"};
/// Prices are per 1e9 bytes per second.
constexpr std::int64_t kGiga = 1'000'000'000;

/// A kind by its name.
Result<DimensionKind> find_kind(const CostModel& model, std::string_view name) {
  if (const auto found = model.kinds.find(name); found != model.kinds.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& [each, kind] : model.kinds) names.push_back(each);
  const auto nearest = nearest_spelling(name, names);
  return input_error({}, fmt::format("unknown dimension kind \"{}\"", name),
                     fmt::format("the cost model \"{}\" has {}", model.name, fmt::join(names, ", ")),
                     nearest.empty() ? std::string() : fmt::format("did you mean \"{}\"?", nearest));
}

/// The NPUs that one instance of a dimension joins.
std::int64_t joined_npus(const Shape& shape, std::size_t dimension) {
  std::int64_t npus = 1;
  for (std::size_t i = 0; i <= dimension; ++i) npus *= static_cast<std::int64_t>(shape.blocks[i].size);
  return npus;
}

/// The price of one GB/s for every NPU in a dimension; nullopt beyond 64 bits.
Result<std::optional<std::int64_t>> price_of(const CostModel& model, PriceLevel level, const Shape& shape,
                                             const std::string& kind, std::size_t dimension) {
  const Block& block = shape.blocks[dimension];
  const auto found = find_kind(model, kind);
  if (!found) return found.errors();
  const auto& prices = *found;
  const auto missing = [&](std::string_view part) {
    return input_error({}, fmt::format("dimension {} ({}) has {} without a price", dimension + 1, kind, part),
                       fmt::format("the cost model \"{}\" has no such price for kind {}", model.name, kind),
                       "choose another kind for the dimension or add the price");
  };
  if (const auto joined = joined_npus(shape, dimension); prices.reach && joined > *prices.reach)
    return input_error({}, fmt::format("dimension {} ({}) joins {} NPUs", dimension + 1, kind, joined),
                       fmt::format("the kind {} of the cost model \"{}\" reaches {}", kind, model.name, *prices.reach),
                       "choose a kind of more reach for the dimension, or a smaller one");
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

std::string_view to_string(PriceLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

Result<PriceLevel> parse_price_level(std::string_view text, const Place& place) {
  return parse_name<PriceLevel>(text, kLevelNames, "price level", place);
}

bool is_kind_name(std::string_view name) {
  return !name.empty() && name != "auto" &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

std::vector<std::string> default_dimension_kinds(std::size_t dimensions) {
  const std::size_t named = std::min(dimensions, kDefaultKinds.size());
  std::vector<std::string> kinds(dimensions - named, std::string(kDefaultKinds.front()));
  kinds.insert(kinds.end(), kDefaultKinds.end() - static_cast<std::ptrdiff_t>(named), kDefaultKinds.end());
  return kinds;
}

Money PriceRange::at(PriceLevel level) const {
  return level == PriceLevel::low ? low : level == PriceLevel::mid ? mid : high;
}

Result<CostRates> cost_rates(const CostModel& model, PriceLevel level, const Shape& shape,
                             std::span<const std::string> kinds) {
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
    if (const auto& most = model.kinds.find(kinds[i])->second.bandwidth) rates.limits.push_back({i, *most, kinds[i]});
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
