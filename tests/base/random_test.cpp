// The random numbers against published vectors, and the properties that results rely on.
#include "tenex/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {
namespace {

using Counter = std::array<std::uint32_t, 4>;

// Known answers: kat_vectors of Random123 (Salmon et al.), philox4x32 with 10 rounds.
TEST(Philox, MatchesThePublishedVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  // The counter and key are the first hexadecimal digits of pi.
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, WalksTheBlocksOfItsSeedAndStream) {
  Random random(0x299f31d0a4093822, 0x0370734413198a2e);
  for (std::uint32_t block = 0; block < 3; ++block) {
    const Counter expected = philox({block, 0, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0});
    for (const std::uint32_t word : expected) EXPECT_EQ(random(), word);
  }
}

TEST(Random, IsAStandardGenerator) {
  static_assert(std::uniform_random_bit_generator<Random>);
  EXPECT_EQ(Random::min(), 0U);
  EXPECT_EQ(Random::max(), 0xffffffffU);
}

TEST(Random, DiffersBySeedAndByStream) {
  EXPECT_NE(Random(1).bits64(), Random(2).bits64());
  EXPECT_NE(Random(1, 1).bits64(), Random(1, 2).bits64());
  EXPECT_EQ(Random(1, 1).bits64(), Random(1, 1).bits64());
}

TEST(Random, ForksWhenCopied) {
  Random one(7);
  static_cast<void>(one());
  Random two = one;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(one(), two());
}

TEST(RandomBelow, StaysInBoundsAndReachesBothEnds) {
  Random random(3);
  for (const std::uint32_t bound : {1U, 2U, 3U, 7U, 1000U, 0x80000001U, 0xffffffffU}) {
    for (int i = 0; i < 1'000; ++i) EXPECT_LT(random.below(bound), bound);
  }
  EXPECT_EQ(random.below(1), 0U);
  EXPECT_THROW(static_cast<void>(random.below(0)), InvariantError);
}

TEST(RandomBelow, IsUniform) {
  Random random(4);
  constexpr std::uint32_t kBound = 6;
  constexpr int kDraws = 60'000;
  std::array<int, kBound> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(kBound)];
  // 10,000 expected per value; the standard deviation is sqrt(60000 * 1/6 * 5/6) = 91.3. Five of them are 457.
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 457);
}

TEST(RandomBelow, RejectsTheDrawsThatWouldBias) {
  // The bound is 3 * 2^30 = 0xC0000000, so a draw x of 2^32 becomes x * 3 / 4 rounded down (0, 0.75, 1.5, 2.25, 3: the
  // values 0, 0, 1, 2, 3, 3, ...). Without rejection, values divisible by 3 come twice as often as others: half of the
  // results instead of a third would be divisible by 3.
  Random random(5);
  int divisible = 0;
  constexpr int kDraws = 30'000;
  for (int i = 0; i < kDraws; ++i) divisible += random.below(0xC0000000U) % 3 == 0 ? 1 : 0;
  // A third is 10,000; the standard deviation is sqrt(30000 * 1/3 * 2/3) = 81.6. Five of them are 408.
  EXPECT_NEAR(divisible, 10'000, 408);
}

TEST(RandomUnit, CoversTheHalfOpenInterval) {
  Random random(6);
  double sum = 0;
  constexpr int kDraws = 40'000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.unit();
    EXPECT_GE(value, 0.0);
    EXPECT_LT(value, 1.0);
    sum += value;
  }
  // Mean 1/2; the standard deviation of the mean is sqrt(1/12/40000) = 0.00144. Five of them are 0.0072.
  EXPECT_NEAR(sum / kDraws, 0.5, 0.0072);
}

TEST(RandomShuffle, PermutesAndRepeats) {
  std::vector<int> first(100);
  std::iota(first.begin(), first.end(), 0);
  std::vector<int> second = first;
  const std::vector<int> sorted = first;
  Random(8).shuffle(std::span<int>(first));
  Random(8).shuffle(std::span<int>(second));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, sorted);
  EXPECT_TRUE(std::is_permutation(first.begin(), first.end(), sorted.begin()));
}

TEST(RandomShuffle, IsTheSameOnEveryPlatform) {
  // Fisher-Yates by hand for 4 items: i = 4, 3, 2 swaps items[i - 1] with items[below(i)]. The first block of seed 0 is
  // 6627e8d5 e169c58d bc57ac4c 9b00dbd8. below(4) = 0x6627e8d5 >> 30 = 1: 0 3 2 1. below(3) = 0xe169c58d * 3 >> 32 = 2
  // (0.88 * 3 = 2.6): 0 3 2 1. below(2) = 0xbc57ac4c >> 31 = 1: 0 3 2 1.
  std::array<int, 4> items{0, 1, 2, 3};
  Random(0).shuffle(std::span<int>(items));
  EXPECT_EQ(items, (std::array<int, 4>{0, 3, 2, 1}));
}

TEST(RandomShuffle, MakesEveryPermutationEquallyLikely) {
  Random random(9);
  std::array<int, 6> counts{};
  constexpr int kRounds = 12'000;
  for (int i = 0; i < kRounds; ++i) {
    std::array<int, 3> items{0, 1, 2};
    random.shuffle(std::span<int>(items));
    ++counts[static_cast<std::size_t>(items[0] * 2 + (items[1] > items[2] ? 1 : 0))];
  }
  // 2,000 expected per permutation; the standard deviation is sqrt(12000 * 1/6 * 5/6) = 40.8. Five of them are 204.
  for (const int count : counts) EXPECT_NEAR(count, 2'000, 204);
}

}  // namespace
}  // namespace tenex
