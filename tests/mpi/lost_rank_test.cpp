// Ranks that die under `mpirun --enable-recovery`: the others complete the study.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string>
#include <vector>

#include "mpi/job.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using testing::Job;
using testing::rows_of_one_rank;

// Short, to keep the tests short. A living rank sends twelve messages within it, so a busy machine does not kill it.
const std::vector<std::string> soon_dead = {"--silence", "3"};
const std::vector<std::string> recovery = {"--enable-recovery"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::size_t lines_of(const std::filesystem::path& file) {
  const auto text = support::read_text(file);
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(LostRank, GivesItsPointsToOthersAndTheStudyEndsByItself) {
  const Job job;
  const auto child = job.start(3, with({"--points", "90"}, soon_dead), recovery);
  job.wait_until_started(3);
  job.wait_until_evaluated(20);
  kill(job.pid_of(2), SIGKILL);
  EXPECT_EQ(child->wait(), 0) << child->err();
  EXPECT_EQ(child->number("lost_ranks"), 1);
  EXPECT_EQ(child->number("evaluated"), 90);
  EXPECT_EQ(child->number("quarantined"), 0);
  EXPECT_THAT(child->err(), HasSubstr("rank 2 on "));
  EXPECT_THAT(child->err(), HasSubstr("is lost (it has sent nothing for 3 s)"));
  EXPECT_EQ(job.rows(), rows_of_one_rank("90"));
}

TEST(LostRank, MayBeAllButRankZero) {
  const Job job;
  const auto child = job.start(3, with({"--points", "60"}, soon_dead), recovery);
  job.wait_until_started(3);
  job.wait_until_evaluated(10);
  kill(job.pid_of(1), SIGKILL);
  kill(job.pid_of(2), SIGSEGV);
  EXPECT_EQ(child->wait(), 0) << child->err();
  EXPECT_EQ(child->number("lost_ranks"), 2);
  EXPECT_EQ(job.rows(), rows_of_one_rank("60"));
}

TEST(LostRank, ThatIsRankZeroEndsTheOthersInAStateThatResumes) {
  const Job job;
  const auto child = job.start(3, with({"--points", "90"}, soon_dead), recovery);
  job.wait_until_started(3);
  job.wait_until_evaluated(30);
  const auto pids = std::vector<int>{job.pid_of(1), job.pid_of(2)};
  kill(job.pid_of(0), SIGKILL);
  EXPECT_NE(child->wait(), -1) << "the job hangs";
  for (const int pid : pids) support::wait_until_dead(pid);
  EXPECT_THAT(child->err(), HasSubstr("rank 0 has sent nothing for 3 s and counts as dead"));
  const auto resumed = job.start(2, {"--points", "90"});
  ASSERT_EQ(resumed->wait(), 0) << resumed->err();
  // The others had about two thirds of the 30 points, and committed them before they left.
  EXPECT_GE(resumed->number("already_done"), 10);
  EXPECT_EQ(job.rows(), rows_of_one_rank("90"));
}

TEST(LostRank, EndsOnAPointThatIsGivenUpAfterTheSecondTime) {
  // The longest points are those of seeds 22 and 53, then 13 and 44. Rank 0 begins with the first and is in it until
  // the others have met seed 13 twice. So rank 0 is not the one that ends on it, however slowly the others start.
  const Job job;
  const auto child = job.start(
      4, with({"--points", "60", "--slow-rank", "0", "--slow-until-crashes", "2", "--crash-seed", "13"}, soon_dead),
      recovery);
  EXPECT_EQ(child->wait(), 0) << child->err();
  EXPECT_EQ(child->number("lost_ranks"), 2);
  EXPECT_EQ(child->number("quarantined"), 1);
  EXPECT_EQ(child->number("failed"), 7);  // every tenth seed and this one
  EXPECT_EQ(lines_of(job.notes() / "crashes"), 2U);
  auto rows = job.rows();
  auto truth = rows_of_one_rank("60");
  ASSERT_EQ(rows.size(), truth.size());
  EXPECT_THAT(rows[12], HasSubstr("the point ended its process 2 times (SIGSEGV); it is not tried again"));
  rows[12] = truth[12] = "";
  EXPECT_EQ(rows, truth);
}

TEST(CrashingPoint, IsGivenUpByTheThirdRunWhateverItsFault) {
  const auto truth = rows_of_one_rank("20");
  for (const auto& [signal, name] :
       {std::pair(SIGSEGV, "SIGSEGV"), std::pair(SIGBUS, "SIGBUS"), std::pair(SIGFPE, "SIGFPE"),
        std::pair(SIGILL, "SIGILL"), std::pair(SIGABRT, "SIGABRT")}) {
    const Job job;
    const std::vector<std::string> arguments = {"--points",     "20", "--scale",        "0.05",
                                                "--crash-seed", "7",  "--crash-signal", std::to_string(signal)};
    for (int run = 1; run <= 2; ++run) EXPECT_EQ(job.start_alone(arguments)->wait(), 128 + signal) << name;
    const auto third = job.start_alone(arguments);
    EXPECT_EQ(third->wait(), 0) << third->err();
    EXPECT_EQ(third->number("quarantined"), 1);
    EXPECT_THAT(third->err(), HasSubstr("points that ended their process 2 times: 1"));
    auto rows = job.rows();
    ASSERT_EQ(rows.size(), 20U);
    EXPECT_THAT(rows[6], HasSubstr(std::string("the point ended its process 2 times (") + name + ")"));
    rows[6] = truth[6];
    EXPECT_EQ(rows, truth);
    const auto fourth = job.start_alone(arguments);
    EXPECT_EQ(fourth->wait(), 0) << fourth->err();
    EXPECT_EQ(fourth->number("already_done"), 20) << "its row is a row like any other";
  }
}

TEST(CrashingPoint, IsNotBlamedForAKillFromOutside) {
  const Job job;
  std::vector<std::string> arguments = {"--points", "20", "--scale", "0.05"};
  const auto killed = with(arguments, {"--crash-seed", "7", "--crash-signal", std::to_string(SIGKILL)});
  for (int run = 1; run <= 3; ++run) EXPECT_EQ(job.start_alone(killed)->wait(), 128 + SIGKILL);
  const auto last = job.start_alone(arguments);
  EXPECT_EQ(last->wait(), 0) << last->err();
  EXPECT_EQ(last->number("quarantined"), 0);
  EXPECT_EQ(job.rows(), rows_of_one_rank("20"));
}

}  // namespace
}  // namespace tenex
