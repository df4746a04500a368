// Jobs that are told to stop, lose their node, or make no progress: requeue.sbatch continues, or says why it does not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "slurm/cluster.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {
namespace {

using namespace slurm_tests;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Enough for two ranks that a signal comes during the run.
const auto six_seconds = work_of(6);

/// Number of rows that more than one turn evaluated.
std::size_t repeated_rows(const std::filesystem::path& dir) {
  const auto study = read_stored_study(dir, vocabulary());
  if (!study) return 999'999;
  const auto merged = merge(dir, *study);
  return merged ? merged->repeated : 999'999;
}

// With mpirun, which the file chooses without LAUNCHER, and with srun and PMIx.
class Requeue : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Requeue, DrainsOnTheSignalAndGoesOnInTheNextTurn) {
  const Site site(six_seconds);
  const auto job = site.in_cluster(Kind::hosts, 2, R"(
job=$(submit requeue.sbatch --ntasks-per-node=2 -- "$STUDY" "$OUT/out")
until_true 100 has_begun "$OUT/out"
sleep 0.2
scancel --batch --signal=USR1 "$job"
until_true 100 restarts_are "$job" 1
ended "$job")",
                                   {{"LAUNCHER", GetParam().second}});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  EXPECT_THAT(site.logs(), HasSubstr("interrupted after"));
  EXPECT_THAT(site.logs(), HasSubstr("queued again: turn 2 of job"));
  support::expect_same_rows(site.local_result(), site.result("out"));
  EXPECT_EQ(repeated_rows(site.path() / "out"), 0U) << "the signal's turn committed all that it evaluated";
}
INSTANTIATE_TEST_SUITE_P(Launchers, Requeue,
                         ::testing::Values(std::pair("mpirun", ""), std::pair("srun", "srun --mpi=pmix")),
                         [](const auto& launcher) { return std::string(launcher.param.first); });

TEST(RequeueAtTheTimeLimit, HearsSlurmsOwnSignal) {
  // Slurm checks time limits every 30 s and signals jobs that are within 55 s of their limit of a minute: at most 35 s
  // after the start. The study is longer than that; it need not end here.
  const Site site(work_of(120));
  const auto job = site.in_cluster(Kind::virtual_nodes, 1, R"(
job=$(submit requeue.sbatch --ntasks-per-node=1 --time=00:01:00 --signal=B:USR1@55 -- "$STUDY" "$OUT/out")
until_true 200 restarts_are "$job" 1
scancel "$job"
ended "$job")",
                                   {{"LAUNCHER", "mpirun --bind-to none"}});
  NEEDS_SLURM(job);
  // Slurm keeps the exit code of the first turn: 3 where its script ends before `scontrol requeue` ends it, else 0.
  EXPECT_THAT(job.out, AnyOf("CANCELLED 0\n", "CANCELLED 3\n")) << job.err << site.logs();
  EXPECT_THAT(site.logs(), HasSubstr("interrupted after"));
  EXPECT_THAT(site.logs(), HasSubstr("queued again: turn 2 of job"));
}

TEST(RequeueAfterALostHost, GoesOnElsewhereWithTheSameRows) {
  // The lost host's lock counts for 30 s: the next turn waits for that.
  const Site site(six_seconds);
  const auto job = site.in_cluster(Kind::hosts, 3, R"(
job=$(submit requeue.sbatch --exclude=n1 --ntasks-per-node=2 -- "$STUDY" "$OUT/out")
until_true 100 has_begun "$OUT/out"
sleep 0.2
lose_host $(field "$job" BatchHost)
until_true 100 restarts_are "$job" 1
has_begun "$OUT/out"
ended "$job")",
                                   {{"LAUNCHER", "mpirun --bind-to none"}});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(RequeueWithoutProgress, IsTheLastTurn) {
  // A program that is always interrupted and adds no row, as with a full disk.
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 1, R"(
printf '#!/bin/sh\nexit 3\n' >"$OUT/interrupted"
chmod +x "$OUT/interrupted"
export TENEX=$OUT/interrupted LAUNCHER=env
job=$(submit requeue.sbatch -- "$STUDY" "$OUT/out")
ended "$job"
field "$job" Restarts)");
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "FAILED 3\n0\n") << job.err << site.logs();
  EXPECT_THAT(site.logs(), HasSubstr("not queued again (this turn added no row)"));
}

TEST(OneNodeAtTheTimeLimit, KeepsItsRowsAndTheSameCommandContinues) {
  const Site site(six_seconds);
  const auto job = site.in_cluster(Kind::virtual_nodes, 1, R"(
job=$(submit one_node.sbatch -- "$STUDY" "$OUT/out")
until_true 100 has_begun "$OUT/out"
sleep 0.2
scancel --batch --signal=USR1 "$job"
ended "$job"
has_rows "$OUT/out"
job=$(submit one_node.sbatch -- "$STUDY" "$OUT/out")
ended "$job")",
                                   {{"LAUNCHER", "mpirun --bind-to none"}});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "FAILED 3\nCOMPLETED 0\n") << job.err << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
}

}  // namespace
}  // namespace tenex
