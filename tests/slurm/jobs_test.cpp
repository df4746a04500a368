// Submits the sbatch files of jobs/, unchanged, to a private Slurm: the result has the rows of a run without Slurm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "slurm/cluster.hpp"
#include "support/draws.hpp"

namespace tenex {
namespace {

using namespace slurm_tests;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(OneNode, GivesTheRowsOfALocalRun) {
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 1, R"(
job=$(submit one_node.sbatch -- "$STUDY" "$OUT/out")
ended "$job")",
                                   {kMpirunOnVirtualNodes});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(OneNode, GivesThemOnAllCoresOfTheNodeToo) {
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 1, R"(
job=$(sbatch --parsable --mem=1000 --output="$OUT/%x-%j.log" jobs/one_node.sbatch "$STUDY" "$OUT/out")
ended "$job")",
                                   {kMpirunOnVirtualNodes});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(ABatchScript, RunsTenexAloneThoughItsJobHasMoreTasks) {
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 1, R"(
job=$(sbatch --parsable --ntasks=2 --mem=1000 --output="$OUT/%x-%j.log" \
  --wrap "'$TENEX' run '$STUDY' --out '$OUT/out' --quiet")
ended "$job")");
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(AStep, WhoseTasksAreNoRanksOfMpiIsRefused) {
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 1, R"(
srun --mpi=none --ntasks=2 --mem=1000 "$TENEX" run "$STUDY" --out "$OUT/out" || echo "ended with $?")");
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "ended with 2\n") << job.err;
  const std::string message = "error: MPI has 1 rank, and the launcher started 2 processes";
  EXPECT_THAT(job.err, HasSubstr(message));
  EXPECT_EQ(job.err.find(message), job.err.rfind(message)) << "not only the first task says so";
  EXPECT_FALSE(std::filesystem::exists(site.result("out")));
}

TEST(ManyNodes, GivesTheRowsOfALocalRunOnVirtualNodes) {
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 4, R"(
job=$(submit many_nodes.sbatch --ntasks-per-node=1 -- "$STUDY" "$OUT/out")
ended "$job")",
                                   {kMpirunOnVirtualNodes});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
}

const auto some_for_every_host = work_of(6);

