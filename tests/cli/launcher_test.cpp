// `tenex run` under a launcher whose MPI is not that of this program, shown by its environment variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/seeing.hpp"
#include "support/process.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using testing::rings;
using ::testing::StartsWith;

using Environment = std::vector<std::pair<std::string, std::string>>;

class ALauncher : public testing::Seeing {
 protected:
  support::Finished run_under(Environment environment) {
    const auto words = {
        std::string(TENEX_BINARY), std::string("run"), study(rings("[\"1KiB\"]")), std::string("--out"), out(),
        std::string("--threads"),  std::string("1")};
    for (const auto& root : support::mpi_environment()) environment.push_back(root);
    return support::run({words, environment, {}});
  }
  bool has_result() { return std::filesystem::exists(out() + "/study.h5"); }
};

TEST_F(ALauncher, WhoseMpiDoesNotMatchIsRefused) {
  // As mpirun of Open MPI, mpiexec of MPICH, MVAPICH and srun without PMI start the first of four processes.
  const std::vector<std::pair<std::string, Environment>> launches{
      {"OMPI_COMM_WORLD_SIZE", {{"OMPI_COMM_WORLD_RANK", "0"}}},
      {"PMI_SIZE", {{"PMI_RANK", "0"}}},
      {"MV2_COMM_WORLD_SIZE", {{"MV2_COMM_WORLD_RANK", "0"}}},
      {"SLURM_STEP_NUM_TASKS", {{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}}};
  for (auto [size, environment] : launches) {
    environment.emplace_back(size, "4");
    const auto run = run_under(environment);
    EXPECT_EQ(run.exit_code, 2) << size;
    EXPECT_THAT(run.err, HasSubstr("error: MPI has 1 rank, and the launcher started 4 processes\n  reason: " + size +
                                   "=4, but the launcher does not work with "));
    EXPECT_THAT(run.err,
                HasSubstr("each process would run the whole study\n  help: start the ranks with the mpirun of"));
    EXPECT_THAT(run.err, HasSubstr("unset " + size + "\n"));
    EXPECT_FALSE(has_result()) << size;
  }
}

TEST_F(ALauncher, IsComplainedOfOnce) {
  const auto mpi = run_under({{"PMI_SIZE", "4"}, {"PMI_RANK", "3"}});
  EXPECT_EQ(mpi.exit_code, 2);
  EXPECT_EQ(mpi.err, "");
  const auto step = run_under({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}});
  EXPECT_EQ(step.exit_code, 2);
  EXPECT_EQ(step.err, "");
}

TEST_F(ALauncher, OfOneProcessIsAsGoodAsNone) {
  const std::vector<Environment> launches{
      // A batch script: the job has eight tasks, but no step was started.
      {{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}, {"SLURM_TASKS_PER_NODE", "8"}},
      // The same if Slurm's variables of a step were left without its number.
      {{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}},
      // `srun --ntasks=1` in a job of eight tasks.
      {{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}},
      // `mpirun -n 1` on two hosts: it started a daemon on each by srun.
      {{"OMPI_COMM_WORLD_SIZE", "1"},
       {"OMPI_COMM_WORLD_RANK", "0"},
       {"SLURM_STEP_ID", "0"},
       {"SLURM_STEP_NUM_TASKS", "2"},
       {"SLURM_PROCID", "1"}}};
  for (const auto& environment : launches) {
    const auto run = run_under(environment);
    EXPECT_EQ(run.exit_code, 0) << environment.front().first << run.err;
    EXPECT_TRUE(has_result());
    std::filesystem::remove_all(out());
  }
}

}  // namespace
}  // namespace tenex
