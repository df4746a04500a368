// Division by a number that is known beforehand, by one wide multiplication: programs split chunk ids and ranks into
// digits hundreds of millions of times.
//
// x / d = (ceil(2^64 / d) * x) / 2^64, exact for all 32-bit x and d > 1 (Lemire, Kaser and Kurz, "Faster remainder by
// direct computation", 2019).
#pragma once

#include <cstdint>
#include <limits>

namespace tenex {

/// A positive 32-bit divisor.
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(std::uint32_t divisor)
      : divisor_(divisor), magic_(divisor == 1 ? 0 : std::numeric_limits<std::uint64_t>::max() / divisor + 1) {}

  [[nodiscard]] std::uint32_t value() const { return divisor_; }
  [[nodiscard]] std::uint32_t quotient(std::uint32_t x) const {
    __extension__ using Wide = unsigned __int128;
    return magic_ == 0 ? x : static_cast<std::uint32_t>((static_cast<Wide>(magic_) * x) >> 64);
  }
  [[nodiscard]] std::uint32_t remainder(std::uint32_t x) const { return x - quotient(x) * divisor_; }

 private:
  std::uint32_t divisor_ = 1;
  std::uint64_t magic_ = 0;  ///< 0: the divisor is 1
};

}  // namespace tenex
