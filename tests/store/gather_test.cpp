// Slices of a study, and folders gathered into one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "store/rows.hpp"
#include "tenex/store/gather.hpp"
#include "tenex/store/slice.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::HasSubstr;

TEST(Slice, ReadsIOfNAndRefusesTheRest) {
  ASSERT_TRUE(parse_slice("3/8").ok());
  EXPECT_EQ(*parse_slice("3/8"), (Slice{3, 8}));
  EXPECT_EQ(to_string(Slice{3, 8}), "3/8");
  for (const auto* text : {"", "3", "/", "0/8", "9/8", "3/", "/8", "-1/8", "3/8/2", "a/b", "1/4294967296"})
    EXPECT_FALSE(parse_slice(text).ok()) << text;
  EXPECT_THAT(to_string(parse_slice("9/8").errors()), HasSubstr("\"9/8\" is no slice (I/N is expected"));
}

TEST(Slice, EveryPointIsInExactlyOneSlice) {
  for (const std::uint32_t count : {1U, 2U, 3U, 7U, 64U})
    for (std::size_t point = 0; point < 200; ++point) {
      std::size_t slices = 0;
      for (std::uint32_t i = 1; i <= count; ++i) slices += in_slice({i, count}, point) ? 1 : 0;
      EXPECT_EQ(slices, 1U) << "point " << point << " of " << count;
    }
}

