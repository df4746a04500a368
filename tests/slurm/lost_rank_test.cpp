// Jobs that lose ranks during the run. If workers are killed, other ranks get their points and the job ends normally.
// If rank 0 is killed, the job ends so that it can be continued.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "slurm/cluster.hpp"

namespace tenex {
namespace {

using namespace slurm_tests;
using ::testing::HasSubstr;

// Two or three ranks work for some seconds. So the kill comes during the run, and the others still work when a rank
// counts as dead, after 2 s instead of a minute.
const auto some_seconds = work_of(12);

TEST(AKilledRank, LeavesItsPointsToOthersAndTheJobEndsByItself) {
  const Site site(some_seconds);
  // Virtual nodes are one host: see cluster.hpp.
  const auto job = site.in_cluster(Kind::virtual_nodes, 3, R"(
job=$(submit many_nodes.sbatch --nodes=3 --ntasks-per-node=1 -- "$STUDY" "$OUT/out" --silence 2s)
until_true 100 have_begun "$OUT/out" 2
sleep 0.2
kill_ranks 2
ended "$job")",
                                   {{"LAUNCHER", "mpirun --enable-recovery --bind-to none --mca btl tcp,self"}});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  EXPECT_THAT(site.logs(), HasSubstr("rank 2 on head is lost ("));
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(AHostsKilledRanks, LeaveTheirPointsToThoseOfOtherHosts) {
  // With the launcher that the file chooses without LAUNCHER.
  const Site site(some_seconds);
  const auto job = site.in_cluster(Kind::hosts, 2, R"(
job=$(submit many_nodes.sbatch --nodes=2 --ntasks-per-node=2 -- "$STUDY" "$OUT/out" --silence 2s)
until_true 100 have_begun "$OUT/out" 2 3
sleep 0.2
kill_ranks 2 3
ended "$job")");
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  EXPECT_THAT(site.logs(), HasSubstr("rank 2 on n2 is lost ("));
  EXPECT_THAT(site.logs(), HasSubstr("rank 3 on n2 is lost ("));
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(AKilledRankZero, EndsTheJobWithWhatTheOthersHaveAndTheSameCommandContinues) {
  const Site site(some_seconds);
  const auto job = site.in_cluster(Kind::hosts, 2, R"(
job=$(submit many_nodes.sbatch --nodes=2 --ntasks-per-node=1 -- "$STUDY" "$OUT/out" --silence 2s)
until_true 100 has_begun "$OUT/out"
sleep 0.2
kill_ranks 0
ended "$job"
has_rows "$OUT/out"
env -u TENEX_PACE "$TENEX" run "$STUDY" --out "$OUT/out" --quiet >&2)");
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "FAILED 3\n") << job.err << site.logs();
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_THAT(site.logs(), HasSubstr("rank 0 has sent nothing for 2 s and counts as dead"));
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(APointThatKillsItsRank, IsGivenUpAfterTheSecondTimeInWhateverJob) {
  // The points are made up by the probe of the MPI tests. In the first job seed 13 ends its only rank by its own fault.
  // In the second the system kills the rank with that point for lack of memory (the probe counts that kill, and dies of
  // SIGKILL). A point with a fault runs on rank 1, not on rank 0. The probe does not call MPI_Abort before it ends, so
  // the launcher hangs once the study is over, and must not be waited for.
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 1, R"(
mkdir "$OUT/notes"
cat >"$OUT/probe" <<'END'
#!/usr/bin/env bash
# run STUDY --out DIR [options of the probe]
code=0
")" TENEX_MPI_PROBE R"(" --out "$4" --notes "${OUT:?}/notes" --points 30 --scale 0.1 --silence 2 "${@:5}" || code=$?
[ "$code" -ge 128 ] || [ "$OMPI_COMM_WORLD_RANK" != 0 ] || echo "$code" >"$TENEX_EXIT_CODE"
exit "$code"
END
chmod +x "$OUT/probe"
export TENEX=$OUT/probe
job=$(submit one_node.sbatch --ntasks-per-node=1 -- "$STUDY" "$OUT/out" --crash-seed 13)
ended "$job"
job=$(submit one_node.sbatch --ntasks-per-node=2 -- "$STUDY" "$OUT/out" --memory-seed 13)
ended "$job"
cat "$OUT/notes/memory-kills")",
                                   {{"LAUNCHER", "mpirun --enable-recovery --bind-to none"}});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "FAILED 3\nCOMPLETED 0\n1\n") << job.err << site.logs();
  EXPECT_THAT(site.logs(), HasSubstr("rank 1 on head is lost ("));
  const auto rows = read_result(site.result("out"));
  ASSERT_TRUE(rows) << to_string(rows.errors());
  ASSERT_EQ(rows->rows.size(), 30U);
  EXPECT_EQ(rows->rows[12].reason,
            "the point ended its process 2 times (the system killed it for want of memory); it is not tried again");
}

TEST(TenexRun, RefusesASilenceInWhichNoRankSaysAWord) {
  const Site site;
  const auto refused = support::run(
      {{TENEX_BINARY, "run", site.study().string(), "--out", (site.path() / "out").string(), "--silence", "10ms"},
       {},
       {}});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("10ms is too short\n  reason: a rank sends twelve messages in it\n"
                                     "  help: give 1s or more"));
  EXPECT_FALSE(std::filesystem::exists(site.path() / "out"));
}

}  // namespace
}  // namespace tenex
