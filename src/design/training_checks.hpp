// What the checks of rows that train share: words of a row, and places in its values.
#pragma once

#include <cstddef>
#include <string_view>

#include "design/row_checks.hpp"

namespace tenex {

/// The word of a row's key of words, or its default.
[[nodiscard]] std::string_view word_of(const Row& row, Key key, std::string_view fallback);

/// Where byte `offset` of a value's canonical text was written, where the two differ by spaces only.
[[nodiscard]] Place place_in(const SettingValue& value, std::string_view canonical, std::size_t offset);

}  // namespace tenex
