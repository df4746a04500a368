// The status of a folder while a run writes it, and afterwards.
#include "tenex/store/folder_status.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/rows.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::uint64_t> points_of(const std::vector<CommittedRow>& rows) {
  std::vector<std::uint64_t> points;
  for (const auto& row : rows) points.push_back(row.point);
  return points;
}

std::vector<std::uint64_t> points_of(const std::vector<AnnouncedPoint>& announced) {
  std::vector<std::uint64_t> points;
  for (const auto& point : announced) points.push_back(point.point);
  return points;
}

FolderStatus look(const std::filesystem::path& dir, const Study& study) {
  auto status = read_folder_status(dir, study);
  EXPECT_TRUE(status.ok()) << message_of(status);
  return status.ok() ? std::move(status).value() : FolderStatus{};
}

/// Every file of the folder with its time and size: reading the status must not change them.
std::map<std::string, std::pair<std::int64_t, std::int64_t>> picture_of(const std::filesystem::path& dir) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> picture;
  for (const auto& file : std::filesystem::recursive_directory_iterator(dir)) {
    struct stat facts {};
    EXPECT_EQ(::stat(file.path().c_str(), &facts), 0);
    picture[file.path().string()] = {facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec, facts.st_size};
  }
  return picture;
}

TEST(FolderStatus, TellsOfALiveRunWhatIsCommittedAndWhatIsBegun) {
  const TemporaryFolder folder;
  const auto study = study_of(6);
  const auto run = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(run.ok()) << message_of(run);
  auto first = ShardWriter::open(folder.path(), study, 1, 0);
  auto second = ShardWriter::open(folder.path(), study, 1, 3);
  ASSERT_TRUE(first.ok() && second.ok());
  auto row = row_of(4);
  row.evaluation_seconds = 2.5;
  ASSERT_TRUE(first->start(4).ok());
  ASSERT_TRUE(first->add({4, row, 1'700'000'000'004}).ok());
  ASSERT_TRUE(first->add({1, failed_row("S < n*c"), 1'700'000'000'001}).ok());
  ASSERT_TRUE(first->flush().ok());
  ASSERT_TRUE(second->start(5).ok());
  ASSERT_TRUE(second->add({0, row_of(0), 1}).ok());  // finished, not committed

  const auto before = picture_of(folder.path());
  const auto status = look(folder.path(), study);
  EXPECT_EQ(picture_of(folder.path()), before);
  EXPECT_TRUE(status.is_live());
  EXPECT_EQ(status.owner->pid, ::getpid());
  EXPECT_EQ(status.identity.incarnation, 1U);
  EXPECT_EQ(status.identity.study_name, "by-hand");
  ASSERT_THAT(points_of(status.rows), ElementsAre(1, 4));
  EXPECT_EQ(status.rows[0].status, PointStatus::infeasible);
  EXPECT_EQ(status.rows[1].status, PointStatus::ok);
  EXPECT_EQ(status.rows[1].finished_unix_ms, 1'700'000'000'004);
  EXPECT_EQ(status.rows[1].evaluation_seconds, 2.5);
  EXPECT_EQ(status.rows[1].collective_time_ps, 9'007'199'254'740'993 + 4);
  EXPECT_EQ(status.rows[1].efficiency, row.efficiency);
  EXPECT_EQ(status.rows[1].training_time_ps, -1);
  ASSERT_THAT(points_of(status.announced), ElementsAre(5));
  EXPECT_EQ(status.announced[0].rank, 3U);
  ASSERT_THAT(status.ranks, SizeIs(2));
  EXPECT_EQ(status.ranks[0].rank, 0U);
  EXPECT_NE(status.ranks[0].host, "");
  EXPECT_EQ(status.ranks[1].rank, 3U);
  EXPECT_EQ(status.ranks[1].host, "");  // has not committed anything
  EXPECT_THAT(status.warnings, IsEmpty());
}

TEST(FolderStatus, KnowsWhenNobodyIsAtWork) {
  const TemporaryFolder folder;
  const auto study = study_of(2);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  const auto ended = look(folder.path(), study);
  EXPECT_FALSE(ended.owner.has_value());
  EXPECT_FALSE(ended.is_live());
  // A lock of a process of this host that does not run any more, as SIGKILL leaves it.
  const auto child = ::fork();
  if (child == 0) {
    const auto run = ResultFolder::open(folder.path(), study, {});
    ::_exit(run.ok() ? 0 : 1);  // without destructors: the lock stays
  }
  ::waitpid(child, nullptr, 0);
  const auto killed = look(folder.path(), study);
  ASSERT_TRUE(killed.owner.has_value());
  EXPECT_EQ(killed.owner->pid, child);
  EXPECT_FALSE(killed.is_live());
}

TEST(FolderStatus, JudgesAnotherHostsRunByItsHeartbeat) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  const auto lock = folder.path() / "lock";
  support::write_text(lock, "far/boot/namespace\n17\n123\n0\n");
  EXPECT_TRUE(look(folder.path(), study).is_live());
  EXPECT_EQ(look(folder.path(), study).owner->host, "far");
  const timespec long_ago[2] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, lock.c_str(), long_ago, 0), 0);
  EXPECT_FALSE(look(folder.path(), study).is_live());
}

