// Integers and exact fractions in 128 bits, with detection of overflow.
#pragma once

namespace tenex {

/// 128-bit integers: products of bandwidths and prices exceed int64.
__extension__ using WideInt = __int128;

constexpr WideInt magnitude(WideInt value) { return value < 0 ? -value : value; }

/// Euclid's; not negative. O(bits) divisions.
constexpr WideInt common_divisor(WideInt a, WideInt b) {
  a = magnitude(a);
  b = magnitude(b);
  while (b != 0) {
    const WideInt rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// A reduced fraction with a positive denominator. A denominator of 0 marks an overflow in the computation.
class Rational {
 public:
  Rational(WideInt numerator = 0) : numerator_(numerator) {}  // NOLINT: implicit, as numbers are
  Rational(WideInt numerator, WideInt denominator) : numerator_(numerator), denominator_(denominator) { reduce(); }

  [[nodiscard]] bool fits() const { return denominator_ != 0; }
  [[nodiscard]] int sign() const { return numerator_ > 0 ? 1 : numerator_ < 0 ? -1 : 0; }
  [[nodiscard]] bool is_whole() const { return denominator_ == 1; }
  [[nodiscard]] WideInt numerator() const { return numerator_; }
  [[nodiscard]] WideInt denominator() const { return denominator_; }
  [[nodiscard]] double in_double() const {
    return static_cast<double>(static_cast<long double>(numerator_) / static_cast<long double>(denominator_));
  }

  friend Rational operator-(Rational a) { return a.numerator_ = -a.numerator_, a; }
  friend Rational operator+(const Rational& a, const Rational& b) {
    if (!a.fits() || !b.fits()) return lost();
    const WideInt common = common_divisor(a.denominator_, b.denominator_);
    WideInt left = 0;
    WideInt right = 0;
    WideInt sum = 0;
    WideInt denominator = 0;
    if (__builtin_mul_overflow(a.numerator_, b.denominator_ / common, &left) ||
        __builtin_mul_overflow(b.numerator_, a.denominator_ / common, &right) ||
        __builtin_add_overflow(left, right, &sum) ||
        __builtin_mul_overflow(a.denominator_, b.denominator_ / common, &denominator))
      return lost();
    return {sum, denominator};
  }
  friend Rational operator-(const Rational& a, const Rational& b) { return a + -b; }
  friend Rational operator*(const Rational& a, const Rational& b) {
    if (!a.fits() || !b.fits()) return lost();
    // Reduces across first, so that the factors are smaller.
    const Rational first(a.numerator_, b.denominator_);
    const Rational second(b.numerator_, a.denominator_);
    Rational product;
    if (__builtin_mul_overflow(first.numerator_, second.numerator_, &product.numerator_) ||
        __builtin_mul_overflow(first.denominator_, second.denominator_, &product.denominator_))
      return lost();
    return product;
  }
  /// `b` is not zero.
  friend Rational operator/(const Rational& a, const Rational& b) {
    if (!a.fits() || !b.fits()) return lost();
    return a * Rational(b.denominator_, b.numerator_);
  }
  friend bool operator<(const Rational& a, const Rational& b) { return (a - b).sign() < 0; }
  bool operator==(const Rational&) const = default;

 private:
  static Rational lost() {
    Rational value;
    value.denominator_ = 0;
    return value;
  }
  void reduce() {
    if (denominator_ == 1) return;
    const WideInt common = common_divisor(numerator_, denominator_);
    if (common != 0) {
      numerator_ /= common;
      denominator_ /= common;
    }
    if (denominator_ < 0) {
      numerator_ = -numerator_;
      denominator_ = -denominator_;
    }
  }

  WideInt numerator_ = 0;
  WideInt denominator_ = 1;
};

}  // namespace tenex
