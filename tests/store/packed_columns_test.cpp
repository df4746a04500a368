// Columns of few distinct values return what was put in.
#include "store/packed_columns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tenex::store {
namespace {

using ::testing::ElementsAre;

TEST(PackedIntegers, AreOneValueUntilASecondOneComes) {
  PackedIntegers column(4);
  column.set(0, 7);
  column.set(1, 7);
  EXPECT_THAT(column.unpacked(), ElementsAre(7, 7, 7, 7));
  column.set(3, -1);
  column.set(2, 7);
  EXPECT_THAT(column.unpacked(), ElementsAre(7, 7, 7, -1));
}

TEST(PackedIntegers, ThatWereNeverSetAreZero) { EXPECT_THAT(PackedIntegers(2).unpacked(), ElementsAre(0, 0)); }

TEST(PackedTexts, KeepEachTextOnceInAnyOrderOfRows) {
  PackedTexts column(5);
  EXPECT_EQ(column.width(), 1U);
  EXPECT_EQ(column.at(4), "");
  column.set(4, "ring");
  column.set(3, "ring");
  column.set(0, "");
  column.set(2, "direct");
  column.set(1, "ring");
  EXPECT_EQ(column.at(0), "");
  EXPECT_EQ(column.at(1), "ring");
  EXPECT_EQ(column.at(2), "direct");
  EXPECT_EQ(column.at(3), "ring");
  EXPECT_EQ(column.at(4), "ring");
  EXPECT_EQ(column.width(), 6U);  // length of "direct"
}

TEST(PackedTexts, StayWhatTheyAreWhenMoved) {
  std::vector<std::string> texts;
  PackedTexts column(1'000);
  for (std::size_t i = 0; i < 1'000; ++i) {
    texts.push_back(std::to_string(i * i % 97));  // at most 97 distinct texts
    column.set(i, texts.back());
  }
  const PackedTexts moved = std::move(column);
  for (std::size_t i = 0; i < 1'000; ++i) EXPECT_EQ(moved.at(i), texts[i]);
}

TEST(TextPool, NumbersDistinctTextsAsTheyCome) {
  TextPool pool;
  // 5,000 texts of 100 to 299 bytes, about a megabyte, and one that is larger than one allocated block.
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 5'000; ++i) texts.push_back(std::to_string(i) + std::string(100 + i % 195, 'x'));
  texts.emplace_back(std::size_t{1} << 20, 'y');
  texts.emplace_back();
  for (std::uint32_t i = 0; i < texts.size(); ++i) EXPECT_EQ(pool.number_of(texts[i]), i);
  const TextPool moved = std::move(pool);
  EXPECT_EQ(moved.size(), texts.size());
  for (std::uint32_t i = 0; i < texts.size(); ++i) EXPECT_EQ(moved.at(i), texts[i]);
}

TEST(PackedLists, GiveBackWhatWasSet) {
  PackedLists column(4);
  column.set(0, std::vector<std::int64_t>{1, 256});
  column.set(1, std::vector<std::int64_t>{1, 256});
  column.set(2, std::vector<std::int64_t>{});
  column.set(3, std::vector<std::int64_t>{7, 0, 9});
  EXPECT_EQ(column.at(1), (std::vector<std::int64_t>{1, 256}));
  EXPECT_TRUE(column.at(2).empty());
  EXPECT_EQ(column.unpacked(3).values, (std::vector<std::int64_t>{1, 256, -1, 1, 256, -1, -1, -1, -1, 7, 0, 9}));
}

TEST(PackedReals, TellAbsentFromPresent) {
  PackedReals column(2);
  column.set(0, std::numeric_limits<double>::quiet_NaN());
  column.set(1, 15.5);
  EXPECT_TRUE(std::isnan(column.unpacked()[0]));
  EXPECT_EQ(column.unpacked()[1], 15.5);
}

TEST(TextPool, KnowsATextAgain) {
  TextPool pool;
  for (int round = 0; round < 2; ++round)
    for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(pool.number_of(std::to_string(i)), i);
}

}  // namespace
}  // namespace tenex::store
