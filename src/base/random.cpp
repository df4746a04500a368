// Philox4x32-10: ten rounds of multiply, swap and xor over a 128-bit counter, keyed by 64 bits.
//
// Encoding of a sequence: the key is the seed; the counter's low half is the block number, its high half the stream.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011 (constants of table 2);
// bounded numbers after Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019.
#include "tenex/base/random.hpp"

#include "tenex/base/diagnostic.hpp"

namespace tenex {

namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53U;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57U;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;  // golden ratio
constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;  // sqrt(3) - 1
constexpr int kRounds = 10;

constexpr std::uint32_t low_half(std::uint64_t bits) { return static_cast<std::uint32_t>(bits & 0xFFFFFFFFU); }
constexpr std::uint32_t high_half(std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> 32U); }

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter[2];
    counter = {high_half(product1) ^ counter[1] ^ key[0], low_half(product1), high_half(product0) ^ counter[3] ^ key[1],
               low_half(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

Random::result_type Random::operator()() {
  if (used_ == buffer_.size()) {
    buffer_ = philox({low_half(block_), high_half(block_), low_half(stream_), high_half(stream_)},
                     {low_half(seed_), high_half(seed_)});
    ++block_;
    used_ = 0;
  }
  return buffer_[used_++];
}

std::uint32_t Random::below(std::uint32_t bound) {
  ensure(bound > 0, "Random::below needs a positive bound");
  std::uint64_t product = std::uint64_t{(*this)()} * bound;
  if (low_half(product) < bound) {
    // 2^32 mod bound: the draws below it would make some results one draw more likely than others.
    const std::uint32_t threshold = (0U - bound) % bound;
    while (low_half(product) < threshold) product = std::uint64_t{(*this)()} * bound;
  }
  return high_half(product);
}

std::uint64_t Random::bits64() {
  const std::uint64_t high = (*this)();
  return (high << 32U) | (*this)();
}

double Random::unit() { return static_cast<double>(bits64() >> 11U) * 0x1.0p-53; }

}  // namespace tenex
