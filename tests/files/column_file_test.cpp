// HDF5 columns: reading gives what was written, and foreign files give errors.
#include "tenex/files/column_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "support/process.hpp"
#include "tenex/files/atomic_write.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;
using ::testing::HasSubstr;

template <class T>
std::span<const T> view(const std::vector<T>& values) {
  return values;
}

/// A file with every kind of column, of `rows` rows.
std::vector<std::byte> sample_bytes(std::size_t rows) {
  std::vector<std::int64_t> numbers(rows);
  std::vector<double> reals(rows);
  std::vector<std::int8_t> flags(rows);
  std::vector<std::uint32_t> ids(rows);
  std::vector<std::string> texts(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    numbers[i] = static_cast<std::int64_t>(i * i) - 5;
    reals[i] = i == 3 ? std::numeric_limits<double>::quiet_NaN() : 1.0 / static_cast<double>(i + 1);
    flags[i] = static_cast<std::int8_t>(i % 5);
    ids[i] = 0xFFFFFFFFU - static_cast<std::uint32_t>(i);
    texts[i] = std::string(i % 7, 'a') + "ü";
  }
  ColumnFileWriter writer;
  writer.set_attribute("/", "kind", "sample");
  writer.set_attribute("/", "schema", std::int64_t{3});
  writer.set_attribute("/", "long", std::string(100'000, 'x'));
  writer.add_group("/group");
  writer.write("/group/numbers", view(numbers));
  writer.write("/reals", view(reals));
  writer.write("/flags", view(flags));
  writer.write("/ids", view(ids));
  writer.write("/texts", TextColumn(texts));
  writer.begin<std::int64_t>("/grown");
  for (std::size_t first = 0; first < rows; first += 1'000)
    writer.append("/grown", view(numbers).subspan(first, std::min<std::size_t>(1'000, rows - first)));
  auto image = writer.image();
  if (!image) throw std::runtime_error(to_string(image.errors()));
  return std::move(image).value();
}

class ColumnFile : public ::testing::TestWithParam<std::size_t> {};

TEST_P(ColumnFile, GivesBackEveryElement) {
  const auto rows = GetParam();
  const auto reader = ColumnFileReader::open_image(sample_bytes(rows), "sample");
  ASSERT_TRUE(reader.ok()) << to_string(reader.errors());
  EXPECT_EQ(*reader->text_attribute("/", "kind"), "sample");
  EXPECT_EQ(reader->text_attribute("/", "long")->size(), 100'000U);
  EXPECT_EQ(*reader->integer_attribute("/", "schema"), 3);
  EXPECT_EQ(*reader->rows("/group/numbers"), rows);
  const auto numbers = reader->read<std::int64_t>("/group/numbers");
  const auto grown = reader->read<std::int64_t>("/grown");
  const auto reals = reader->read<double>("/reals");
  const auto flags = reader->read<std::int8_t>("/flags");
  const auto ids = reader->read<std::uint32_t>("/ids");
  const auto texts = reader->read_text("/texts");
  ASSERT_TRUE(numbers.ok() && grown.ok() && reals.ok() && flags.ok() && ids.ok() && texts.ok());
  EXPECT_EQ(*numbers, *grown);
  for (std::size_t i = 0; i < rows; ++i) {
    EXPECT_EQ((*numbers)[i], static_cast<std::int64_t>(i * i) - 5);
    EXPECT_EQ((*flags)[i], static_cast<std::int8_t>(i % 5));
    EXPECT_EQ((*ids)[i], 0xFFFFFFFFU - static_cast<std::uint32_t>(i));
    EXPECT_EQ(texts->at(i), std::string(i % 7, 'a') + "ü");
    EXPECT_TRUE(i == 3 ? std::isnan((*reals)[i]) : (*reals)[i] == 1.0 / static_cast<double>(i + 1)) << i;
  }
  if (rows > 10) {
    const auto part = reader->read<std::int64_t>("/group/numbers", 4, 2);
    ASSERT_TRUE(part.ok());
    EXPECT_EQ(*part, (std::vector<std::int64_t>{11, 20}));
  }
}

TEST_P(ColumnFile, HasTheSameBytesEachTime) { EXPECT_EQ(sample_bytes(GetParam()), sample_bytes(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Rows, ColumnFile, ::testing::Values(0, 1, 20, 5'000, 200'000));

TEST(ColumnFileReading, NamesWhatIsMissingOrOfAnotherType) {
  const auto reader = ColumnFileReader::open_image(sample_bytes(20), "sample.h5");
  ASSERT_TRUE(reader.ok());
  const auto message = [](const auto& result) { return to_string(result.errors()); };
  EXPECT_THAT(message(reader->read<std::int64_t>("/absent")), HasSubstr("sample.h5: \"/absent\" cannot be read"));
  EXPECT_THAT(message(reader->read<std::int64_t>("/absent/deep")), HasSubstr("no such column"));
  EXPECT_THAT(message(reader->read<std::int64_t>("/group")), HasSubstr("it is no column"));
  EXPECT_THAT(message(reader->read<std::int64_t>("/reals")), HasSubstr("another type"));
  EXPECT_THAT(message(reader->read<double>("/ids")), HasSubstr("another type"));
  EXPECT_THAT(message(reader->read<std::int8_t>("/group/numbers")), HasSubstr("another type"));
  EXPECT_THAT(message(reader->read_text("/ids")), HasSubstr("no text"));
  EXPECT_THAT(message(reader->read<std::int64_t>("/group/numbers", 15, 6)), HasSubstr("ends after 20 rows"));
  EXPECT_THAT(message(reader->text_attribute("/", "schema")), HasSubstr("it is no text"));
  EXPECT_THAT(message(reader->integer_attribute("/", "kind")), HasSubstr("it is no integer"));
  EXPECT_THAT(message(reader->integer_attribute("/absent", "kind")), HasSubstr("no such attribute"));
}

TEST(ColumnFileReading, SurvivesTruncationAndDamageAnywhere) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file.h5";
  const auto whole = sample_bytes(2'000);
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); size += 997) {
    ASSERT_TRUE(write_file_atomically(file, std::span(whole).first(size)).ok());
    EXPECT_FALSE(ColumnFileReader::open(file).ok()) << size;
    ++refused;
  }
  EXPECT_GT(refused, 5U);
}

TEST(ColumnFileReading, NoticesDamagedDataByItsChecksum) {
  auto bytes = sample_bytes(200'000);
  // The columns' tiles are most of the file: damages one byte in its middle.
  bytes[bytes.size() / 2] ^= std::byte{0x40};
  const auto reader = ColumnFileReader::open_image(std::move(bytes), "sample");
  ASSERT_TRUE(reader.ok());
  std::size_t damaged = 0;
  for (const auto* path : {"/group/numbers", "/grown"})
    if (!reader->read<std::int64_t>(path).ok()) ++damaged;
  if (!reader->read<double>("/reals").ok()) ++damaged;
  if (!reader->read<std::int8_t>("/flags").ok()) ++damaged;
  if (!reader->read<std::uint32_t>("/ids").ok()) ++damaged;
  if (!reader->read_text("/texts").ok()) ++damaged;
  EXPECT_EQ(damaged, 1U);
}

TEST(ColumnFileWriting, KeepsItsFirstFailure) {
  ColumnFileWriter writer;
  const std::vector<std::int64_t> values{1, 2, 3};
  writer.write("/no/such/group", view(values));
  writer.write("/fine", view(values));
  const auto image = writer.image();
  ASSERT_FALSE(image.ok());
  EXPECT_THAT(to_string(image.errors()), HasSubstr("\"/no/such/group\""));
}

TEST(ColumnFileWriting, WorksFromSeveralThreads) {
  std::vector<std::vector<std::byte>> images(4);
  std::vector<std::thread> threads;
  for (auto& image : images) threads.emplace_back([&image] { image = sample_bytes(3'000); });
  for (auto& thread : threads) thread.join();
  for (const auto& image : images) EXPECT_EQ(image, images[0]);
}

TEST(FileKind, TellsForeignAndNewerFilesApart) {
  const auto reader = ColumnFileReader::open_image(sample_bytes(1), "sample");
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(check_file_kind(*reader, "file.h5", "sample", 3).ok());
  EXPECT_THAT(to_string(check_file_kind(*reader, "file.h5", "sample", 2).errors()),
              HasSubstr("file.h5: sample schema 3 is newer"));
  EXPECT_THAT(to_string(check_file_kind(*reader, "file.h5", "other", 3).errors()),
              HasSubstr("this is no other of tenex"));
}

/// A column of `rows` numbers that grew on disk, with this many threads.
template <class T>
std::vector<T> grow(const std::filesystem::path& path, std::size_t rows, int threads) {
  std::vector<T> values(rows);
  for (std::size_t i = 0; i < rows; ++i) values[i] = static_cast<T>(i * i / 7);
  auto writer = ColumnFileWriter::create(path, threads).value();
  writer.begin<T>("/grown");
  for (std::size_t first = 0; first < rows; first += 10'007)
    writer.append("/grown", view(values).subspan(first, std::min<std::size_t>(10'007, rows - first)));
  EXPECT_TRUE(writer.commit().ok());
  return values;
}

template <class T>
void expect_pieces_of_grown_columns() {
  const TemporaryFolder folder;
  const auto path = folder.path() / "c.h5";
  for (const int threads : {1, 3}) {
    const auto values = grow<T>(path, 600'001, threads);
    auto reader = ColumnFileReader::open(path).value();
    reader.set_threads(threads);
    EXPECT_EQ(reader.rows("/grown").value(), values.size());
    EXPECT_EQ(reader.read<T>("/grown").value(), values);
    // A tile has 65,536 elements, or four times as many.
    for (const auto& [first, count] : std::vector<std::pair<std::size_t, std::size_t>>{
             {0, 600'001}, {0, 1}, {65'535, 2}, {262'143, 262'146}, {600'000, 1}, {600'001, 0}}) {
      std::vector<T> piece(count);
      ASSERT_TRUE(reader.read_into<T>("/grown", first, piece).ok());
      EXPECT_TRUE(std::equal(piece.begin(), piece.end(), values.begin() + static_cast<std::ptrdiff_t>(first))) << first;
    }
    std::vector<T> beyond(2);
    EXPECT_FALSE(reader.read_into<T>("/grown", 600'000, beyond).ok());
  }
}

TEST(ColumnFileOnDisk, GivesBackPiecesOfGrownColumns) {
  expect_pieces_of_grown_columns<std::uint8_t>();
  expect_pieces_of_grown_columns<std::uint16_t>();
  expect_pieces_of_grown_columns<std::uint32_t>();
  expect_pieces_of_grown_columns<std::int64_t>();
  expect_pieces_of_grown_columns<double>();
}

TEST(ColumnFileOnDisk, HasTheSameBytesForAnyNumberOfThreads) {
  const TemporaryFolder folder;
  (void)grow<std::uint32_t>(folder.path() / "1.h5", 300'000, 1);
  (void)grow<std::uint32_t>(folder.path() / "4.h5", 300'000, 4);
  EXPECT_EQ(support::read_text(folder.path() / "1.h5"), support::read_text(folder.path() / "4.h5"));
}

/// Small files are stored as they are, large ones in tiles.
TEST(ColumnFileLists, ComeBackAlongTheirDimensions) {
  for (const std::size_t rows : {std::size_t{0}, std::size_t{3}, std::size_t{100'000}}) {
    std::vector<std::vector<std::int64_t>> lists(rows);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t n = 0; n < i % 4; ++n) lists[i].push_back(static_cast<std::int64_t>(i * n));
    ColumnFileWriter writer;
    writer.write("/lists", ListColumn(lists));
    writer.write("/entry", view(std::vector<std::int64_t>(ListColumn(lists).width)));
    writer.make_dimension("/entry", "entry");
    writer.attach_dimension("/lists", "/entry", 1);
    auto image = writer.image();
    ASSERT_TRUE(image.ok()) << to_string(image.errors());
    const auto reader = ColumnFileReader::open_image(*std::move(image), "lists").value();
    const auto read = reader.read_lists("/lists");
    ASSERT_TRUE(read.ok()) << to_string(read.errors());
    ASSERT_EQ(read->rows(), rows);
    for (std::size_t i = 0; i < rows; ++i) EXPECT_TRUE(std::ranges::equal(read->at(i), lists[i])) << i;
    EXPECT_THAT(to_string(reader.read<std::int64_t>("/lists").errors()), HasSubstr("one dimension"));
    EXPECT_THAT(to_string(reader.read_lists("/entry").errors()), HasSubstr("two dimensions"));
    EXPECT_FALSE(reader.is_text("/lists"));
  }
}

TEST(ColumnFileNames, MayBeOthersThanAreStored) {
  ColumnFileWriter writer;
  writer.write("/former", TextColumn(std::vector<std::string>{"a"}));
  auto reader = ColumnFileReader::open_image(writer.image().value(), "renamed").value();
  EXPECT_FALSE(reader.has("/today"));
  reader.rename("/today", "/former");
  EXPECT_TRUE(reader.has("/today"));
  EXPECT_TRUE(reader.is_text("/today"));
  EXPECT_EQ(reader.read_text("/today").value().at(0), "a");
}

TEST(ColumnFileOnDisk, IsNotThereBeforeItIsCommitted) {
  const TemporaryFolder folder;
  {
    auto writer = ColumnFileWriter::create(folder.path() / "c.h5").value();
    writer.begin<std::int64_t>("/grown");
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "c.h5"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THAT(to_string(ColumnFileWriter::create(folder.path() / "none" / "c.h5").errors()), HasSubstr("cannot write"));
}

TEST(ColumnFileOnDisk, FindsDamagedTilesWithoutTheChecksumOfTheFile) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "c.h5";
  const auto values = grow<std::uint32_t>(path, 600'001, 1);
  auto text = support::read_text(path);
  text.resize(text.size() - 32);
  text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 0x20);  // nearly all of the file is tiles
  support::write_text(path, text);
  const auto reader = ColumnFileReader::open(path).value();
  std::vector<std::uint32_t> piece(values.size());
  EXPECT_THAT(to_string(reader.read_into<std::uint32_t>("/grown", 0, piece).errors()), HasSubstr("is damaged"));
  EXPECT_FALSE(reader.read<std::uint32_t>("/grown").ok());
}

}  // namespace
}  // namespace tenex
