#include "exchange/decimal_text.hpp"

#include <algorithm>

#include "tenex/base/decimal.hpp"

namespace tenex::exchange {

std::optional<std::int64_t> scaled(std::string_view text, std::int64_t scale, bool* exact) {
  const auto e = text.find_first_of("eE");
  std::int64_t exponent = 0;
  if (e != std::string_view::npos) {
    auto digits = text.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto read = read_number<std::int64_t>(digits);
    if (!read || *read < -18 || *read > 18) return std::nullopt;
    exponent = *read;
  }
  auto mantissa = text.substr(0, e);
  if (mantissa.ends_with('.')) mantissa.remove_suffix(1);
  const auto value = read_decimal(mantissa);
  if (!value) return std::nullopt;
  __extension__ using Wide = __int128;
  Wide numerator = static_cast<Wide>(value->numerator) * scale;  // below 2^126
  Wide denominator = value->denominator;
  for (; exponent > 0; --exponent) {
    if (denominator % 10 == 0) {
      denominator /= 10;
      continue;
    }
    if (numerator / denominator > INT64_MAX) return std::nullopt;
    if (__builtin_mul_overflow(numerator, Wide{10}, &numerator)) return std::nullopt;
  }
  for (; exponent < 0; ++exponent)
    if (__builtin_mul_overflow(denominator, Wide{10}, &denominator)) return std::nullopt;
  const Wide quotient = numerator / denominator;
  if (quotient > INT64_MAX) return std::nullopt;
  if (exact != nullptr) *exact = numerator % denominator == 0;
  return static_cast<std::int64_t>(quotient);
}

}  // namespace tenex::exchange
