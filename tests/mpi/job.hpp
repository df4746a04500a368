// A job of the probe under mpirun or alone: its folders, its notes, and functions that end it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/merged_rows.hpp"
#include "support/process.hpp"

namespace tenex::testing {

/// A job of the probe: its exit status as a shell reports it, and the numbers that it prints.
class ChildProcess : public support::Child {
 public:
  using Child::Child;

  /// The exit status, 128 + the signal that ended it, or -1 when it is still running after `limit`.
  int wait(std::chrono::seconds limit = support::longest_wait) { return Child::wait(limit).status(); }

  /// The number that follows `name` on standard output, or -1.
  [[nodiscard]] long number(const std::string& name) const {
    std::istringstream words(out());
    for (std::string word; words >> word;) {
      long value = 0;
      if (word == name && words >> value) return value;
    }
    return -1;
  }
};

/// A job's folders and the commands to start it.
class Job {
 public:
  Job() { std::filesystem::create_directories(notes()); }
  [[nodiscard]] std::filesystem::path out() const { return folder_.path() / "results"; }
  [[nodiscard]] std::filesystem::path pid_file(int rank) const { return notes() / ("pid-" + std::to_string(rank)); }
  [[nodiscard]] std::filesystem::path notes() const { return folder_.path() / "notes"; }

  /// `options` are mpirun's own.
  [[nodiscard]] std::unique_ptr<ChildProcess> start(int ranks, const std::vector<std::string>& arguments,
                                                    const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command = {TENEX_MPIRUN, "-np", std::to_string(ranks), "--bind-to", "none"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(TENEX_MPI_PROBE);
    return run(command, arguments);
  }
  /// The process id of a rank that has started.
  [[nodiscard]] int pid_of(int rank) const { return std::stoi(support::read_text(pid_file(rank))); }
  [[nodiscard]] std::unique_ptr<ChildProcess> start_alone(const std::vector<std::string>& arguments) const {
    return run({TENEX_MPI_PROBE, "--alone"}, arguments);
  }
  /// Points that have been evaluated so far: (start, end) by seed.
  using Points = std::multimap<int, std::pair<double, double>>;
  [[nodiscard]] Points evaluated_by(int rank) const {
    Points points;
    std::ifstream lines(notes() / ("points-" + std::to_string(rank)));
    int seed = 0;
    double start = 0;
    double end = 0;
    while (lines >> seed >> start >> end) points.insert({seed, {start, end}});
    return points;
  }
  [[nodiscard]] Points evaluated() const {
    Points points;
    for (int rank = 0; rank < most_ranks; ++rank) points.merge(evaluated_by(rank));
    return points;
  }
  void wait_until_evaluated(std::size_t count) const {
    for (int i = 0; i < 80'000 && evaluated().size() < count; ++i) testing::sleep_seconds(0.003);
    ASSERT_GE(evaluated().size(), count) << "the job does not evaluate";
  }
  void forget_pids() const {
    for (int rank = 0; rank < most_ranks; ++rank) std::filesystem::remove(pid_file(rank));
  }
  void wait_until_started(int ranks) const {
    for (int rank = 0; rank < ranks; ++rank) {
      // The file is whole once it ends in a newline.
      for (int i = 0; i < 80'000 && !support::read_text(pid_file(rank)).ends_with('\n'); ++i)
        testing::sleep_seconds(0.003);
    }
  }
  /// Sends SIGKILL to every rank of the running job and to its mpirun, then waits until all of them are gone.
  void kill_whole(ChildProcess& mpirun, int ranks) const {
    std::vector<int> pids;
    for (int rank = 0; rank < ranks; ++rank) {
      pids.push_back(std::stoi(support::read_text(pid_file(rank))));
      ASSERT_GT(pids.back(), 1);
    }
    mpirun.signal(SIGKILL);
    for (const int pid : pids) kill(pid, SIGKILL);
    EXPECT_EQ(mpirun.wait(), 128 + SIGKILL);
    for (const int pid : pids) support::wait_until_dead(pid);
  }
  [[nodiscard]] std::vector<std::string> rows() const { return testing::merged_rows(out()); }

 private:
  static constexpr int most_ranks = 8;

  [[nodiscard]] std::unique_ptr<ChildProcess> run(std::vector<std::string> command,
                                                  const std::vector<std::string>& arguments) const {
    command.insert(command.end(), {"--out", out().string(), "--notes", notes().string()});
    command.insert(command.end(), arguments.begin(), arguments.end());
    const auto job = folder_.path() / "job";
    std::filesystem::create_directories(job);
    return std::make_unique<ChildProcess>(support::Command{std::move(command), support::mpi_environment(), {}}, job);
  }
  TemporaryFolder folder_;
};

/// The rows of an undisturbed run.
inline std::vector<std::string> rows_of_one_rank(const std::string& points) {
  const Job job;
  const auto child = job.start_alone({"--points", points, "--scale", "0.05"});
  EXPECT_EQ(child->wait(), 0) << child->err();
  return job.rows();
}

}  // namespace tenex::testing
