// The folder's study, the points that count as done, and the lock.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <sstream>

#include "store/rows.hpp"

namespace tenex {
namespace {

using namespace test;
using support::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void commit(const std::filesystem::path& dir, const Study& study, std::uint32_t incarnation,
            const std::vector<std::pair<std::size_t, Evaluation>>& rows, std::uint32_t rank = 0) {
  auto writer = ShardWriter::open(dir, study, incarnation, rank);
  ASSERT_TRUE(writer.ok()) << message_of(writer);
  for (const auto& [point, row] : rows) ASSERT_TRUE(writer->add({point, row, 1}).ok());
  const auto status = writer->flush();
  ASSERT_TRUE(status.ok()) << message_of(status);
}

/// Sets a file's time this many seconds into the past.
void make_older(const std::filesystem::path& file, int seconds) {
  struct stat facts {};
  ASSERT_EQ(::stat(file.c_str(), &facts), 0);
  timespec then = facts.st_mtim;
  then.tv_sec -= seconds;
  const timespec times[2] = {then, then};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

TEST(ResultFolder, BeginsEmptyAndCountsRunsAndRows) {
  const TemporaryFolder folder;
  const auto study = study_of(4);
  {
    const auto opened = ResultFolder::open(folder.path(), study, {});
    ASSERT_TRUE(opened.ok()) << message_of(opened);
    EXPECT_EQ(opened->state().incarnation, 1U);
    EXPECT_EQ(opened->state().done_count, 0U);
    commit(folder.path(), study, 1, {{2, row_of(2)}, {0, failed_row("no")}});
  }
  const auto again = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(again.ok()) << message_of(again);
  EXPECT_EQ(again->state().incarnation, 2U);
  EXPECT_THAT(again->state().done, ElementsAre(true, false, true, false));
  EXPECT_EQ(again->state().done_count, 2U);
  EXPECT_EQ(again->state().failed_count, 1U);
  EXPECT_THAT(again->state().warnings, IsEmpty());
}

TEST(ResultFolder, RunsFailedRowsAgainOnlyWhenAsked) {
  const TemporaryFolder folder;
  const auto study = study_of(2);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  commit(folder.path(), study, 1, {{0, row_of(0)}, {1, failed_row("no")}});
  const auto retried = ResultFolder::open(folder.path(), study, {.retry_failed = true});
  ASSERT_TRUE(retried.ok());
  EXPECT_THAT(retried->state().done, ElementsAre(true, false));
  // The retry succeeds: its row replaces the failed one, which is not a contradiction.
  commit(folder.path(), study, retried->state().incarnation, {{1, row_of(1)}});
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->failed, 0U);
  EXPECT_EQ(report->repeated, 0U);
}

TEST(ResultFolder, KeepsTheLatestOfSeveralFailures) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  for (std::uint32_t run = 1; run <= 2; ++run) {
    const auto opened = ResultFolder::open(folder.path(), study, {.retry_failed = true});
    ASSERT_TRUE(opened.ok());
    ASSERT_EQ(opened->state().incarnation, run);
    commit(folder.path(), study, run, {{0, failed_row("limit of run " + std::to_string(run))}});
  }
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->rows[0].reason, "limit of run 2");
}

TEST(ResultFolder, RefusesAnotherStudyUnlessExtended) {
  const TemporaryFolder folder;
  const auto old_study = study_of(3);     // points 0 1 2
  const auto new_study = study_of(4, 1);  // points 1 2 3 4
  ASSERT_TRUE(ResultFolder::open(folder.path(), old_study, {}).ok());
  commit(folder.path(), old_study, 1, {{0, row_of(0)}, {1, row_of(1)}, {2, row_of(2)}});
  EXPECT_THAT(message_of(ResultFolder::open(folder.path(), new_study, {})), HasSubstr("belongs to another study"));
  EXPECT_THAT(*read_study_text(folder.path()), HasSubstr("3 points from 0"));

  const auto extended = ResultFolder::open(folder.path(), new_study, {.extend = true});
  ASSERT_TRUE(extended.ok()) << message_of(extended);
  EXPECT_THAT(extended->state().done, ElementsAre(true, true, false, false));
  EXPECT_THAT(*read_study_text(folder.path()), HasSubstr("4 points from 1"));
  const auto report = merge(folder.path(), new_study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->rows, 2U);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok());
  // Rows find their points by key: position 0 of the new study is point 1 of the old one.
  EXPECT_EQ(table->rows[0].collective_time_ps, row_of(1).collective_time_ps);
}

