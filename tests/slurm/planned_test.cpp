// Submits the sbatch file that `tenex plan --sbatch` writes, unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "slurm/cluster.hpp"

namespace tenex {
namespace {

using namespace slurm_tests;

TEST(PlannedJob, GivesTheRowsOfALocalRun) {
  const Site site;
  // Virtual nodes are one host: see jobs_test.cpp.
  const auto job = site.in_cluster(Kind::virtual_nodes, 2, R"(
"$TENEX" plan "$STUDY" --sbatch "$OUT/planned.sbatch" --ranks 2 --threads 1 >&2
job=$(sbatch --parsable --mem=1000 --output="$OUT/%x-%j.log" "$OUT/planned.sbatch" "$OUT/out")
ended "$job")",
                                   {{"LAUNCHER", "mpirun --bind-to none --mca btl tcp,self"}});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
}

}  // namespace
}  // namespace tenex
