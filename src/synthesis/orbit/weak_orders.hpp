// Orders of dimensions in which several may be equal: which dimensions should bring chunks to the others depends on how
// much each can deliver at all, not only on its speed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenex {

/// The rank of each value among the distinct ones: equal values have one rank.
template <class Value>
[[nodiscard]] std::vector<std::uint32_t> dense_ranks(const std::vector<Value>& values) {
  auto sorted = values;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<std::uint32_t> ranks;
  for (const auto& value : values)
    ranks.push_back(static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  return ranks;
}

/// All weak orders of two to four dimensions, as ranks from 0 (75 of four); none of others.
[[nodiscard]] inline std::vector<std::vector<std::uint32_t>> weak_orders(std::size_t dimensions) {
  std::vector<std::vector<std::uint32_t>> orders;
  constexpr std::size_t kMostDimensionsRanked = 4;
  if (dimensions < 2 || dimensions > kMostDimensionsRanked) return orders;
  std::vector<std::uint32_t> ranks(dimensions, 0);
  for (bool more = true; more;) {
    const std::uint32_t highest = *std::max_element(ranks.begin(), ranks.end());
    bool dense = true;  // every rank below the highest occurs
    for (std::uint32_t rank = 0; rank < highest; ++rank)
      dense = dense && std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    if (dense) orders.push_back(ranks);
    std::size_t digit = 0;
    while (digit < dimensions && ++ranks[digit] == dimensions) ranks[digit++] = 0;
    more = digit < dimensions;
  }
  return orders;
}

}  // namespace tenex
