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
[[nodiscard]] std::vector<std::vector<std::uint32_t>> weak_orders(std::size_t dimensions);

}  // namespace tenex
