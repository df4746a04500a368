// Sums of bandwidths with exact fractions as coefficients: the value of one side of a constraint.
#pragma once

#include <array>
#include <cstdint>

#include "tenex/codesign/constraint.hpp"

namespace tenex::codesign {

/// The indices of a LinearForm's coefficients: B1, B2, ..., then `total` and `cost`.
inline constexpr std::size_t kTotal = kMostOptimizedDimensions;
inline constexpr std::size_t kCost = kTotal + 1;

/// (coefficients . symbols + constant) / denominator, in the base unit of `kind`: 1, B/s or millionths of a dollar.
struct LinearForm {
  enum class Kind : std::uint8_t { number, bandwidth, money };
  Kind kind = Kind::number;
  std::array<WideInt, kCost + 1> coefficients{};
  WideInt constant = 0;
  WideInt denominator = 1;
  bool overflow = false;

  [[nodiscard]] static LinearForm value(Kind kind, WideInt numerator, WideInt denominator = 1) {
    return {kind, {}, numerator, denominator, false};
  }
  [[nodiscard]] static LinearForm symbol(std::size_t index) {
    LinearForm form = value(index == kCost ? Kind::money : Kind::bandwidth, 0);
    form.coefficients.at(index) = 1;
    return form;
  }

  /// Multiplies by factor / divisor.
  void scale(WideInt factor, WideInt divisor) {
    for (auto& coefficient : coefficients) multiply(coefficient, factor);
    multiply(constant, factor);
    multiply(denominator, divisor);
    reduce();
  }

  /// Adds sign * other, which has the same kind.
  void add(const LinearForm& other, int sign) {
    const WideInt common = common_divisor(denominator, other.denominator);
    const WideInt mine = other.denominator / common;
    const WideInt theirs = denominator / common;
    const auto combine = [&](WideInt& to, WideInt from) {
      multiply(to, mine);
      multiply(from, theirs * sign);
      if (__builtin_add_overflow(to, from, &to)) overflow = true;
    };
    for (std::size_t i = 0; i < coefficients.size(); ++i) combine(coefficients[i], other.coefficients[i]);
    combine(constant, other.constant);
    multiply(denominator, mine);
    overflow = overflow || other.overflow;
    reduce();
  }

 private:
  void multiply(WideInt& value, WideInt factor) {
    if (__builtin_mul_overflow(value, factor, &value)) overflow = true;
  }
  void reduce() {
    WideInt common = common_divisor(constant, denominator);
    for (const auto coefficient : coefficients) common = common_divisor(coefficient, common);
    if (common <= 1) return;
    for (auto& coefficient : coefficients) coefficient /= common;
    constant /= common;
    denominator /= common;
  }
};

}  // namespace tenex::codesign
