// Shares of a total bandwidth.
#include "tenex/design/divide_bandwidth.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tenex/base/contract.hpp"

namespace tenex {

std::vector<Bandwidth> divide_bandwidth(Bandwidth total, const std::vector<std::int64_t>& shares) {
  TENEX_EXPECTS(!shares.empty() && std::ranges::min(shares) > 0, "shares, all of them positive");
  __extension__ using Wide = __int128;
  const auto sum = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  std::vector<Bandwidth> parts;
  parts.reserve(shares.size());
  auto left = total.count();
  for (const auto share : shares) {
    const auto part = static_cast<std::int64_t>(static_cast<Wide>(total.count()) * share / sum);
    parts.push_back(Bandwidth::of(part));
    left -= part;
  }
  for (auto part = parts.begin(); left > 0; ++part, --left) *part += bytes_per_second(1);
  return parts;
}

std::vector<Bandwidth> divide_bandwidth(Bandwidth total, std::vector<std::int64_t> split, std::size_t dimensions) {
  TENEX_EXPECTS(dimensions > 0 && (split.empty() || split.size() == dimensions), "a share for each dimension");
  if (split.empty()) split.assign(dimensions, 1);
  return divide_bandwidth(total, split);
}

}  // namespace tenex
