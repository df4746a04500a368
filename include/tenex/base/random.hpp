// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
//
// A number is a pure function of (key, stream, counter), so results do not depend on which thread drew them or in which
// order. A generator is 40 bytes of value state; copying it forks the sequence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace tenex {

/// One Philox4x32-10 block: 128 random bits from a 128-bit counter and a 64-bit key. O(1).
[[nodiscard]] std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                  std::array<std::uint32_t, 2> key);

/// A hash of 64 bits (the finalizer of SplitMix64: Steele, Lea, Flood, OOPSLA 2014). O(1).
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t bits) {
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EBU;
  return bits ^ bits >> 31;
}

/// A sequence of random numbers keyed by (seed, stream). Satisfies std::uniform_random_bit_generator.
class Random {
 public:
  using result_type = std::uint32_t;

  /// `seed` is the study's; `stream` separates independent uses (for example a hash of the synthesis key and the
  /// attempt).
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xFFFFFFFFU; }
  result_type operator()();

  /// Uniform in [0, bound), without bias (Lemire's multiply-and-reject). `bound` must be positive.
  std::uint32_t below(std::uint32_t bound);
  /// 64 random bits.
  std::uint64_t bits64();
  /// Uniform in [0, 1), 53 bits.
  double unit();

  /// Fisher-Yates; every permutation equally likely, the same on every platform (std::shuffle is not).
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t block_ = 0;
  std::array<std::uint32_t, 4> buffer_{};
  unsigned used_ = 4;
};

}  // namespace tenex