TEST(ManyNodes, GivesTheRowsOfALocalRunOnHostsThatSpeakTcp) {
  // With mpirun, which the file chooses without LAUNCHER.
  const Site site(some_for_every_host);
  const auto job = site.in_cluster(Kind::hosts, 3, R"(
job=$(submit many_nodes.sbatch --nodes=3 --ntasks-per-node=2 -- "$STUDY" "$OUT/out")
ended "$job")");
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  EXPECT_THAT(hosts_of(site.result("out")), SizeIs(3)) << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(ManyNodes, GivesTheRowsOfALocalRunThroughSrunBetweenHosts) {
  const Site site(some_for_every_host);
  const auto job = site.in_cluster(Kind::hosts, 3, R"(
job=$(submit many_nodes.sbatch --nodes=3 --ntasks-per-node=1 -- "$STUDY" "$OUT/out")
ended "$job")",
                                   {{"LAUNCHER", "srun --mpi=pmix"}});
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\n") << job.err << site.logs();
  EXPECT_THAT(hosts_of(site.result("out")), SizeIs(3)) << site.logs();
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(AHostfile, BringsRanksOfSeveralHostsTogetherWithoutABatchSystem) {
  const Site site(some_for_every_host);
  const auto job = site.in_cluster(Kind::hosts, 3, R"(
printf 'n%d slots=1\n' 1 2 3 >"$OUT/hosts"
mpirun --hostfile "$OUT/hosts" --bind-to none --mca plm rsh --mca plm_rsh_agent "$OUT/cluster/remote_shell" \
  --mca plm_rsh_no_tree_spawn 1 -x OMP_NUM_THREADS -x TENEX_PACE \
  "$TENEX" run "$STUDY" --out "$OUT/out")");
  NEEDS_SLURM(job);
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_THAT(hosts_of(site.result("out")), SizeIs(3)) << job.err;
  support::expect_same_rows(site.local_result(), site.result("out"));
}

TEST(Scalability, EachTaskOfTheArrayRunsItsNumberOfThreads) {
  const Site site;
  const std::string study = support::long_run() ? "export STUDY=experiments/scalability/small.toml" : "";
  const auto job = site.in_cluster(Kind::virtual_nodes, 2, study + R"(
export RESULTS=$OUT LAUNCHER="mpirun --bind-to none"
job=$(submit scalability.sbatch --array=0-1 --ntasks-per-node=1 --cpus-per-task=2)
ended "$job")");
  NEEDS_SLURM(job);
  EXPECT_EQ(job.out, "COMPLETED 0\nCOMPLETED 0\n") << job.err << site.logs();
  support::expect_same_rows(site.result("scalability-1"), site.result("scalability-2"));
}

/// Runs an sbatch file with bash as on a node, without Slurm.
support::Finished on_a_node(const Site& site, const std::string& words, const std::string& tenex = TENEX_BINARY,
                            const std::string& launcher = "env") {
  return support::run({{"bash", "-c", "cd " TENEX_SOURCE_DIR " && SLURM_JOB_ID=1 bash jobs/" + words},
                       {{"TENEX", tenex}, {"OUT", site.path().string()}, {"LAUNCHER", launcher}},
                       {}});
}

TEST(OneNode, HasARankForEachDomainAndAThreadForEachCore) {
  const Site site;
  // A machine of 2 domains with 4 cores of 2 hardware threads: thread i is of core i mod 8, cores 4 to 7 of domain 1.
  const auto tools = site.path() / "tools";
  std::filesystem::create_directories(tools);
  const auto add = [&](const std::string& name, const std::string& script) {
    support::write_text(tools / name, "#!/bin/bash\n" + script + "\n");
    std::filesystem::permissions(tools / name, std::filesystem::perms::owner_all);
  };
  add("taskset", "echo \"pid 1's current affinity list: 0-15\"");
  add("lscpu",
      "for i in {0..15}; do case $* in *CORE) echo $i,$((i % 8));; *NODE) echo $i,$((i % 8 / 4));; esac; done");
  add("launcher",
      "echo \"$SLURM_NTASKS ranks of $OMP_NUM_THREADS threads, $SLURM_CPUS_PER_TASK $SLURM_TASKS_PER_NODE\"");
  const auto job = [&](const std::string& variables) {
    return support::run(
               {{"bash", "-c",
                 "cd " TENEX_SOURCE_DIR " && " + variables + " SLURM_JOB_ID=1 PATH=" + tools.string() +
                     ":$PATH LAUNCHER=launcher TENEX=/bin/true bash jobs/one_node.sbatch " + site.study().string()},
                {},
                {}})
        .out;
  };
  EXPECT_EQ(job(""), "2 ranks of 4 threads, 4 2\n");
  EXPECT_EQ(job("SLURM_CPUS_PER_TASK=3 SLURM_NTASKS=5 SLURM_TASKS_PER_NODE=5"), "5 ranks of 3 threads, 3 5\n");
}

TEST(TheSbatchFiles, EndWithWhatTenexEndsWithThoughTheLauncherEndsWithZero) {
  const Site site;
  const std::string recovering = "mpirun --enable-recovery --bind-to none -n 2";
  const auto asked = [&](const std::string& options) {
    return on_a_node(site, "one_node.sbatch " + site.study().string() + " \"$OUT/out\" " + options, TENEX_BINARY,
                     recovering);
  };
  // Refused before MPI begins, refused after it has begun, and done.
  EXPECT_EQ(asked("--no-such-option").exit_code, 2);
  EXPECT_EQ(asked("--memory 1parsec").exit_code, 2);
  const auto done = asked("--quiet");
  EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST(TheSbatchFiles, SayWhatIsMissingBeforeANodeIsKeptBusy) {
  const Site site;
  for (const std::string file : {"one_node", "many_nodes", "requeue", "array"}) {
    const auto nothing = on_a_node(site, file + ".sbatch");
    EXPECT_EQ(nothing.exit_code, 2);
    EXPECT_EQ(nothing.err, file + ".sbatch was given no study (it is the first word after the script) sbatch jobs/" +
                               file + ".sbatch STUDY.toml DIR\n");
    const auto no_study = on_a_node(site, file + ".sbatch nowhere.toml out");
    EXPECT_EQ(no_study.exit_code, 2);
    EXPECT_THAT(no_study.err, HasSubstr("nowhere.toml: no such study"));
    const auto no_binary = on_a_node(site, file + ".sbatch experiments/quickstart/study.toml out", "/no/tenex");
    EXPECT_EQ(no_binary.exit_code, 2);
    EXPECT_THAT(no_binary.err, HasSubstr("/no/tenex: no such program"));
  }
  EXPECT_EQ(on_a_node(site, "array.sbatch experiments/quickstart/study.toml \"$OUT\"").err,
            "slice 0 of 0 (they are counted from 1) sbatch --array=1-8 jobs/array.sbatch ...\n");
  EXPECT_THAT(on_a_node(site, "merge.sbatch \"$OUT\"").err, HasSubstr("has no slices"));
  const auto elsewhere = support::run(
      {{"bash", TENEX_SOURCE_DIR "/jobs/one_node.sbatch"}, {{"SLURM_SUBMIT_DIR", site.path().string()}}, {}});
  EXPECT_EQ(elsewhere.exit_code, 2);
  EXPECT_THAT(elsewhere.err,
              EndsWith("submit this from the top of the checkout (jobs/slurm.sh is looked for there)\n"));
}

}  // namespace
}  // namespace tenex
