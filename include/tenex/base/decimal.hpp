// Text as a number: the whole text or nothing.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace tenex {

/// The whole text as a number of this type, without blanks or a plus sign; nullopt where it is not one.
template <class Number>
[[nodiscard]] std::optional<Number> read_number(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// numerator / denominator; the denominator is a power of ten.
struct Decimal {
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;

  /// The value times `scale`; nullopt where the product is not a whole number or does not fit in 63 bits.
  [[nodiscard]] std::optional<std::int64_t> times(std::int64_t scale) const {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(numerator, scale / common(scale, denominator), &product)) return std::nullopt;
    const std::int64_t rest = denominator / common(scale, denominator);
    if (product % rest != 0) return std::nullopt;
    return product / rest;
  }

 private:
  static std::int64_t common(std::int64_t a, std::int64_t b) {
    while (b != 0) {
      const std::int64_t next = a % b;
      a = b;
      b = next;
    }
    return a;
  }
};

/// Reads digits with an optional point between digits ("12", "0.5"). With `thousands`, commas may stand between the
/// digits before the point. Returns nullopt where the text is something else or does not fit in 63 bits.
inline std::optional<Decimal> read_decimal(std::string_view text, bool thousands = false) {
  Decimal value;
  bool behind_point = false;
  bool after_digit = false;
  for (const char c : text) {
    const bool separator = (c == '.' && !behind_point) || (c == ',' && thousands && !behind_point);
    if (separator) {
      if (!after_digit) return std::nullopt;
      behind_point = behind_point || c == '.';
      after_digit = false;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    after_digit = true;
    if (__builtin_mul_overflow(value.numerator, std::int64_t{10}, &value.numerator)) return std::nullopt;
    if (__builtin_add_overflow(value.numerator, std::int64_t{c - '0'}, &value.numerator)) return std::nullopt;
    if (behind_point && __builtin_mul_overflow(value.denominator, std::int64_t{10}, &value.denominator))
      return std::nullopt;
  }
  if (!after_digit) return std::nullopt;
  while (value.denominator > 1 && value.numerator % 10 == 0) {
    value.numerator /= 10;
    value.denominator /= 10;
  }
  return value;
}

}  // namespace tenex