TEST(FolderStatus, ToleratesTornJournalsAndDamagedShards) {
  const TemporaryFolder folder;
  const auto study = study_of(4);
  const auto run = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(run.ok());
  {
    auto writer = ShardWriter::open(folder.path(), study, 1, 0);
    ASSERT_TRUE(writer.ok());
    add_rows(*writer, 0, 2);
    ASSERT_TRUE(writer->flush().ok());
    add_rows(*writer, 2, 3);
    ASSERT_TRUE(writer->flush().ok());
  }
  std::ofstream(folder.path() / "journal" / "1-0.log", std::ios::app) << "\ncommit 1-0-2.h5 7 12";  // torn
  auto status = look(folder.path(), study);
  EXPECT_THAT(points_of(status.rows), ElementsAre(0, 1, 2));
  EXPECT_THAT(status.warnings, IsEmpty());  // a torn last line is what a killed writer leaves
  std::filesystem::resize_file(folder.path() / "shards" / "1-0-0.h5", 100);
  status = look(folder.path(), study);
  EXPECT_THAT(points_of(status.rows), ElementsAre(2));
  ASSERT_THAT(status.warnings, SizeIs(1));
  EXPECT_THAT(status.warnings[0], HasSubstr("1-0-0.h5"));
}

TEST(FolderStatus, TakesTheRowThatCountsAndForgetsWhatEarlierRunsBeganAndLaterOnesFinished) {
  const TemporaryFolder folder;
  const auto study = study_of(3);
  const auto commit = [&](std::uint32_t incarnation, std::vector<std::pair<std::size_t, Evaluation>> rows) {
    auto writer = ShardWriter::open(folder.path(), study, incarnation, 0);
    ASSERT_TRUE(writer.ok());
    for (auto& [point, row] : rows) {
      ASSERT_TRUE(writer->start(point).ok());
      ASSERT_TRUE(writer->add({point, row, 1}).ok());
    }
    ASSERT_TRUE(writer->flush().ok());
  };
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  {
    auto killed = ShardWriter::open(folder.path(), study, 1, 1);
    ASSERT_TRUE(killed.ok() && killed->start(0).ok() && killed->start(2).ok());
    ASSERT_TRUE(killed->note_crash(2, "SIGSEGV").ok() && killed->note_crash(2, "SIGBUS").ok());
  }
  commit(1, {{1, failed_row("first")}});
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  commit(2, {{1, row_of(1)}, {0, row_of(0)}});
  const auto status = look(folder.path(), study);
  ASSERT_THAT(points_of(status.rows), ElementsAre(0, 1));
  EXPECT_EQ(status.rows[1].status, PointStatus::ok);
  EXPECT_EQ(status.rows[1].incarnation, 2U);
  ASSERT_THAT(points_of(status.announced), ElementsAre(2));
  EXPECT_EQ(status.announced[0].incarnation, 1U);
  EXPECT_EQ(status.announced[0].rank, 1U);
  EXPECT_THAT(status.crashes, ElementsAre(CrashRecord{2, 2, "SIGBUS"}));
}

TEST(FolderStatus, KnowsTheSliceOfTheFolder) {
  const TemporaryFolder folder;
  const auto study = study_of(6);
  OpenOptions options;
  options.slice = {2, 3};
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, options).ok());
  const auto status = look(folder.path(), study);
  EXPECT_EQ(status.identity.slice, (Slice{2, 3}));
  EXPECT_EQ(std::count(status.mine.begin(), status.mine.end(), true), 2);  // a third of 6
}

TEST(FolderStatus, OfNoResultFolderSaysSo) {
  const TemporaryFolder folder;
  const auto status = read_folder_status(folder.path(), study_of(1));
  EXPECT_THAT(message_of(status), HasSubstr("is no result folder"));
  EXPECT_EQ(status.errors()[0].fault, Fault::input);
}

}  // namespace
}  // namespace tenex
