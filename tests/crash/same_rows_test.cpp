// The same study gives the same rows for any ranks and threads, and also if the run is killed once.
#include <gtest/gtest.h>

#include <chrono>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kill_job.hpp"
#include "study.hpp"
#include "support/draws.hpp"
#include "support/results.hpp"

namespace tenex {
namespace {

using namespace crash_tests;

using RanksAndThreads = std::pair<int, int>;
constexpr RanksAndThreads all_jobs[] = {{1, 1}, {1, 2}, {2, 1}, {2, 2}, {4, 1}, {4, 2}, {8, 1}, {8, 2}};

/// Every other of the jobs, from the first or the second one on; all of them under the label `long`.
std::vector<RanksAndThreads> some_jobs(std::size_t first) {
  std::vector<RanksAndThreads> jobs;
  for (std::size_t job = 0; job < std::size(all_jobs); ++job)
    if (support::long_run() || (job / 2 + job) % 2 == first) jobs.push_back(all_jobs[job]);
  return jobs;
}

std::string name_of(RanksAndThreads job) {
  return "ranks" + std::to_string(job.first) + "threads" + std::to_string(job.second);
}

TEST(AStudy, GivesTheSameRowsForAnyRanksAndThreads) {
  const support::TemporaryFolder folder;
  const auto alone = support::run({run_words(folder.path(), "alone", brief), {{"OMP_NUM_THREADS", "1"}}, {}});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  for (const auto& pair : some_jobs(0)) {
    const auto out = name_of(pair);
    const auto job = support::run(support::mpirun(pair.first, run_words(folder.path(), out, brief), pair.second));
    ASSERT_EQ(job.exit_code, 0) << out << ": " << job.err;
    support::expect_same_rows(folder.path() / "alone" / "study.h5", folder.path() / out / "study.h5");
  }
}

TEST(AStudy, GivesTheSameRowsForAnyRanksAndThreadsAfterAKill) {
  const support::TemporaryFolder folder;
  const auto alone = support::run({run_words(folder.path(), "alone", brief), {{"OMP_NUM_THREADS", "1"}}, {}});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  std::chrono::milliseconds delay(300);
  for (const auto& pair : some_jobs(1)) {
    const auto out = name_of(pair);
    const auto command = support::mpirun(pair.first, run_words(folder.path(), out, brief), pair.second);
    {
      const support::TemporaryFolder output;
      support::Child child(command, output.path());
      std::this_thread::sleep_for(delay);  // at any stage: starting, evaluating, merging
      kill_job(child);
    }
    delay += std::chrono::milliseconds(130);
    const auto job = support::run(command);
    ASSERT_EQ(job.exit_code, 0) << out << ": " << job.err;
    support::expect_same_rows(folder.path() / "alone" / "study.h5", folder.path() / out / "study.h5");
  }
}

}  // namespace
}  // namespace tenex