TEST(ResultFolder, EvaluatesKeptRowsAgainThatLackANewOutput) {
  const TemporaryFolder folder;
  const auto old_study = study_of(4);
  ASSERT_TRUE(ResultFolder::open(folder.path(), old_study, {}).ok());
  commit(folder.path(), old_study, 1, {{0, row_of(0)}, {1, row_of(1)}, {2, failed_row("no")}});
  auto new_study = study_of(4);
  new_study.outputs.schedule = "chunks = 1";
  new_study.store_schedule = {true, false, true, true};
  new_study.digest = digest128("the same points, other outputs");
  {
    const auto extended = ResultFolder::open(folder.path(), new_study, {.extend = true});
    ASSERT_TRUE(extended.ok()) << message_of(extended);
    // Point 0 lacks its schedule, point 1 is not asked for one, point 2 failed and has none.
    EXPECT_THAT(extended->state().done, ElementsAre(false, true, true, false));
    EXPECT_EQ(extended->state().done_count, 2U);
    ASSERT_EQ(extended->state().warnings.size(), 1U);
    EXPECT_THAT(extended->state().warnings[0], HasSubstr("1 rows were evaluated for another study and lack schedule"));
  }
  {  // killed before it evaluated any: the result is the same, though the folder now belongs to the new study
    const auto again = ResultFolder::open(folder.path(), new_study, {});
    ASSERT_TRUE(again.ok()) << message_of(again);
    EXPECT_THAT(again->state().done, ElementsAre(false, true, true, false));
    commit(folder.path(), new_study, again->state().incarnation, {{0, row_of(0)}, {3, row_of(3)}});
  }
  const auto done = ResultFolder::open(folder.path(), new_study, {});
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->state().done_count, 4U) << "a row that was asked for its schedule is asked again";
  EXPECT_THAT(done->state().warnings, IsEmpty());
}

TEST(ResultFolder, MergesTheRowThatHasTheOutputsOfTheStudy) {
  const TemporaryFolder folder;
  const auto old_study = study_of(3);
  ASSERT_TRUE(ResultFolder::open(folder.path(), old_study, {}).ok());
  commit(folder.path(), old_study, 1, {{1, row_of(1)}});
  auto new_study = study_of(3);
  new_study.outputs.store = {"link_bytes"};
  new_study.digest = digest128("the same points, other outputs");
  const auto extended = ResultFolder::open(folder.path(), new_study, {.extend = true});
  ASSERT_TRUE(extended.ok()) << message_of(extended);
  EXPECT_THAT(extended->state().done, ElementsAre(false, false, false));
  auto row = row_of(1);
  for (int link = 0; link < 8; ++link) row.link_loads.push_back({bytes(100 + link), picoseconds(1000 + link)});
  commit(folder.path(), new_study, extended->state().incarnation, {{1, row}});
  const auto report = merge(folder.path(), new_study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->rows, 1U);
  EXPECT_EQ(report->repeated, 1U);
  const auto table = read_result(report->file);
  ASSERT_TRUE(table.ok()) << message_of(table);
  EXPECT_EQ(table->rows[0].link_loads.size(), 8U) << "the row without link loads won";
}

TEST(ResultFolder, KeepsEveryMachineFileOfTheStudy) {
  const TemporaryFolder folder;
  auto study = study_of(1);
  study.machines.emplace("no/point/has/it.toml", SharedText("npus = 2\n"));
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  ASSERT_EQ(names_in(folder.path() / "machines").size(), 1U);
  EXPECT_EQ(support::read_text(folder.path() / "machines" / names_in(folder.path() / "machines")[0]), "npus = 2\n");
}

TEST(ResultFolder, RefusesAnotherPhysicsAlways) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  auto state = support::read_text(folder.path() / "state.toml");
  const auto at = state.find(fmt::format("physics = {}", physics_version));
  ASSERT_NE(at, std::string::npos);
  state.replace(at, state.find('\n', at) - at, "physics = 0");
  support::write_text(folder.path() / "state.toml", state);
  EXPECT_THAT(message_of(ResultFolder::open(folder.path(), study, {.extend = true})), HasSubstr("physics 0"));
}

