// A private Slurm for a test, and what the test does on a machine without Slurm.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/process.hpp"
#include "support/results.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::slurm_tests {

enum class Kind { virtual_nodes, hosts };

/// Studies of 80 points per two seeds: heavy and light ones, and every collective, with or without a root. Its engine
/// is named, because `auto` takes many times as long for the best schedule of a small network.
inline std::string study_text(int seeds) {
  return "schema = 1\nname = \"jobs\"\nseed = { from = 1, to = " + std::to_string(seeds) + ", step = 1 }\n" + R"TOML(
[defaults]
alpha = "0.5us"
bandwidth = "50GB/s"
attempts = 3

[[sweep]]
axes.topology = ["mesh(4,4)", "torus(8,8)", "mesh(12,12)", "RI(4)_FC(4)_SW(4)"]
axes.collective = ["all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce"]
axes.size = ["1MiB", "64MiB"]
algorithm = "tacos"
engine = "event_driven"
)TOML";
}

/// How much work a study is.
struct JobWork {
  int seeds = 2;
  double pace = 0;  ///< seconds that a point takes without work
};
/// A study that one rank works on for so long, so that something can happen during the run. Where points may be told to
/// take time, they are only 80 and take no work.
inline JobWork work_of(double seconds) {
#ifdef TENEX_FAULT_POINTS
  return {2, seconds / 80};
#else
  constexpr double seconds_of_a_seed = 0.12;
  return {static_cast<int>(seconds / seconds_of_a_seed), 0};
#endif
}

/// A folder with a study, and scripts that run in their own cluster. They have `$STUDY`, `$OUT` (this folder) and the
/// functions of inside.sh; their working directory is the top of the checkout.
class Site {
 public:
  explicit Site(JobWork work = {}) : work_(work) { support::write_text(study(), study_text(work.seeds)); }

  [[nodiscard]] std::filesystem::path path() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path study() const { return path() / "study.toml"; }
  [[nodiscard]] std::filesystem::path result(const std::string& dir) const { return path() / dir / "study.h5"; }

  using Environment = std::vector<std::pair<std::string, std::string>>;

  /// Starts `script` with bash on the first node of a fresh cluster.
  [[nodiscard]] std::unique_ptr<support::Child> start(Kind kind, int nodes, const std::string& script,
                                                      const Environment& environment = {}) const {
    support::write_text(path() / "script.sh", "set -eu\ncd " TENEX_SOURCE_DIR "\n. tests/slurm/inside.sh\n" + script);
    support::Command command;
    command.arguments = {TENEX_SOURCE_DIR "/tests/slurm/cluster.sh",
                         (path() / "cluster").string(),
                         kind == Kind::hosts ? "hosts" : "virtual",
                         std::to_string(nodes),
                         "2",
                         "bash",
                         (path() / "script.sh").string()};
    command.environment = support::mpi_environment();
    command.environment.insert(
        command.environment.end(),
        {{"TENEX", TENEX_BINARY}, {"STUDY", study().string()}, {"OUT", path().string()}, {"OMP_NUM_THREADS", "1"}});
    if (work_.pace > 0) command.environment.emplace_back("TENEX_PACE", std::to_string(work_.pace));
    command.environment.insert(command.environment.end(), environment.begin(), environment.end());
    return std::make_unique<support::Child>(command, path());
  }
  /// Starts it and waits for its end. Exit code 125: there is no Slurm.
  [[nodiscard]] support::Finished in_cluster(Kind kind, int nodes, const std::string& script,
                                             const Environment& environment = {}) const {
    return start(kind, nodes, script, environment)->wait(std::chrono::seconds(400));
  }

  /// The result of the same study on this machine, without Slurm.
  [[nodiscard]] std::filesystem::path local_result() const {
    const auto dir = (path() / "local").string();
    const auto run = support::run({{TENEX_BINARY, "run", study().string(), "--out", dir, "--quiet"}, {}, {}});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return result("local");
  }

  /// The output of the jobs, for messages of failed tests.
  [[nodiscard]] std::string logs() const {
    std::string all;
    for (const auto& file : std::filesystem::directory_iterator(path()))
      if (file.path().extension() == ".log")
        all += file.path().filename().string() + ":\n" + support::read_text(file.path());
    return all;
  }

 private:
  JobWork work_;
  support::TemporaryFolder folder_;
};

/// The launcher for virtual nodes. They are one host: their ranks must not use shared memory segments of the same name.
inline const std::pair<std::string, std::string> kMpirunOnVirtualNodes{"LAUNCHER",
                                                                       "mpirun --bind-to none --mca btl tcp,self"};

/// The hosts that evaluated at least one row of a merged result.
inline std::set<std::string> hosts_of(const std::filesystem::path& result) {
  const auto file = ColumnFileReader::open(result);
  if (!file) return {};
  const auto hosts = file->read_text("/runs/host");
  std::set<std::string> names;
  for (std::size_t row = 0; hosts && row < hosts->rows(); ++row) names.insert(std::string(hosts->at(row)));
  return names;
}

/// Whether a missing Slurm is an error: wherever CI is set.
inline bool must_have_slurm() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && *ci != '\0' && std::string(ci) != "0" && std::string(ci) != "false";
}

}  // namespace tenex::slurm_tests

/// Ends the test if there is no Slurm: skipped with the reason, failed in continuous integration.
#define NEEDS_SLURM(finished)                                                                               \
  do {                                                                                                      \
    if ((finished).exit_code == 125) {                                                                      \
      if (::tenex::slurm_tests::must_have_slurm()) FAIL() << "Slurm is required in CI: " << (finished).err; \
      GTEST_SKIP() << (finished).err;                                                                       \
    }                                                                                                       \
  } while (false)
