// The crash matrix under a real mpirun: one fault in each of its 15 cells, then the run that continues. When a worker
// or rank 0 dies, others go on (--enable-recovery); mpirun itself ends a whole job.
#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "crash/journals.hpp"
#include "mpi/job.hpp"

namespace tenex {
namespace {

using crash_tests::tally;
using testing::Job;
using Words = std::vector<std::string>;

constexpr int ranks = 3;
constexpr std::size_t points = 60;  // 4 to 10 ms each
const Words study = {"--points", std::to_string(points), "--scale", "0.2", "--silence", "3", "--commit", "2"};

enum class Victim { worker, coordinator, whole_job };

const char* name_of(Victim victim) {
  return victim == Victim::worker ? "Worker" : victim == Victim::coordinator ? "Coordinator" : "WholeJob";
}
void PrintTo(Victim victim, std::ostream* out) { *out << name_of(victim); }

/// Options of mpirun that set the environment of the ranks.
Words rank_environment(const Job& job, int victim, const std::string& what, int at) {
  Words options;
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"LD_PRELOAD", CRASH_SHIM},
                                                        {"CRASH_FOLDER", job.out().string()},
                                                        {"CRASH_RANK", victim < 0 ? "any" : std::to_string(victim)},
                                                        {"CRASH_WHAT", what},
                                                        {"CRASH_AT", std::to_string(at)},
                                                        {"CRASH_NOTE", (job.notes() / "fault").string()},
                                                        {"TENEX_FLUSH_ROWS", "2"}})
    options.insert(options.end(), {"-x", name + "=" + value});
  return options;
}

class MpirunCrashMatrix : public ::testing::TestWithParam<std::tuple<Victim, std::string>> {};

TEST_P(MpirunCrashMatrix, ResumesToTheSameRowsAndEvaluatesNothingTwice) {
  const auto [victim, what] = GetParam();
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>{}(what)) + static_cast<unsigned>(victim));
  const Job job;
  const bool whole = victim == Victim::whole_job;
  const int rank = victim == Victim::coordinator ? 0 : whole && what == "full" ? -1 : 1;
  // A rank commits its 20 points in pairs, 7 calls each time, after some 5 calls at the start.
  auto options = rank_environment(job, rank, what, std::uniform_int_distribution(8, 45)(random));
  if (!whole) options.emplace_back("--enable-recovery");
  const auto disturbed = job.start(ranks, study, options);
  const int end = disturbed->wait();
  ASSERT_NE(end, -1) << "the job hangs: " << disturbed->err();
  ASSERT_TRUE(std::filesystem::exists(job.notes() / "fault")) << "nothing happened: " << disturbed->err();
  for (int other = 0; other < ranks; ++other) support::wait_until_dead(job.pid_of(other));
  const bool dies = what != "SIGTERM" && what != "full";
  if (victim == Victim::worker && dies) {
    EXPECT_EQ(disturbed->number("lost_ranks"), 1) << disturbed->err();
    EXPECT_EQ(job.rows().size(), points) << "the others do not end the study";
  }
  if (what == "full") {
    EXPECT_NE(disturbed->err().find("No space left on device"), std::string::npos) << disturbed->err();
  }
  const auto resumed = job.start_alone(study);
  ASSERT_EQ(resumed->wait(), 0) << resumed->err();
  EXPECT_EQ(job.rows(), testing::rows_of_one_rank(std::to_string(points)));
  EXPECT_EQ(tally(job.out()).rows_committed, points);
}

INSTANTIATE_TEST_SUITE_P(All, MpirunCrashMatrix,
                         ::testing::Combine(::testing::Values(Victim::worker, Victim::coordinator, Victim::whole_job),
                                            ::testing::Values("SIGKILL", "SIGTERM", "full", "shards", "journal")),
                         [](const auto& cell) {
                           return name_of(std::get<0>(cell.param)) + ("_" + std::get<1>(cell.param));
                         });

}  // namespace
}  // namespace tenex
