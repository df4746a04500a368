// Bitsets and compressed sparse rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tenex/base/bitset.hpp"
#include "tenex/base/csr.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Bitset, StartsClearAndRemembersBitsAcrossWords) {
  Bitset bits(130);
  EXPECT_EQ(bits.size(), 130U);
  EXPECT_EQ(bits.words().size(), 3U);  // 130 = 2 * 64 + 2
  EXPECT_EQ(bits.count(), 0U);
  for (const std::size_t i : {0U, 63U, 64U, 129U}) bits.set(i);
  EXPECT_EQ(bits.count(), 4U);
  EXPECT_TRUE(bits.test(63));
  EXPECT_TRUE(bits.test(64));
  EXPECT_FALSE(bits.test(65));
  bits.reset(64);
  EXPECT_FALSE(bits.test(64));
  EXPECT_EQ(bits.count(), 3U);
}

TEST(Bitset, InsertTellsWhetherTheBitWasNew) {
  Bitset bits(65);
  EXPECT_TRUE(bits.insert(64));
  EXPECT_FALSE(bits.insert(64));
  EXPECT_EQ(bits.count(), 1U);
}

TEST(Bitset, ComparesByContent) {
  Bitset a(10);
  Bitset b(10);
  EXPECT_EQ(a, b);
  a.set(3);
  EXPECT_NE(a, b);
  EXPECT_NE(Bitset(10), Bitset(11));
}

TEST(BitMatrix, KeepsRowsApart) {
  BitMatrix matrix(3, 70);
  EXPECT_EQ(matrix.words_per_row(), 2U);  // 70 = 64 + 6
  EXPECT_TRUE(matrix.insert(1, 69));
  EXPECT_FALSE(matrix.insert(1, 69));
  matrix.set(2, 0);
  EXPECT_TRUE(matrix.test(1, 69));
  EXPECT_FALSE(matrix.test(0, 69));
  EXPECT_FALSE(matrix.test(2, 69));
  EXPECT_EQ(matrix.row(1)[1], std::uint64_t{1} << 5U);  // column 69 is bit 5 of the second word
  EXPECT_EQ(matrix.row(2)[0], 1U);
  EXPECT_EQ(BitMatrix::bytes_for(3, 70), 3U * 2U * 8U);
}

TEST(Csr, GroupsItemsByRowInTheirOrder) {
  const std::vector<int> rows{2, 0, 2, 2, 0};
  const auto csr = Csr<int>::group(
      4, rows.size(), [&](std::size_t i) { return rows[i]; }, [](std::size_t i) { return static_cast<int>(i) * 10; });
  EXPECT_EQ(csr.rows(), 4U);
  EXPECT_EQ(csr.items(), 5U);
  EXPECT_THAT(csr.row(0), ElementsAre(10, 40));
  EXPECT_THAT(csr.row(1), IsEmpty());
  EXPECT_THAT(csr.row(2), ElementsAre(0, 20, 30));
  EXPECT_THAT(csr.row(3), IsEmpty());
}

TEST(Csr, MayBeEmpty) {
  EXPECT_EQ(Csr<int>().rows(), 0U);
  const auto csr = Csr<int>::group(
      2, 0, [](std::size_t) { return 0; }, [](std::size_t) { return 0; });
  EXPECT_EQ(csr.rows(), 2U);
  EXPECT_EQ(csr.items(), 0U);
}

}  // namespace
}  // namespace tenex
