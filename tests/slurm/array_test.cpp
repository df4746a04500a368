// A study in slices, one per array task, joined by a job that depends on the array.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "slurm/cluster.hpp"

namespace tenex {
namespace {

using namespace slurm_tests;
using ::testing::HasSubstr;

TEST(Array, SlicesJoinToTheRowsOfALocalRun) {
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 3, R"(
job=$(submit array.sbatch --array=1-3 --ntasks-per-node=1 -- "$STUDY" "$OUT/out")
merge=$(submit merge.sbatch --dependency=afterany:$job -- "$OUT/out")
ended "$merge"
ended "$job")",
                                   {kMpirunOnVirtualNodes});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\nCOMPLETED 0\nCOMPLETED 0\nCOMPLETED 0\n") << job.err << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
  for (const std::string slice : {"1", "2", "3"}) {
    const auto part = read_result(site.result("out/slice-" + slice));
    ASSERT_TRUE(part) << to_string(part.errors());
    // 80 points are 26 blocks of 3 and a block of 2: each slice has one point of each whole block, and at most one of
    // the last.
    EXPECT_GE(part->rows.size(), 26U);
    EXPECT_LE(part->rows.size(), 27U);
  }
}

TEST(Array, ALostTaskLeavesRowsMissingUntilItIsSubmittedAgain) {
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 2, R"(
job=$(submit array.sbatch --array=1-2 --ntasks-per-node=1 --hold -- "$STUDY" "$OUT/out")
merge=$(submit merge.sbatch --dependency=afterany:$job -- "$OUT/out")
scancel "${job}_2"
scontrol release "$job"
ended "$merge"
job=$(SLICES=2 submit array.sbatch --array=2 --ntasks-per-node=1 -- "$STUDY" "$OUT/out")
merge=$(submit merge.sbatch --dependency=afterany:$job -- "$OUT/out")
ended "$merge")",
                                   {kMpirunOnVirtualNodes});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "FAILED 3\nCOMPLETED 0\n") << job.err << site.logs();
  EXPECT_THAT(site.logs(), HasSubstr("40 of 80 points have no row yet"));  // 80 points in 40 blocks of 2
  support::expect_same_rows(site.local_result(), site.result("out"));
}

}  // namespace
}  // namespace tenex
