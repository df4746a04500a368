// No row is lost when a job is killed: the same command continues, and the merged rows equal those of an uninterrupted
// run.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "kill_job.hpp"
#include "study.hpp"
#include "support/results.hpp"

namespace tenex {
namespace {

using namespace crash_tests;
using std::chrono::milliseconds;

TEST(AKilledJob, ContinuesToTheSameRows) {
  const support::TemporaryFolder folder;
  const auto whole = support::run({run_words(folder.path(), "whole"), {{"OMP_NUM_THREADS", "2"}}, {}});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;

  const auto job = support::mpirun(2, run_words(folder.path(), "killed"));
  for (const double seconds : {0.1, 0.3, 0.6, 0.9, 0.5}) {  // of 2: two ranks start, and work for 1.5 s
    const support::TemporaryFolder output;
    support::Child child(job, output.path());
    let_it_compute(child, seconds);
    kill_job(child);
  }
  // A drained job commits its rows: the next one starts from there.
  const support::TemporaryFolder output;
  support::Child drained(job, output.path());
  let_it_work(drained, folder.path() / "killed");
  drained.signal(SIGUSR1);
  const auto partial = drained.wait();
  EXPECT_EQ(partial.exit_code, 3) << partial.err;

  const auto last = support::run(job);
  ASSERT_EQ(last.exit_code, 0) << last.err;
  support::expect_same_rows(folder.path() / "whole" / "study.h5", folder.path() / "killed" / "study.h5");
}

/// Number of shards that the journals of a result folder commit.
std::size_t committed_shards(const std::filesystem::path& out) {
  std::size_t count = 0;
  std::error_code none_yet;
  for (const auto& journal : std::filesystem::directory_iterator(out / "journal", none_yet)) {
    const auto text = support::read_text(journal.path());
    for (auto at = text.find("\ncommit "); at != std::string::npos; at = text.find("\ncommit ", at + 1)) ++count;
  }
  return count;
}

/// The number before `words` in the output of a run, or -1.
long number_before(const std::string& text, const std::string& words) {
  const auto end = text.find(words);
  if (end == std::string::npos) return -1;
  const auto blank = text.rfind(' ', end - 1);
  return std::stol(text.substr(blank == std::string::npos ? 0 : blank + 1));
}

TEST(AJobKilledAfterItCommittedRows, KeepsThemAndContinuesToTheSameRows) {
  const support::TemporaryFolder folder;
  const auto study = folder.path() / "cheap.toml";
  support::write_text(study, cheap_points(3500));
  const auto words = [&](const char* out) {
    return std::vector<std::string>{TENEX_BINARY, "run", study.string(), "--out", (folder.path() / out).string(),
                                    "--quiet"};
  };
  const auto whole = support::run({words("whole"), {{"OMP_NUM_THREADS", "2"}}, {}});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;

  const auto killed = folder.path() / "killed";
  const auto job = support::mpirun(2, words("killed"));
  int kills = 0;
  for (const int delay : {0, 15, 40}) {  // milliseconds after one more shard was committed
    const auto before = committed_shards(killed);
    const support::TemporaryFolder output;
    support::Child child(job, output.path());
    while (child.running() && committed_shards(killed) == before) std::this_thread::sleep_for(milliseconds(2));
    std::this_thread::sleep_for(milliseconds(delay));
    if (child.running()) ++kills;
    kill_job(child);
    EXPECT_GT(committed_shards(killed), before);
  }
  ASSERT_GE(kills, 1) << "every job ended before it could be killed";

  const auto partial = support::run({{TENEX_BINARY, "merge", killed.string()}, {}, {}});
  EXPECT_EQ(partial.exit_code, 3) << partial.out << partial.err;
  EXPECT_NE(partial.err.find("have no row yet; `tenex run STUDY --out " + killed.string() + "` continues"),
            std::string::npos)
      << partial.err;

  const auto last = support::run(job);
  ASSERT_EQ(last.exit_code, 0) << last.err;
  const auto kept = number_before(last.out, " from before");
  EXPECT_GE(kept, 4096 * kills) << last.out;
  EXPECT_EQ(kept + number_before(last.out, " evaluated now"), 21'000) << last.out;
  support::expect_same_rows(folder.path() / "whole" / "study.h5", killed / "study.h5");
}

TEST(ADrainedJob, SaysSoAndKeepsWhatItHas) {
  const support::TemporaryFolder folder;
  const auto words = run_words(folder.path(), "drained");
  const support::TemporaryFolder output;
  support::Child child({words, {{"OMP_NUM_THREADS", "1"}}, {}}, output.path());
  let_it_work(child, folder.path() / "drained");
  child.signal(SIGUSR1);
  const auto first = child.wait();
  ASSERT_EQ(first.exit_code, 3) << first.out << first.err;
  EXPECT_NE(first.err.find("the same command continues"), std::string::npos) << first.err;
  const auto second = support::run({words, {{"OMP_NUM_THREADS", "1"}}, {}});
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(second.out.find(" 0 from before"), std::string::npos) << "nothing was kept: " << second.out;
}

TEST(ATerminatedJob, LeavesAFolderThatTheSameCommandContinues) {
  const support::TemporaryFolder folder;
  const auto words = run_words(folder.path(), "terminated");
  const support::TemporaryFolder output;
  support::Child child({words, {{"OMP_NUM_THREADS", "1"}}, {}}, output.path());
  let_it_work(child, folder.path() / "terminated");
  child.signal(SIGTERM);
  const auto first = child.wait();
  EXPECT_EQ(first.exit_code, 3) << "it did not leave before its study was complete: " << first.err;
  const auto second = support::run({words, {{"OMP_NUM_THREADS", "1"}}, {}});
  EXPECT_EQ(second.exit_code, 0) << second.err;
}

TEST(ASecondRunOnTheSameFolder, IsRefusedWhileTheFirstLives) {
  const support::TemporaryFolder folder;
  const auto words = run_words(folder.path(), "shared");
  const support::TemporaryFolder output;
  support::Child first({words, {{"OMP_NUM_THREADS", "1"}}, {}}, output.path());
  let_it_work(first, folder.path() / "shared");
  first.signal(SIGSTOP);  // it lives as long as the second runs
  const auto second = support::run({words, {}, {}});
  first.signal(SIGCONT);
  EXPECT_NE(second.exit_code, 0) << second.out;
  EXPECT_NE(second.err.find("lock"), std::string::npos) << second.err;
  EXPECT_EQ(first.wait().exit_code, 0);
}

}  // namespace
}  // namespace tenex
