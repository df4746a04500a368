// Words of a study from and to enumerations whose values count from 0 in the order of their names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// The value called `text`; `what` is what messages call such a thing. Errors (input): an unknown name.
template <class Enum>
Result<Enum> parse_name(std::string_view text, std::span<const std::string_view> names, std::string_view what,
                        const Place& place) {
  std::string list;
  for (std::size_t value = 0; value < names.size(); ++value) {
    if (names[value] == text) return static_cast<Enum>(value);
    list += (value == 0 ? "" : ", ") + std::string(names[value]);
  }
  const auto near = nearest_spelling(text, {names.begin(), names.end()});
  return input_error(place, fmt::format("unknown {} \"{}\"", what, text), fmt::format("known are {}", list),
                     near.empty() ? std::string() : fmt::format("did you mean \"{}\"?", near));
}

}  // namespace tenex
