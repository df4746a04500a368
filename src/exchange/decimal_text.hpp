// Internal to exchange: numbers as JSON and YAML write them, exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenex::exchange {

/// A decimal number, with an exponent if it has one, times `scale`, rounded down; nothing where the text is no number,
/// is negative or does not fit in 63 bits. `exact` tells whether nothing was rounded.
[[nodiscard]] std::optional<std::int64_t> scaled(std::string_view text, std::int64_t scale, bool* exact = nullptr);

}  // namespace tenex::exchange