TEST(ResultFolder, RefusesANewerFolder) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  support::write_text(folder.path() / "state.toml", "schema = 3\nsomething = \"new\"\n");
  const auto opened = ResultFolder::open(folder.path(), study, {});
  EXPECT_THAT(message_of(opened), HasSubstr("newer than this version"));
  EXPECT_EQ(opened.errors()[0].fault, Fault::input);
}

TEST(ResultFolder, RefusesRowsWhoseOwnerIsUnknown) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  commit(folder.path(), study, 1, {{0, row_of(0)}});
  std::filesystem::remove(folder.path() / "state.toml");
  EXPECT_THAT(message_of(ResultFolder::open(folder.path(), study, {})), HasSubstr("is damaged"));
  EXPECT_THAT(message_of(read_study_text(folder.path())), HasSubstr("is no result folder"));
  EXPECT_THAT(message_of(merge(folder.path(), study)), HasSubstr("is no result folder"));
}

TEST(ResultFolder, IsRefusedWhileALiveRunHoldsIt) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  auto first = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(first.ok());
  const auto second = ResultFolder::open(folder.path(), study, {});
  EXPECT_THAT(message_of(second), HasSubstr("is in use"));
  EXPECT_THAT(message_of(second), HasSubstr(std::to_string(::getpid())));
  EXPECT_TRUE(first->health().ok());
}

TEST(ResultFolder, IsNeverTakenFromALivingProcessOfThisHost) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  const auto first = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(first.ok());
  make_older(folder.path() / "lock",
             3'600);  // no heartbeat for an hour: the run was stopped, or its file server was away
  const auto second = ResultFolder::open(folder.path(), study, {});
  EXPECT_THAT(message_of(second), HasSubstr("is in use"));
  EXPECT_THAT(message_of(second), HasSubstr(std::to_string(::getpid())));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "lock"));
}

TEST(ResultFolder, IsTakenWhenItsPidBelongsToAnotherProcessNow) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  std::string text;
  {
    const auto opened = ResultFolder::open(folder.path(), study, {});
    ASSERT_TRUE(opened.ok());
    text = support::read_text(folder.path() / "lock");
  }
  // Host, pid, start time, moment: those of this process, but with another start time.
  std::istringstream lines(text);
  std::string host;
  std::string pid;
  std::getline(lines, host);
  std::getline(lines, pid);
  support::write_text(folder.path() / "lock", host + "\n" + pid + "\n12\n99\n");
  EXPECT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
}

TEST(ResultFolder, IsFreedWhenItsRunEnds) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  { ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok()); }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "lock"));
  EXPECT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
}

TEST(ResultFolder, IsTakenAtOnceWhenItsProcessOfThisHostIsDead) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  const auto child = ::fork();
  if (child == 0) {
    const auto opened = ResultFolder::open(folder.path(), study, {});
    ::_exit(opened.ok() ? 0 : 1);  // without destructors: as if killed
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  ASSERT_TRUE(std::filesystem::exists(folder.path() / "lock"));
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok()) << message_of(opened);
  EXPECT_EQ(opened->state().incarnation, 2U);
  // The next run is told that the other one was killed.
  ASSERT_EQ(opened->state().warnings.size(), 1U);
  EXPECT_THAT(opened->state().warnings[0],
              HasSubstr("the previous run was killed: process " + std::to_string(child) + " on "));
  EXPECT_THAT(opened->state().warnings[0], HasSubstr("points without a row: 1, to be evaluated now"));
}

TEST(ResultFolder, IsTakenAtOnceWhenItsProcessIsDeadButNobodyWaitedForIt) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  const auto child = ::fork();
  if (child == 0) {
    const auto opened = ResultFolder::open(folder.path(), study, {});
    ::_exit(opened.ok() ? 0 : 1);
  }
  // Waits for the end but leaves the process in the table: a zombie, as a killed rank without a parent that reaps.
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(info.si_status, 0);
  EXPECT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(ResultFolder, OfAnotherHostIsTakenOnlyWithoutAHeartbeatFor30Seconds) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  const auto lock = folder.path() / "lock";
  support::write_text(lock, "elsewhere/boot/pid:[1]\n1\n0\n12345\n");
  make_older(lock, 20);
  EXPECT_THAT(message_of(ResultFolder::open(folder.path(), study, {})), HasSubstr("process 1 on elsewhere"));
  make_older(lock, 11);
  auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok()) << message_of(opened);
  EXPECT_TRUE(opened->health().ok());
}

