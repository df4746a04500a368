// Strong quantities: simulated time, sizes, bandwidths and amounts of money.
//
// Encoding: one int64 each (picoseconds, bytes, bytes per second, millionths of a dollar), so arithmetic is exact and
// results are bitwise equal everywhere. A template over a unit tag gives each quantity its own type at no run-time
// cost; mixing two of them does not compile (tests/compile_fail holds one case per type).
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace tenex {

/// An exact integer amount of one unit. `Unit` is an empty tag; two quantities of different units never mix.
template <class Unit>
class Quantity {
 public:
  using Rep = std::int64_t;

  constexpr Quantity() = default;
  /// The only conversion from a bare number. Literals use the factories of the aliases, which name the unit.
  static constexpr Quantity of(Rep count) { return Quantity(count); }
  static constexpr Quantity zero() { return Quantity(0); }
  static constexpr Quantity max() { return Quantity(std::numeric_limits<Rep>::max()); }

  /// The amount in the unit: ps, B or B/s.
  [[nodiscard]] constexpr Rep count() const { return count_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) { return count_ += other.count_, *this; }
  constexpr Quantity& operator-=(Quantity other) { return count_ -= other.count_, *this; }
  constexpr Quantity& operator*=(Rep factor) { return count_ *= factor, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, Rep factor) { return a *= factor; }
  friend constexpr Quantity operator*(Rep factor, Quantity a) { return a *= factor; }
  /// The number of whole `b` that fit in `a` (rounded toward zero).
  friend constexpr Rep operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }
  friend constexpr Quantity operator/(Quantity a, Rep divisor) { return Quantity(a.count_ / divisor); }
  friend constexpr Quantity operator%(Quantity a, Quantity b) { return Quantity(a.count_ % b.count_); }

 private:
  constexpr explicit Quantity(Rep count) : count_(count) {}
  Rep count_ = 0;
};

/// Simulated time in picoseconds. int64 reaches 106 days.
using SimTime = Quantity<struct TimeUnit>;
/// A size in bytes.
using Bytes = Quantity<struct ByteUnit>;
/// A bandwidth in bytes per second (of a link: one direction).
using Bandwidth = Quantity<struct BandwidthUnit>;
/// An amount in millionths of a US dollar. int64 reaches 9.2e12 dollars.
using Money = Quantity<struct MoneyUnit>;

constexpr SimTime picoseconds(std::int64_t n) { return SimTime::of(n); }
constexpr SimTime nanoseconds(std::int64_t n) { return SimTime::of(n * 1'000); }
inline constexpr double kPicosecondsPerMicrosecond = 1e6;
constexpr SimTime microseconds(std::int64_t n) { return SimTime::of(n * 1'000'000); }
constexpr Bytes bytes(std::int64_t n) { return Bytes::of(n); }
constexpr Bytes kibibytes(std::int64_t n) { return Bytes::of(n << 10); }
constexpr Bytes mebibytes(std::int64_t n) { return Bytes::of(n << 20); }
constexpr Bytes gibibytes(std::int64_t n) { return Bytes::of(n << 30); }
constexpr Bandwidth bytes_per_second(std::int64_t n) { return Bandwidth::of(n); }
/// Decimal gigabytes per second (1e9 B/s), as interconnect data sheets print them.
constexpr Bandwidth gigabytes_per_second(std::int64_t n) { return Bandwidth::of(n * 1'000'000'000); }
/// Binary gibibytes per second (2^30 B/s).
constexpr Bandwidth gibibytes_per_second(std::int64_t n) { return Bandwidth::of(n << 30); }

constexpr Money dollars(std::int64_t n) { return Money::of(n * 1'000'000); }

/// beta*m: how long `size` occupies a link of `bandwidth`, ceil(size * 1e12 / bandwidth) ps in 128-bit arithmetic.
/// Saturates at SimTime::max() where the exact value does not fit. `bandwidth` must be positive. O(1).
constexpr SimTime serialization_time(Bytes size, Bandwidth bandwidth) {
  __extension__ using Wide = unsigned __int128;
  const Wide scaled = static_cast<Wide>(size.count()) * 1'000'000'000'000U;
  const Wide divisor = static_cast<Wide>(bandwidth.count());
  const Wide result = (scaled + divisor - 1) / divisor;
  const auto limit = static_cast<Wide>(SimTime::max().count());
  return SimTime::of(static_cast<std::int64_t>(result < limit ? result : limit));
}

/// Quotient rounded up, for non-negative `a` and positive `b`.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// size / time in bytes per second as a double (a reported metric, never an input); 0 when `time` is zero.
constexpr double rate(Bytes size, SimTime time) {
  return time.count() == 0 ? 0.0 : static_cast<double>(size.count()) * 1e12 / static_cast<double>(time.count());
}

}  // namespace tenex
