// Journals that were cut off or damaged: a line counts whole or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/rows.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::HasSubstr;

/// A folder whose journal commits point 0, then point 1.
Study make_two_commits(const std::filesystem::path& dir) {
  const auto study = study_of(2);
  if (!ResultFolder::open(dir, study, {}).ok()) throw std::runtime_error("cannot open");
  auto writer = ShardWriter::open(dir, study, 1, 0);
  for (std::size_t i = 0; i < 2; ++i)
    if (!writer->add({i, row_of(i), 1}).ok() || !writer->flush().ok()) throw std::runtime_error("cannot write");
  return study;
}

void restore(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::copy(from, to,
                        std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
}

TEST(Journal, CutOffAtAnyByteCountsOnlyWholeLines) {
  const TemporaryFolder original;
  const auto study = make_two_commits(original.path());
  const auto journal = support::read_text(original.path() / "journal/1-0.log");
  const auto first = journal.find("\ncommit");
  const auto second = journal.find("\ncommit", first + 1);
  ASSERT_NE(second, std::string::npos);
  for (std::size_t size = 0; size <= journal.size(); ++size) {
    const TemporaryFolder folder;
    restore(original.path(), folder.path());
    support::write_text(folder.path() / "journal/1-0.log", journal.substr(0, size));
    const auto opened = ResultFolder::open(folder.path(), study, {});
    ASSERT_TRUE(opened.ok()) << message_of(opened);
    // The first row counts once its whole line is there, the second once the whole journal is.
    const std::vector<bool> expected{size >= second, size == journal.size()};
    EXPECT_EQ(opened->state().done, expected) << "cut after " << size << " bytes";
    EXPECT_TRUE(opened->state().warnings.empty()) << opened->state().warnings[0];
  }
}

TEST(Journal, WithAnyDamagedByteLosesAtMostThatLineAndInventsNothing) {
  const TemporaryFolder original;
  const auto study = make_two_commits(original.path());
  const auto journal = support::read_text(original.path() / "journal/1-0.log");
  const auto second = journal.find("\ncommit", journal.find("\ncommit") + 1);
  for (std::size_t at = 0; at < journal.size(); ++at) {
    const TemporaryFolder folder;
    restore(original.path(), folder.path());
    auto damaged = journal;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    support::write_text(folder.path() / "journal/1-0.log", damaged);
    const auto opened = ResultFolder::open(folder.path(), study, {});
    ASSERT_TRUE(opened.ok()) << message_of(opened);
    EXPECT_TRUE(at >= second || opened->state().done[1]) << at;
    EXPECT_TRUE(at <= second || opened->state().done[0]) << at;
    const auto lines_lost = 2 - opened->state().done_count;
    EXPECT_LE(lines_lost, at == second ? 2U : 1U) << at;
  }
}

TEST(Journal, ContinuesAfterATornLine) {
  const TemporaryFolder folder;
  const auto study = make_two_commits(folder.path());
  const auto file = folder.path() / "journal/1-0.log";
  const auto journal = support::read_text(file);
  const auto second = journal.find("\ncommit", journal.find("\ncommit") + 1);
  // A torn line, then a whole one: the writer's disk was full and had room again later.
  support::write_text(file, journal.substr(0, second) + "\ncommit 1-0-9.h5 1 23" + journal.substr(second));
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->state().done_count, 2U);
  ASSERT_EQ(opened->state().warnings.size(), 1U);
  EXPECT_THAT(opened->state().warnings[0], HasSubstr("1 damaged lines do not count"));
}

TEST(Journal, OfANewerVersionIsRefused) {
  const TemporaryFolder folder;
  const auto study = make_two_commits(folder.path());
  const std::string body = "tenex-journal 3";
  char sum[17];
  std::snprintf(sum, sizeof(sum), "%016llx", static_cast<unsigned long long>(digest64(body)));
  support::write_text(folder.path() / "journal/1-0.log", "\n" + body + " " + sum);
  EXPECT_THAT(message_of(ResultFolder::open(folder.path(), study, {})), HasSubstr("newer than this version"));
}

TEST(Journal, ThatNamesAForeignFileGivesAWarning) {
  const TemporaryFolder folder;
  const auto study = make_two_commits(folder.path());
  // A sound HDF5 file of another kind under a shard's name, with a line that agrees with its bytes.
  ColumnFileWriter foreign;
  foreign.set_attribute("/", "kind", "tenex schedule");
  ASSERT_TRUE(foreign.save(folder.path() / "shards/1-0-2.h5").ok());
  const auto bytes = support::read_text(folder.path() / "shards/1-0-2.h5");
  const auto hex = [](std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
    return std::string(text);
  };
  const auto body = "commit 1-0-2.h5 1 " + std::to_string(bytes.size()) + " " + hex(digest64(bytes));
  const auto file = folder.path() / "journal/1-0.log";
  support::write_text(file, support::read_text(file) + "\n" + body + " " + hex(digest64(body)));
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->state().done_count, 2U);
  ASSERT_EQ(opened->state().warnings.size(), 1U);
  EXPECT_THAT(opened->state().warnings[0], HasSubstr("this is no tenex shard"));
}

}  // namespace
}  // namespace tenex
