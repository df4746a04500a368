// Nothing is lost when a job is killed: the same command continues, and the merged rows equal those of an uninterrupted run.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "study.hpp"
#include "support/results.hpp"

namespace tenex {
namespace {

using namespace crash_tests;
using std::chrono::milliseconds;

// The processes below `pid`, through /proc: mpirun puts its ranks into process groups of their own.
void collect_descendants(pid_t pid, std::vector<pid_t>& into) {
  std::ifstream children("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  for (pid_t child = 0; children >> child;) {
    into.push_back(child);
    collect_descendants(child, into);
  }
}

void kill_job(support::Child& job) {
  std::vector<pid_t> ranks;
  collect_descendants(job.pid(), ranks);
  for (const auto rank : ranks) ::kill(rank, SIGKILL);
  job.signal(SIGKILL);
  job.wait();
}

TEST(AKilledJob, ContinuesToTheSameRows) {
  const support::TemporaryFolder folder;
  const auto whole = support::run({run_words(folder.path(), "whole"), {{"OMP_NUM_THREADS", "2"}}, {}});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;

  const auto job = support::mpirun(2, run_words(folder.path(), "killed"));
  for (const int delay : {150, 400, 700, 1000, 600}) {
    const support::TemporaryFolder output;
    support::Child child(job, output.path());
    std::this_thread::sleep_for(milliseconds(delay));
    kill_job(child);
  }
  // A drained job commits what it has: the next one starts from there.
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
  const auto asked = std::chrono::steady_clock::now();
  child.signal(SIGTERM);
  const auto first = child.wait();
  EXPECT_EQ(first.exit_code, 3) << first.err;
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(10)) << "did not leave";
  const auto second = support::run({words, {{"OMP_NUM_THREADS", "1"}}, {}});
  EXPECT_EQ(second.exit_code, 0) << second.err;
}

TEST(ASecondRunOnTheSameFolder, IsRefusedWhileTheFirstLives) {
  const support::TemporaryFolder folder;
  const auto words = run_words(folder.path(), "shared");
  const support::TemporaryFolder output;
  support::Child first({words, {{"OMP_NUM_THREADS", "1"}}, {}}, output.path());
  let_it_work(first, folder.path() / "shared");
  const auto second = support::run({words, {}, {}});
  EXPECT_NE(second.exit_code, 0) << second.out;
  EXPECT_NE(second.err.find("lock"), std::string::npos) << second.err;
  EXPECT_EQ(first.wait().exit_code, 0);
}

}  // namespace
}  // namespace tenex
