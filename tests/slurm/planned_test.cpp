// Submits jobs that `tenex plan` writes, unchanged, away from the checkout and without the study's file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "slurm/cluster.hpp"

namespace tenex {
namespace {

using namespace slurm_tests;

TEST(PlannedJob, GivesTheRowsOfALocalRunWithoutTheCheckoutAndTheStudy) {
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 2, R"(
mkdir "$OUT/elsewhere"
cd "$OUT/elsewhere"
cp "$STUDY" copied.toml
"$TENEX" plan copied.toml --sbatch planned.sbatch --ranks 2 --threads 1 >&2
rm copied.toml
job=$(env -u TENEX sbatch --parsable --mem=1000 --output="$OUT/%x-%j.log" planned.sbatch "$OUT/out")
ended "$job")",
                                   {kMpirunOnVirtualNodes});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(PlannedJob, IsSubmittedByThePlan) {
  const Site site;
  // What the small nodes here need stands in sbatch's environment.
  const auto job = site.in_cluster(Kind::virtual_nodes, 1, R"(
cd "$OUT"
mkdir elsewhere
cp "$STUDY" elsewhere/copied.toml
export SBATCH_MEM_PER_NODE=1000 SBATCH_OUTPUT=$OUT/job.log
env -u TENEX "$TENEX" plan elsewhere/copied.toml --submit --ranks 1 --threads 1
rm -r elsewhere
ended 1)",
                                   {kMpirunOnVirtualNodes});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "Submitted batch job 1\nthe result will be results/elsewhere/study.h5\nCOMPLETED 0\n")
      << job.err << site.logs();
  support::expect_same_rows(site.local_result(), site.result("results/elsewhere"));
}

}  // namespace
}  // namespace tenex
