// The promise of a writer: rows that it committed stay, whatever happens next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "store/rows.hpp"
#include "support/draws.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ShardWriter open_writer(const std::filesystem::path& dir, const Study& study, std::uint32_t incarnation = 1,
                        std::uint32_t rank = 0) {
  auto writer = ShardWriter::open(dir, study, incarnation, rank);
  if (!writer) throw std::runtime_error(message_of(writer));
  return std::move(writer).value();
}
ShardWriter open_writer(const std::filesystem::path& dir, Study&& study, std::uint32_t incarnation = 1,
                        std::uint32_t rank = 0) = delete;  // a writer refers to its study

/// Runs `body` in a child process; its return value is the child's exit code.
int in_child(const std::function<int()>& body) {
  const auto child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = body();
    } catch (...) {
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Simulates a full disk: from now on no file of this process may grow beyond `bytes`.
void limit_file_size(rlim_t bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{bytes, RLIM_INFINITY};
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(ShardWriter, CommitsByItselfAt4096Rows) {
  const TemporaryFolder folder;
  const auto study = study_of(4'100);
  auto writer = open_writer(folder.path(), study);
  add_rows(writer, 0, 4'095);
  EXPECT_EQ(writer.committed(), 0U);
  EXPECT_EQ(writer.pending(), 4'095U);
  add_rows(writer, 4'095, 4'100);
  EXPECT_EQ(writer.committed(), 4'096U);
  EXPECT_EQ(writer.pending(), 4U);
}

TEST(ShardWriter, CommitsByItselfAt8MiB) {
  const TemporaryFolder folder;
  const auto study = study_of(3);
  auto writer = open_writer(folder.path(), study);
  auto row = row_of(0);
  row.group_times_ps.assign(600'000, 5);  // 4.8 MB
  ASSERT_TRUE(writer.add({0, row, 1}).ok());
  EXPECT_EQ(writer.pending(), 1U);
  ASSERT_TRUE(writer.add({1, row, 1}).ok());
  EXPECT_EQ(writer.pending(), 0U);
}

TEST(ShardWriter, KeepsShardsBelow16MiB) {
  const TemporaryFolder folder;
  const auto study = study_of(3);
  auto writer = open_writer(folder.path(), study);
  // Random times do not compress. 900,000 of them take 7.2 MB, below the 8 MiB at which the writer commits by itself.
  // With 1,400,000 more the two rows take 18.4 MB, above 16 MiB = 16.8 MB: each becomes a shard of its own.
  for (std::size_t i = 0; i < 2; ++i) {
    Random random(7, i);
    auto row = row_of(i);
    row.group_times_ps.resize(i == 0 ? 900'000 : 1'400'000);
    for (auto& time : row.group_times_ps) time = static_cast<std::int64_t>(random.bits64() >> 1);
    ASSERT_TRUE(writer.add({i, row, 1}).ok());
    EXPECT_EQ(writer.pending(), i == 0 ? 1U : 0U);
  }
  EXPECT_THAT(names_in(folder.path() / "shards"), ElementsAre("1-0-0.h5", "1-0-1.h5"));
  for (const auto& name : names_in(folder.path() / "shards"))
    EXPECT_LE(std::filesystem::file_size(folder.path() / "shards" / name), std::size_t{16} << 20);
}

TEST(ShardWriter, WritesEqualBytesForEqualRows) {
  const TemporaryFolder a;
  const TemporaryFolder b;
  const auto study = study_of(500);
  for (const auto* folder : {&a, &b}) {
    auto writer = open_writer(folder->path(), study);
    add_rows(writer, 0, 500);
    ASSERT_TRUE(writer.flush().ok());
  }
  EXPECT_EQ(support::read_text(a.path() / "shards/1-0-0.h5"), support::read_text(b.path() / "shards/1-0-0.h5"));
  EXPECT_EQ(support::read_text(a.path() / "journal/1-0.log"), support::read_text(b.path() / "journal/1-0.log"));
}

TEST(ShardWriter, RefusesToShareAJournal) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  const auto first = open_writer(folder.path(), study);
  EXPECT_THAT(message_of(ShardWriter::open(folder.path(), study, 1, 0)), HasSubstr("File exists"));
}

TEST(ShardWriter, FlushesNothingWithoutRowsOrBeforeItsTime) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  auto writer = open_writer(folder.path(), study);
  ASSERT_TRUE(writer.flush().ok());
  ASSERT_TRUE(writer.flush_if_due().ok());
  add_rows(writer, 0, 1);
  ASSERT_TRUE(writer.flush_if_due().ok());  // due 30 s after the last flush
  EXPECT_EQ(writer.pending(), 1U);
  EXPECT_TRUE(names_in(folder.path() / "shards").empty());
}

TEST(ShardWriter, JoinsSmallShardsAt64) {
  const TemporaryFolder folder;
  const auto study = study_of(100);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  {
    auto writer = open_writer(folder.path(), study);
    for (std::size_t i = 0; i < 70; ++i) {
      add_rows(writer, i, i + 1);
      ASSERT_TRUE(writer.flush().ok());
    }
    // The 64th commit joins 64 shards into one (number 64); six more follow.
    EXPECT_THAT(names_in(folder.path() / "shards"),
                ElementsAre("1-0-64.h5", "1-0-65.h5", "1-0-66.h5", "1-0-67.h5", "1-0-68.h5", "1-0-69.h5", "1-0-70.h5"));
  }
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok()) << message_of(opened);
  EXPECT_EQ(opened->state().done_count, 70U);
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok());
  for (std::size_t i = 0; i < 70; ++i) {
    EXPECT_EQ(table->rows[i].collective_time_ps, row_of(i).collective_time_ps);
    EXPECT_EQ(table->rows[i].group_times_ps, row_of(i).group_times_ps);
  }
}

TEST(ShardWriter, SurvivesAFullDiskWithNothingHalfWritten) {
  const TemporaryFolder folder;
  const auto study = study_of(600);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  const int code = in_child([&] {
    auto writer = open_writer(folder.path(), study);
    for (std::size_t i = 0; i < 10; ++i)
      if (!writer.add({i, row_of(i), 1}).ok()) return 1;
    if (!writer.flush().ok()) return 2;
    limit_file_size(4'096);  // a shard is larger than this, the journal's next line is not
    for (std::size_t i = 10; i < 600; ++i)
      if (!writer.add({i, row_of(i), 1}).ok()) return 3;
    const auto full = writer.flush();
    if (full.ok() || full.errors()[0].fault != Fault::environment) return 4;
    if (message_of(full).find("File too large") == std::string::npos) return 5;
    if (writer.pending() != 590 || writer.committed() != 10) return 6;
    if (names_in(folder.path() / "shards") != std::vector<std::string>{"1-0-0.h5"}) return 7;
    limit_file_size(RLIM_INFINITY);  // space was freed: the same writer continues
    if (!writer.flush().ok() || writer.committed() != 600) return 8;
    return 0;
  });
  ASSERT_EQ(code, 0);
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->state().done_count, 600U);
}

TEST(ShardWriter, SurvivesAJournalThatCannotGrow) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  const int code = in_child([&] {
    auto writer = open_writer(folder.path(), study);
    // Empty lines make the journal larger than a shard, so a limit just above its size stops the journal alone.
    const auto journal = folder.path() / "journal/1-0.log";
    std::ofstream(journal, std::ios::app) << std::string(500'000, '\n');
    const auto size = std::filesystem::file_size(journal);
    if (!writer.add({0, row_of(0), 1}).ok()) return 2;
    limit_file_size(size + 20);  // a torn line
    if (writer.flush().ok() || writer.pending() != 1) return 3;
    if (std::filesystem::file_size(journal) != size) return 4;
    if (!names_in(folder.path() / "shards").empty()) return 5;
    limit_file_size(RLIM_INFINITY);
    return writer.flush().ok() && writer.committed() == 1 ? 0 : 6;
  });
  EXPECT_EQ(code, 0);
}

TEST(Merge, ThatMeetsAFullDiskLeavesTheOldResult) {
  const TemporaryFolder folder;
  const auto study = study_of(40);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  {
    auto writer = open_writer(folder.path(), study);
    add_rows(writer, 0, 40);
    ASSERT_TRUE(writer.flush().ok());
  }
  ASSERT_TRUE(merge(folder.path(), study).ok());
  const auto before = support::read_text(folder.path() / "study.h5");
  const int code = in_child([&] {
    limit_file_size(before.size() / 2);
    const auto report = merge(folder.path(), study);
    return !report.ok() && message_of(report).find("study.h5") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(support::read_text(folder.path() / "study.h5"), before);
  for (const auto& name : names_in(folder.path())) EXPECT_EQ(name.find(".tmp-"), std::string::npos) << name;
}

TEST(Merge, OfAFolderThatIsBeingWrittenNeverLosesCommittedRows) {
  const TemporaryFolder folder;
  const auto all = static_cast<std::size_t>(support::draws(150, 400));
  const auto study = study_of(all);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  const auto child = ::fork();
  if (child == 0) {  // joins shards whenever there are 64
    auto writer = open_writer(folder.path(), study);
    for (std::size_t i = 0; i < all; ++i)
      if (!writer.add({i, row_of(i), 1}).ok() || !writer.flush().ok()) ::_exit(1);
    ::_exit(0);
  }
  std::size_t rows = 0;
  int status = 0;
  for (bool running = true; running;) {
    running = ::waitpid(child, &status, WNOHANG) == 0;
    const auto report = merge(folder.path(), study);
    ASSERT_TRUE(report.ok()) << message_of(report);
    EXPECT_TRUE(report->warnings.empty()) << report->warnings[0];
    EXPECT_GE(report->rows, rows);
    rows = report->rows;
  }
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(rows, all);
}

/// Kills a writer at a random moment, again and again, until the study is done. Every row that flush() promised is
/// there.
TEST(ShardWriter, KeepsItsPromisesWhenKilledAtAnyMoment) {
  const auto study = study_of(60);
  const TemporaryFolder whole;
  ASSERT_TRUE(ResultFolder::open(whole.path(), study, {}).ok());
  {
    auto writer = open_writer(whole.path(), study);
    add_rows(writer, 0, 60);
    ASSERT_TRUE(writer.flush().ok());
  }
  const TemporaryFolder folder;
  Random random(2024);
  int kills = 0;
  for (int run = 0; run < 100; ++run) {
    FolderState state;
    {
      const auto opened = ResultFolder::open(folder.path(), study, {});
      ASSERT_TRUE(opened.ok()) << message_of(opened);
      state = opened->state();
    }
    if (state.done_count == study.points.size()) break;
    int promises[2];
    ASSERT_EQ(::pipe(promises), 0);
    const auto child = ::fork();
    if (child == 0) {
      auto writer = open_writer(folder.path(), study, state.incarnation);
      for (std::uint32_t i = 0; i < 60; ++i) {
        if (state.done[i]) continue;
        if (!writer.add({i, row_of(i), 1}).ok() || !writer.flush().ok()) ::_exit(1);
        if (::write(promises[1], &i, sizeof(i)) != sizeof(i)) ::_exit(2);
      }
      ::_exit(0);
    }
    ::close(promises[1]);
    // The first kills come after a few promises, so that runs get on however busy the machine is; the others at any
    // moment.
    std::vector<std::uint32_t> kept;
    std::uint32_t promised = 0;
    for (auto wait = random.below(4); wait > 0; --wait)
      if (::read(promises[0], &promised, sizeof(promised)) == sizeof(promised)) kept.push_back(promised);
    ::usleep(static_cast<::useconds_t>(random.below(5'000)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) ++kills;
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
    const auto opened = ResultFolder::open(folder.path(), study, {});
    ASSERT_TRUE(opened.ok()) << message_of(opened);
    EXPECT_TRUE(opened->state().warnings.empty());
    while (::read(promises[0], &promised, sizeof(promised)) == sizeof(promised)) kept.push_back(promised);
    for (const auto row : kept) EXPECT_TRUE(opened->state().done[row]) << row;
    ::close(promises[0]);
    for (std::size_t i = 0; i < state.done.size(); ++i) EXPECT_TRUE(!state.done[i] || opened->state().done[i]) << i;
  }
  EXPECT_GE(kills, 2);
  const auto a = merge(whole.path(), study);
  const auto b = merge(folder.path(), study);
  ASSERT_TRUE(a.ok() && b.ok()) << message_of(b);
  const auto expected = read_result(a->file);
  const auto resumed = read_result(b->file);
  ASSERT_TRUE(expected.ok() && resumed.ok());
  ASSERT_EQ(resumed->rows.size(), 60U);
  expect_same_results(*expected, *resumed);
}

/// Makes `dir` hold what `saved` holds. Files of both stay the same files, so that an open journal goes on.
void restore_folder(const std::filesystem::path& dir, const std::filesystem::path& saved) {
  namespace fs = std::filesystem;
  std::vector<fs::path> added;
  for (const auto& entry : fs::recursive_directory_iterator(dir))
    if (!fs::exists(saved / fs::relative(entry.path(), dir))) added.push_back(entry.path());
  for (const auto& path : added) fs::remove_all(path);
  fs::copy(saved, dir, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
}

/// Committed files are removed only when shards are joined (at the 64th commit). This test kills the writer there, at
/// different moments up to 16.5 ms after it began. Every attempt begins from the same 63 commits.
TEST(ShardWriter, LosesNothingWhenKilledWhileItJoinsShards) {
  const auto study = study_of(70);
  const TemporaryFolder folder;
  const TemporaryFolder saved;
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  auto writer = open_writer(folder.path(), study);
  for (std::size_t i = 0; i < 63; ++i) {
    add_rows(writer, i, i + 1);
    ASSERT_TRUE(writer.flush().ok());
  }
  restore_folder(saved.path(), folder.path());
  const int attempts = support::draws(4, 12);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    restore_folder(folder.path(), saved.path());
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const auto child = ::fork();
    if (child == 0) {
      if (::write(ready[1], "x", 1) != 1) ::_exit(1);
      ::_exit(writer.add({63, row_of(63), 1}).ok() && writer.flush().ok() ? 0 : 2);
    }
    ::close(ready[1]);  // of the child alone, so that its end ends the wait for it
    char signal = 0;
    EXPECT_EQ(::read(ready[0], &signal, 1), 1);
    ::close(ready[0]);
    ::usleep(static_cast<useconds_t>(attempt * 16'500 / (attempts - 1)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << WEXITSTATUS(status);
    const auto opened = ResultFolder::open(folder.path(), study, {});
    ASSERT_TRUE(opened.ok()) << message_of(opened);
    EXPECT_TRUE(opened->state().warnings.empty()) << opened->state().warnings[0];
    EXPECT_GE(opened->state().done_count, 63U);
    const auto report = merge(folder.path(), study);
    ASSERT_TRUE(report.ok()) << message_of(report);
    EXPECT_EQ(report->repeated, 0U);
    EXPECT_EQ(report->rows, opened->state().done_count);
  }
}

}  // namespace
}  // namespace tenex
