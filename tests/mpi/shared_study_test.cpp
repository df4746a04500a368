// One study for all ranks: `tenex run` whose ranks have different files, folders and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/results.hpp"

namespace tenex {
namespace {

namespace fs = std::filesystem;
using support::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto ring_study = R"TOML(schema = 1
name = "ring"
[[sweep]]
topology = "RI(4)"
alpha = "0.5us"
bandwidth = "50GB/s"
axes.collective = ["all_gather", "all_reduce"]
axes.size = { from = "1MiB", to = "64MiB", factor = 2 }
algorithm = "ring"
)TOML";

constexpr auto machine_study = R"TOML(schema = 1
name = "machine"
[[sweep]]
topology = "box.toml"
axes.collective = ["all_gather", "all_reduce"]
size = "8MB"
algorithm = "ring"
)TOML";

/// Runs `mpirun` with one rank per list of words, each in its own working directory; a job that hangs is killed.
support::Finished run_ranks(const std::vector<std::vector<std::string>>& words, const std::vector<fs::path>& folders) {
  support::Command command;
  command.environment = support::mpi_environment();
  command.environment.emplace_back("OMP_NUM_THREADS", "1");
  command.arguments = {TENEX_MPIRUN};
  for (std::size_t rank = 0; rank < words.size(); ++rank) {
    if (rank > 0) command.arguments.push_back(":");
    for (const auto& word : {std::string("-n"), std::string("1"), std::string("-wdir"), folders[rank].string(),
                             std::string("--bind-to"), std::string("none"), std::string(TENEX_BINARY)})
      command.arguments.push_back(word);
    command.arguments.insert(command.arguments.end(), words[rank].begin(), words[rank].end());
  }
  const TemporaryFolder output;
  support::Child job(command, output.path());
  auto finished = job.wait(support::longest_wait);
  EXPECT_TRUE(finished.finished) << "the job hangs: " << finished.err;
  return finished;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
  return times;
}

TEST(SharedStudy, IsRankZerosWhateverTheOthersAreGiven) {
  const TemporaryFolder folder;
  support::write_text(folder.path() / "study.toml", ring_study);
  const auto job = run_ranks(
      {{"run", "study.toml", "--out", "results", "--quiet"}, {"run", "missing.toml", "--out", "elsewhere", "--quiet"}},
      {folder.path(), folder.path()});
  EXPECT_EQ(job.status(), 0) << job.err;
  EXPECT_THAT(job.out, HasSubstr("14 points: 14 evaluated now"));
  EXPECT_TRUE(fs::exists(folder.path() / "results" / "study.h5"));
  EXPECT_FALSE(fs::exists(folder.path() / "elsewhere"));
}

// Every rank draws the same faults: the rows of one rank and of three are equal, cuts included.
TEST(SharedStudy, HasTheSameFaultsOnEveryRank) {
  const TemporaryFolder folder;
  support::write_text(folder.path() / "study.toml", R"TOML(schema = 1
name = "faults"
seed = [1, 2]
[[sweep]]
topology = "torus(3,3)"
alpha = "0.5us"
bandwidth = "50GB/s"
size = "9MB"
axes.collective = ["all_gather", "all_to_all"]
axes.algorithm = ["direct", "pccl"]
axes.faults = ["none", "links 20% draw 1..6", "npus 1 draw 1..3", "links 60% draw 1..3"]
)TOML");
  const auto words = [](const char* out) {
    return std::vector<std::string>{"run", "study.toml", "--out", out, "--quiet"};
  };
  const auto alone = run_ranks({words("one")}, {folder.path()});
  const auto three =
      run_ranks({words("three"), words("three"), words("three")}, {folder.path(), folder.path(), folder.path()});
  EXPECT_EQ(alone.status(), three.status()) << three.err;
  support::expect_same_rows(folder.path() / "one" / "study.h5", folder.path() / "three" / "study.h5");
  const auto result = read_result(folder.path() / "one" / "study.h5");
  ASSERT_TRUE(result.ok());
  const auto has = [&](PointStatus status) {
    return std::ranges::any_of(result->rows, [&](const Evaluation& row) { return row.status == status; });
  };
  EXPECT_TRUE(has(PointStatus::ok));
  EXPECT_TRUE(has(PointStatus::infeasible));  // of 18 pairs, 11 failed
}

TEST(SharedStudy, BringsItsMachineFilesToRanksThatCannotSeeThem) {
  const TemporaryFolder folder;
  const auto here = folder.path() / "here";
  const auto there = folder.path() / "there";
  fs::create_directory(here);
  fs::create_directory(there);
  fs::copy_file(fs::path(TENEX_SOURCE_DIR) / "experiments" / "machines" / "dgx1.toml", here / "box.toml");
  support::write_text(here / "study.toml", machine_study);
  const std::vector<std::string> words{"run", "study.toml", "--out", "results", "--quiet"};
  const auto job = run_ranks({words, words}, {here, there});
  EXPECT_EQ(job.status(), 0) << job.err;
  EXPECT_TRUE(fs::exists(here / "results" / "study.h5"));
  EXPECT_TRUE(fs::is_empty(there)) << "the other rank worked in a folder of its own";
}

TEST(SharedStudy, ThatCannotBeReadEndsAllRanksWithOneMessage) {
  const TemporaryFolder folder;
  support::write_text(folder.path() / "study.toml", ring_study);
  const auto job = run_ranks(
      {{"run", "missing.toml", "--out", "results", "--quiet"}, {"run", "study.toml", "--out", "results", "--quiet"}},
      {folder.path(), folder.path()});
  EXPECT_EQ(job.status(), 2) << job.err;
  EXPECT_EQ(count(job.err, "cannot read \"missing.toml\""), 1U) << job.err;
  EXPECT_FALSE(fs::exists(folder.path() / "results"));
}

TEST(SharedStudy, ForWhichThereIsNoFolderEndsAllRanksWithOneMessage) {
  const TemporaryFolder folder;
  support::write_text(folder.path() / "study.toml", ring_study);
  support::write_text(folder.path() / "results", "text");
  const std::vector<std::string> words{"run", "study.toml", "--out", "results", "--quiet"};
  const auto job = run_ranks({words, words}, {folder.path(), folder.path()});
  EXPECT_EQ(job.status(), 2) << job.err;
  EXPECT_EQ(count(job.err, "results\" is no folder"), 1U) << job.err;
  EXPECT_EQ(support::read_text(folder.path() / "results"), "text");
}

TEST(SharedStudy, EndsAllRanksWhenOneWasGivenAWrongLimit) {
  const TemporaryFolder folder;
  support::write_text(folder.path() / "study.toml", ring_study);
  const auto job = run_ranks({{"run", "study.toml", "--out", "results", "--quiet"},
                              {"run", "study.toml", "--out", "results", "--quiet", "--memory", "8"},
                              {"run", "study.toml", "--out", "results", "--quiet"}},
                             {folder.path(), folder.path(), folder.path()});
  EXPECT_EQ(job.status(), 2) << job.err;
  EXPECT_EQ(count(job.err, "rank 1: --memory"), 1U) << job.err;
  EXPECT_THAT(job.err, Not(HasSubstr("rank 2")));
  EXPECT_FALSE(fs::exists(folder.path() / "results"));
}

}  // namespace
}  // namespace tenex