TEST(Slice, HasItsShareOfEveryAxisThoughTheAxisIsAsLongAsThereAreSlices) {
  // The axis of 4 algorithms varies fastest. Each of 4 slices has 1,000 of the 4,000 points, and of each algorithm 250
  // but for chance (a binomial of 1,000 draws with 1/4: standard deviation 14). Without the drawing each slice would
  // have one algorithm.
  for (std::uint32_t i = 1; i <= 4; ++i) {
    std::vector<int> points_of_algorithm(4, 0);
    for (std::size_t point = 0; point < 4'000; ++point)
      if (in_slice({i, 4}, point)) ++points_of_algorithm[point % 4];
    int points = 0;
    for (const int count : points_of_algorithm) {
      EXPECT_NEAR(count, 250, 70);
      points += count;
    }
    EXPECT_EQ(points, 1'000);
  }
}

TEST(ResultFolder, TakesThePointsOfOtherSlicesForDone) {
  const TemporaryFolder folder;
  const auto study = study_of(12);
  OpenOptions options;
  options.slice = {2, 3};
  const auto opened = ResultFolder::open(folder.path(), study, options);
  ASSERT_TRUE(opened.ok()) << message_of(opened);
  EXPECT_EQ(opened->state().done_count, 8U);  // 12 points, a third of them in the slice
  EXPECT_EQ(opened->state().elsewhere, 8U);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(opened->state().done[i], !in_slice({2, 3}, i));
}

/// Opens the folder, writes the rows of these points, and closes it.
void run_part(const std::filesystem::path& dir, const Study& study, std::size_t first, std::size_t last) {
  const auto folder = ResultFolder::open(dir, study, {});
  ASSERT_TRUE(folder.ok()) << message_of(folder);
  auto writer = ShardWriter::open(dir, study, folder->state().incarnation, 0);
  ASSERT_TRUE(writer.ok()) << message_of(writer);
  add_rows(*writer, first, last);
  const auto status = writer->flush();
  ASSERT_TRUE(status.ok()) << message_of(status);
}

TEST(Gather, MakesOneFolderOfPartsWithTheRowsOfAWholeRun) {
  const TemporaryFolder folder;
  const auto study = study_of(9);
  const auto dir = [&](const char* name) { return folder.path() / name; };
  run_part(dir("whole"), study, 0, 9);
  run_part(dir("a"), study, 0, 5);
  run_part(dir("b"), study, 4, 9);  // both folders have point 4
  const auto gathered = gather(dir("all"), {dir("a"), dir("b")}, study);
  ASSERT_TRUE(gathered.ok()) << message_of(gathered);
  EXPECT_EQ(gathered->shards, 2U);
  EXPECT_EQ(gathered->rows, 10U);
  const auto merged = merge(dir("all"), study);
  ASSERT_TRUE(merged.ok()) << message_of(merged);
  EXPECT_EQ(merged->rows, 9U);
  EXPECT_EQ(merged->missing, 0U);
  EXPECT_EQ(merged->repeated, 1U);
  ASSERT_TRUE(merge(dir("whole"), study).ok());
  const auto all = read_result(dir("all") / "study.h5");
  const auto whole = read_result(dir("whole") / "study.h5");
  ASSERT_TRUE(all.ok() && whole.ok());
  ASSERT_EQ(all->key, whole->key);
  for (std::size_t i = 0; i < 9; ++i) expect_same_metrics(all->rows[i], whole->rows[i]);
}

TEST(Gather, TakesWhatIsNewWhenRepeatedAndARunContinuesTheFolder) {
  const TemporaryFolder folder;
  const auto study = study_of(6);
  const auto a = folder.path() / "a";
  const auto all = folder.path() / "all";
  run_part(a, study, 0, 2);
  ASSERT_TRUE(gather(all, {a}, study).ok());
  run_part(a, study, 2, 4);
  const auto again = gather(all, {a}, study);
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->shards, 1U);
  EXPECT_EQ(again->rows, 2U);
  const auto opened = ResultFolder::open(all, study, {});
  ASSERT_TRUE(opened.ok()) << message_of(opened);
  EXPECT_EQ(opened->state().done, (std::vector<bool>{true, true, true, true, false, false}));
}

TEST(Gather, KeepsIncarnationsApartSoThatARetriedFailureStillCounts) {
  // The first run failed for lack of memory, the second, with --retry-failed, for another reason: the rows differ.
  const TemporaryFolder folder;
  const auto study = study_of(1);
  const auto a = folder.path() / "a";
  for (const char* reason : {"too large", "not connected"}) {
    OpenOptions options;
    options.retry_failed = true;
    const auto opened = ResultFolder::open(a, study, options);
    ASSERT_TRUE(opened.ok()) << message_of(opened);
    auto writer = ShardWriter::open(a, study, opened->state().incarnation, 0);
    ASSERT_TRUE(writer.ok()) << message_of(writer);
    auto row = row_of(0);
    row.status = PointStatus::failed;
    row.reason = reason;
    ASSERT_TRUE(writer->add({0, row, 0}).ok());
    ASSERT_TRUE(writer->flush().ok());
  }
  ASSERT_TRUE(gather(folder.path() / "all", {a}, study).ok());
  const auto merged = merge(folder.path() / "all", study);
  ASSERT_TRUE(merged.ok()) << message_of(merged);
  EXPECT_EQ(read_result(merged->file)->rows.at(0).reason, "not connected");
}

TEST(Gather, KeepsScheduleFilesAndLeavesOutWhatIsDamaged) {
  const TemporaryFolder folder;
  const auto study = study_of(4);
  const auto a = folder.path() / "a";
  const auto b = folder.path() / "b";
  run_part(a, study, 0, 2);
  run_part(b, study, 2, 4);
  std::filesystem::create_directories(a / "schedules");
  support::write_text(a / "schedules" / "key.h5", "a schedule");
  support::write_text(b / "shards" / "1-0-0.h5", "torn");
  const auto gathered = gather(folder.path() / "all", {a, b}, study);
  ASSERT_TRUE(gathered.ok()) << message_of(gathered);
  EXPECT_EQ(gathered->rows, 2U);
  ASSERT_EQ(gathered->warnings.size(), 1U);
  EXPECT_THAT(gathered->warnings[0], HasSubstr("its rows are not taken"));
  EXPECT_EQ(support::read_text(folder.path() / "all" / "schedules" / "key.h5"), "a schedule");
}

TEST(Gather, CopiesScheduleFilesOfAnotherFileSystem) {
  // A hard link across file systems is refused (EXDEV). Temporary folders of these tests are in memory where possible.
  const auto study = study_of(2);
  const auto here = std::filesystem::absolute("gather-" + std::to_string(::getpid()));
  const TemporaryFolder folder;
  std::filesystem::create_directories(here);
  const auto number = [](const std::filesystem::path& path) {
    struct stat facts {};
    EXPECT_EQ(::stat(path.c_str(), &facts), 0);
    return facts.st_dev;
  };
  if (number(here) == number(folder.path())) {
    std::filesystem::remove_all(here);
    GTEST_SKIP() << "one file system holds both folders";
  }
  run_part(here / "a", study, 0, 2);
  std::filesystem::create_directories(here / "a" / "schedules");
  const std::string large(300'000, 's');
  support::write_text(here / "a" / "schedules" / "key.h5", large);
  const auto gathered = gather(folder.path() / "all", {here / "a"}, study);
  std::filesystem::remove_all(here);
  ASSERT_TRUE(gathered.ok()) << message_of(gathered);
  EXPECT_EQ(support::read_text(folder.path() / "all" / "schedules" / "key.h5"), large);
  const auto files = std::filesystem::directory_iterator(folder.path() / "all" / "schedules");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "the draft is left";
}

TEST(Gather, RefusesAllWrongFoldersAtOnceAndMakesNothing) {
  const TemporaryFolder folder;
  const auto study = study_of(3);
  run_part(folder.path() / "other", study_of(3, 7), 0, 3);
  const auto gathered = gather(folder.path() / "all", {folder.path() / "other", folder.path() / "nowhere"}, study);
  ASSERT_FALSE(gathered.ok());
  EXPECT_EQ(gathered.errors().size(), 2U);
  EXPECT_THAT(message_of(gathered), HasSubstr("belongs to another study"));
  EXPECT_THAT(message_of(gathered), HasSubstr("is no result folder"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "all"));
}

}  // namespace
}  // namespace tenex
