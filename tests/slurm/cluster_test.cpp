// The private cluster itself: none of its processes survive, and errors say why it cannot be started.
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

/// Number of this machine's processes with the folder in their command line, as every daemon of a cluster has.
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
  for (int i = 0; i < 20'000 && !std::filesystem::exists(site.path() / "inside"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GE(processes_of(site.path()), 4U) << "munged, slurmctld, slurmd and the command";
  child->signal(SIGKILL);
  EXPECT_EQ(child->wait().signal, SIGKILL);
  for (int i = 0; i < 6000 && processes_of(site.path()) > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(processes_of(site.path()), 0U);
}

TEST(TheCluster, StartsInAChrootIntoAPlainFolder) {
  // The chroot is made inside a cluster, where mounting is allowed. Mounts are shared there: those of the inner cluster
  // must not propagate.
  const Site site;
  const auto job = site.in_cluster(Kind::virtual_nodes, 1, R"SH(
for entry in /*; do
  if [ -L "$entry" ]; then mkdir -p "$OUT/root" && cp -P "$entry" "$OUT/root/"; fi
  [ -d "$entry" ] && [ ! -L "$entry" ] || continue
  mkdir -p "$OUT/root$entry"
  mount --rbind "$entry" "$OUT/root$entry"
done
mount --make-rshared /
before=$(wc -l </proc/self/mountinfo)
chroot "$OUT/root" unshare --mount true || echo "unshare alone fails"
code=0
chroot "$OUT/root" "$PWD/tests/slurm/cluster.sh" "$OUT/inner" hosts 2 2 \
  bash -c 'srun --nodes=2 --ntasks-per-node=1 sh -c "hostname; test -f $OUT/script.sh" | sort; exit 7' || code=$?
echo "exit code $code, new mounts: $(($(wc -l </proc/self/mountinfo) - before))")SH");
  NEEDS_SLURM(job);
  EXPECT_EQ(job.exit_code, 0) << job.err;
  EXPECT_EQ(job.out, "unshare alone fails\nn1\nn2\nexit code 7, new mounts: 0\n") << job.err;
}

/// Replaces the system's programs: `unshare` refuses the named namespaces, the others do nothing.
class Refusing {
 public:
  explicit Refusing(const std::vector<std::string>& refused) {
    std::string text = "for option; do case $option in";
    for (const auto& kind : refused)
      text += " --" + kind + ") echo 'unshare: no " + kind + ": Operation not permitted' >&2; exit 1 ;;";
    write("unshare", text + " esac; done");
    for (const char* daemon : {"slurmctld", "slurmd", "sbatch", "munged", "ip"}) write(daemon, "exit 0");
    std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  }
  [[nodiscard]] support::Finished cluster(bool as_nobody) const {
    const auto dir = (folder_.path() / "cluster").string();
    const auto path = folder_.path().string() + ":" + std::getenv("PATH");
    return support::run({{TENEX_SOURCE_DIR "/tests/slurm/cluster.sh", dir, "virtual", "1", "1", "true"},
                         {{"PATH", path}},
                         {},
                         as_nobody});
  }

 private:
  void write(const std::string& name, const std::string& text) const {
    support::write_text(folder_.path() / name, "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(folder_.path() / name, std::filesystem::perms(0755));
  }
  support::TemporaryFolder folder_;
};

TEST(TheCluster, SaysWhatWasRefused) {
  for (const std::string kind : {"mount", "net", "pid", "uts", "ipc"}) {
    const auto refused = Refusing({kind}).cluster(false);
    EXPECT_EQ(refused.exit_code, 125);
    EXPECT_THAT(refused.err, HasSubstr("no Slurm here (the " + kind + " namespace is refused to user "));
    EXPECT_THAT(refused.err, HasSubstr(": unshare: no " + kind + ": Operation not permitted) run this "));
  }
}

TEST(TheCluster, AsksForAUserNamespaceOnlyWithoutRoot) {
  const auto others = Refusing({"user", "ipc"}).cluster(true);
  EXPECT_EQ(others.exit_code, 125);
  EXPECT_THAT(others.err, HasSubstr("no Slurm here (the user namespace is refused to user "));
  EXPECT_THAT(others.err, HasSubstr("run this as root"));
  if (::getuid() != 0) return;
  const auto root = Refusing({"user", "map-root-user", "ipc"}).cluster(false);
  EXPECT_EQ(root.exit_code, 125);
  EXPECT_THAT(root.err, HasSubstr("no Slurm here (the ipc namespace is refused to user 0"));
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
