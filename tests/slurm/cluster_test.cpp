// The private cluster itself: nothing of it survives, and where it cannot be made that is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "slurm/cluster.hpp"

namespace tenex {
namespace {

using namespace slurm_tests;
using ::testing::HasSubstr;

/// Processes of this machine whose words name the folder: every daemon of a cluster does.
std::size_t processes_of(const std::filesystem::path& folder) {
  std::size_t count = 0;
  std::error_code error;
  for (const auto& process : std::filesystem::directory_iterator("/proc", error))
    if (support::read_text(process.path() / "cmdline").find(folder.string()) != std::string::npos) ++count;
  return count;
}

TEST(TheCluster, EndsWithItsCommand) {
  const Site site;
  const auto job = site.in_cluster(Kind::hosts, 2, "srun --nodes=2 --ntasks-per-node=1 hostname | sort\nexit 7");
  NEEDS_SLURM(job);
  EXPECT_EQ(job.exit_code, 7) << job.err;
  EXPECT_EQ(job.out, "n1\nn2\n");
  EXPECT_EQ(processes_of(site.path()), 0U);
}

TEST(TheCluster, DiesWithItsTest) {
  const Site site;
  const auto probe = site.in_cluster(Kind::virtual_nodes, 1, "true");
  NEEDS_SLURM(probe);
  const auto child = site.start(Kind::virtual_nodes, 1, "touch \"$OUT/inside\"\nsleep 60");
  for (int i = 0; i < 3000 && !std::filesystem::exists(site.path() / "inside"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(processes_of(site.path()), 4U) << "munged, slurmctld, slurmd and the command";
  child->signal(SIGKILL);
  EXPECT_EQ(child->wait().signal, SIGKILL);
  for (int i = 0; i < 500 && processes_of(site.path()) > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(processes_of(site.path()), 0U);
}

TEST(TheCluster, SaysWhyItCannotBeMade) {
  // Nobody may make namespaces.
  const support::Command as_nobody{
      {TENEX_SOURCE_DIR "/tests/slurm/cluster.sh", "/nowhere/cluster", "virtual", "1", "1", "true"}, {}, {}, true};
  const auto refused = support::run(as_nobody);
  EXPECT_EQ(refused.exit_code, 125);
  EXPECT_THAT(refused.err, HasSubstr("no Slurm here ("));
}

TEST(ContinuousIntegration, DemandsSlurmUnlessItIsSwitchedOff) {
  const char* before = std::getenv("CI");
  const std::string kept = before == nullptr ? "" : before;
  for (const auto& [value, demands] :
       {std::pair{"1", true}, {"true", true}, {"0", false}, {"false", false}, {"", false}}) {
    ::setenv("CI", value, 1);
    EXPECT_EQ(must_have_slurm(), demands) << "CI=" << value;
  }
  ::setenv("CI", kept.c_str(), 1);
}

}  // namespace
}  // namespace tenex
