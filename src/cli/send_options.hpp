// Internal to cli: options that choose sends of a schedule file.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/decimal.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/units.hpp"

namespace tenex::cli {

/// Appends the numbers of "4" or "0-7". False: it is no range of numbers below `end`.
inline bool append_range(std::string_view text, std::size_t end, std::vector<std::uint32_t>& into) {
  const auto dash = text.find('-');
  const auto first = read_number<std::uint32_t>(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : read_number<std::uint32_t>(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last >= end) return false;
  for (auto number = *first; number <= *last; ++number) into.push_back(number);
  return true;
}

/// "0-7,12" as sorted ids below `end`. Errors (input), at `option`.
template <class Id>
Result<std::vector<Id>> ids_of(std::string_view text, std::size_t end, const char* option) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t at = 0; at < text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    if (!append_range(text.substr(at, comma - at), end, numbers))
      return input_error({option, 0, 0}, fmt::format("\"{}\" is no range", text.substr(at, comma - at)),
                         fmt::format("the schedule has 0 to {}", end - 1), "write for instance 0-7,12");
    at = comma + 1;
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return std::vector<Id>(numbers.begin(), numbers.end());
}

/// The time that an option gives; nullopt: none is given. Errors (input), at the option.
inline Result<std::optional<SimTime>> time_of(const std::string& text, const char* option) {
  if (text.empty()) return std::optional<SimTime>();
  const auto time = parse_time(text, {option, 0, 0});
  if (!time) return time.errors();
  return std::optional(*time);
}

}  // namespace tenex::cli
