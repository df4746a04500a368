// Text columns that are written piece by piece, as characters, equal those that are written whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tenex/files/column_file.hpp"

namespace tenex {
namespace {

class TextPieces : public ::testing::TestWithParam<std::size_t> {};

TEST_P(TextPieces, AreTheColumnThatIsWrittenWhole) {
  const std::size_t rows = GetParam();
  std::vector<std::string> texts(rows);
  for (std::size_t i = 0; i < rows; ++i) texts[i] = std::string(i % 11, 'a') + std::to_string(i * i);
  const TextColumn whole(texts);
  ColumnFileWriter writer;
  std::size_t next = 0;
  writer.write_characters("/pieces", whole.width, rows, [&](std::size_t first, TextColumn& part) {
    EXPECT_EQ(first, next);
    EXPECT_EQ(part.width, whole.width);
    EXPECT_LE(part.bytes.size(), std::size_t{512} << 10);
    for (std::size_t i = 0; i < part.rows(); ++i) part.set(i, texts[first + i]);
    next += part.rows();
  });
  EXPECT_EQ(next, rows);
  auto image = writer.image();
  ASSERT_TRUE(image.ok()) << to_string(image.errors());
  const auto reader = ColumnFileReader::open_image(std::move(image).value(), "pieces");
  ASSERT_TRUE(reader.ok()) << to_string(reader.errors());
  const auto read = reader->read_text("/pieces");
  ASSERT_TRUE(read.ok()) << to_string(read.errors());
  EXPECT_EQ(read->width, whole.width);
  EXPECT_EQ(read->bytes, whole.bytes);
}

// No rows; fewer bytes than are compressed; part of a tile; three tiles (512 KiB hold 26,214 texts of 20 letters).
INSTANTIATE_TEST_SUITE_P(Rows, TextPieces, ::testing::Values(0, 3, 20'000, 60'000));

TEST(TextPiecesWriting, KeepsTheFirstFailure) {
  ColumnFileWriter writer;
  writer.write("/taken", TextColumn(1, 2));
  writer.write_characters("/taken", 1, 2, [](std::size_t, TextColumn&) {});
  EXPECT_FALSE(writer.good());
  EXPECT_FALSE(writer.image().ok());
}

}  // namespace
}  // namespace tenex
