#include "synthesis/orbit/weak_orders.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostDimensionsRanked = 4;

}  // namespace

std::vector<std::vector<std::uint32_t>> weak_orders(std::size_t dimensions) {
  std::vector<std::vector<std::uint32_t>> orders;
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
