// The digits of every offset, with ties in turn.
#include "synthesis/pccl/orbit/exchange_ways.hpp"

#include <algorithm>

#include "tenex/base/contract.hpp"

namespace tenex {

namespace {

bool is_ring(const TranslationDimension& dimension) { return dimension.farthest_hops > 1; }

/// The leg over `digit` positions of a dimension. `tie` is flipped where both ways round are as long.
ExchangeLeg leg_over(const TranslationDimension& dimension, std::uint32_t digit, bool& tie) {
  if (digit == 0) return {dimension.first_direction, 0};
  if (!is_ring(dimension)) return {dimension.first_direction + digit - 1, 1};
  const std::uint32_t back = dimension.size - digit;
  if (digit == back) tie = !tie;
  const bool upward = digit == back ? tie : digit < back;
  return upward ? ExchangeLeg{dimension.first_direction, digit} : ExchangeLeg{dimension.first_direction + 1, back};
}

}  // namespace

bool has_exchange_ways(const TranslationGroup& group) {
  for (const auto& dimension : group.dimensions()) {
    if (dimension.directions != (is_ring(dimension) ? 2 : dimension.size - 1)) return false;
    for (std::uint32_t i = 0; i < dimension.directions; ++i) {
      const std::uint32_t step = is_ring(dimension) && i == 1 ? dimension.size - 1 : i + 1;
      if (group.directions()[dimension.first_direction + i].step != step) return false;
    }
  }
  return true;
}

std::uint32_t exchange_hops(const TranslationDimension& dimension, std::uint32_t digit) {
  if (!is_ring(dimension)) return digit == 0 ? 0 : 1;
  return std::min(digit, dimension.size - digit);
}

std::optional<std::size_t> uneven_ring(const TranslationGroup& group, const OrbitChunks& chunks) {
  for (std::size_t i = 0; i < group.dimensions().size(); ++i) {
    const auto& dimension = group.dimensions()[i];
    if (!is_ring(dimension) || dimension.size % 2 != 0) continue;
    std::uint64_t ties = 0;
    for (std::uint32_t delta = 0; delta < group.npus(); ++delta)
      if (delta / dimension.stride % dimension.size == dimension.size / 2 && chunks.has(delta * chunks.each))
        ties += chunks.each;
    if (ties % 2 == 1) return i;
  }
  return std::nullopt;
}

ExchangeWays::ExchangeWays(const TranslationGroup& group, const OrbitChunks& chunks,
                           std::optional<std::size_t> coset_ring)
    : cosets(coset_ring ? 2 : 1),
      coset_dimension(coset_ring.value_or(0)),
      numbers(chunks.numbers(group.npus())),
      jobs(cosets * numbers),
      dimensions(group.dimensions().size()),
      load(group.directions().size(), 0) {
  TENEX_EXPECTS(has_exchange_ways(group), "a group that has ways");
  legs.reserve(jobs * dimensions);
  for (std::size_t coset = 0; coset < cosets; ++coset) {
    std::vector<char> tie(dimensions, coset == 0 ? 0 : 1);
    for (std::uint32_t number = 0; number < numbers; ++number)
      for (std::size_t i = 0; i < dimensions; ++i) {
        const auto& dimension = group.dimensions()[i];
        const std::uint32_t digit = chunks.has(number) ? number / chunks.each / dimension.stride % dimension.size : 0;
        bool turn = tie[i] != 0;
        legs.push_back(leg_over(dimension, digit, turn));
        tie[i] = turn ? 1 : 0;
        load[legs.back().direction] += legs.back().hops;
      }
  }
}

std::vector<std::uint64_t> ExchangeWays::load_of(const OrbitPorts& ports) const {
  std::vector<std::uint64_t> sums(ports.size(), 0);
  for (std::size_t direction = 0; direction < load.size(); ++direction)
    sums[ports.port_of[direction]] += load[direction];
  return sums;
}

}  // namespace tenex
