// Degrees to suggest: the divisors of a number nearest to one that does not divide it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace tenex {

/// The largest divisor of `number` below `wanted` and the smallest above, where there are any. O(sqrt(number)).
inline std::vector<std::int64_t> nearest_divisors(std::int64_t number, std::int64_t wanted) {
  std::int64_t below = 0;
  std::int64_t above = 0;
  const auto consider = [&](std::int64_t divisor) {
    if (divisor < wanted && divisor > below) below = divisor;
    if (divisor > wanted && (above == 0 || divisor < above)) above = divisor;
  };
  for (std::int64_t small = 1; small * small <= number; ++small) {
    if (number % small != 0) continue;
    consider(small);
    consider(number / small);
  }
  std::vector<std::int64_t> found;
  if (below != 0) found.push_back(below);
  if (above != 0) found.push_back(above);
  return found;
}

/// "use 8 or 16", for messages.
inline std::string suggest_divisors(std::int64_t number, std::int64_t wanted) {
  std::string text;
  for (const auto divisor : nearest_divisors(number, wanted))
    text += fmt::format("{}{}", text.empty() ? "use " : " or ", divisor);
  return text;
}

}  // namespace tenex