/// Waits up to 5 s for a condition that a heartbeat makes true.
template <class Condition>
bool becomes_true(const Condition& condition) {
  for (int i = 0; i < 1000 && !condition(); ++i) ::usleep(5'000);
  return condition();
}

TEST(ResultFolder, NoticesWhenItsLockIsLost) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  OpenOptions options;
  options.heartbeat = std::chrono::milliseconds(5);
  const auto opened = ResultFolder::open(folder.path(), study, options);
  ASSERT_TRUE(opened.ok());
  support::write_text(folder.path() / "lock", "elsewhere\n1\n0\n12345\n");
  EXPECT_TRUE(becomes_true([&] { return !opened->health().ok(); }));
  EXPECT_THAT(message_of(opened->health()), HasSubstr("is lost"));
}

TEST(ResultFolder, BeatsByItselfByTheFileServersClock) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  OpenOptions options;
  options.heartbeat = std::chrono::milliseconds(5);
  const auto opened = ResultFolder::open(folder.path(), study, options);
  ASSERT_TRUE(opened.ok());
  const auto lock = folder.path() / "lock";
  const auto then = std::filesystem::last_write_time(lock) - std::chrono::seconds(90);
  make_older(lock, 100);
  EXPECT_TRUE(becomes_true([&] { return std::filesystem::last_write_time(lock) > then; }));
  EXPECT_TRUE(opened->health().ok());
}

TEST(ResultFolder, RemovesWhatKilledWritersLeft) {
  const TemporaryFolder folder;
  const auto study = study_of(2);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  commit(folder.path(), study, 1, {{0, row_of(0)}});
  support::write_text(folder.path() / "shards/1-0-7.h5", "written, never named by a journal");
  support::write_text(folder.path() / "shards/1-0-8.h5.tmp-99-0", "half");
  support::write_text(folder.path() / "shards/notes.txt", "somebody's own");
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  EXPECT_THAT(names_in(folder.path() / "shards"), ElementsAre("1-0-0.h5", "notes.txt"));
  EXPECT_EQ(opened->state().done_count, 1U);
}

TEST(ResultFolder, CountsRowsOfADamagedShardAsNotDone) {
  const TemporaryFolder folder;
  const auto study = study_of(3);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  commit(folder.path(), study, 1, {{0, row_of(0)}}, 0);
  commit(folder.path(), study, 1, {{1, row_of(1)}}, 1);
  const auto file = folder.path() / "shards/1-0-0.h5";
  auto bytes = support::read_text(file);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  support::write_text(file, bytes);
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok()) << message_of(opened);
  EXPECT_THAT(opened->state().done, ElementsAre(false, true, false));
  ASSERT_EQ(opened->state().warnings.size(), 1U);
  EXPECT_THAT(opened->state().warnings[0], HasSubstr("1-0-0.h5\" is damaged"));
  const auto report = merge(folder.path(), study);
  ASSERT_TRUE(report.ok()) << message_of(report);
  EXPECT_EQ(report->rows, 1U);
  EXPECT_EQ(report->warnings.size(), 1U);
}

TEST(ResultFolder, NamesPointsThatWereBegunAndNeverFinished) {
  const TemporaryFolder folder;
  const auto study = study_of(4);
  ASSERT_TRUE(ResultFolder::open(folder.path(), study, {}).ok());
  {
    auto writer = ShardWriter::open(folder.path(), study, 1, 0);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->start(3).ok());
    ASSERT_TRUE(writer->start(1).ok());
    ASSERT_TRUE(writer->add({1, row_of(1), 1}).ok());
    ASSERT_TRUE(writer->flush().ok());
  }
  const auto opened = ResultFolder::open(folder.path(), study, {});
  ASSERT_TRUE(opened.ok());
  EXPECT_THAT(opened->state().interrupted, ElementsAre(3U));
}

TEST(ResultFolder, SaysWhatIsWrongWithItsPlace) {
  const TemporaryFolder folder;
  const auto study = study_of(1);
  support::write_text(folder.path() / "file", "no folder");
  const auto under_a_file = ResultFolder::open(folder.path() / "file" / "out", study, {});
  EXPECT_THAT(message_of(under_a_file), HasSubstr("Not a directory"));
  EXPECT_EQ(under_a_file.errors()[0].fault, Fault::environment);
  const auto in_proc = ResultFolder::open("/proc/tenex-out", study, {});
  EXPECT_THAT(message_of(in_proc), HasSubstr("/proc/tenex-out"));
}

}  // namespace
}  // namespace tenex
