// Follows the processes of a job: how much they have worked, whatever else the machine does; and kills a launcher with
// all its ranks at once, as a failing node does.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/process.hpp"

namespace tenex::crash_tests {

/// Finds the processes below `pid` in /proc, because mpirun puts its ranks into process groups of their own.
inline void collect_descendants(pid_t pid, std::vector<pid_t>& into) {
  std::ifstream children("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  for (pid_t child = 0; children >> child;) {
    into.push_back(child);
    collect_descendants(child, into);
  }
}

/// CPU seconds of a process and those below it that live.
inline double cpu_seconds(pid_t pid) {
  std::vector<pid_t> processes{pid};
  collect_descendants(pid, processes);
  double ticks = 0;
  for (const auto process : processes) {
    const auto stat = support::read_text("/proc/" + std::to_string(process) + "/stat");
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream words(stat.substr(name_end + 1));
    std::string word;
    for (int number = 3; words >> word && number <= 15;
         ++number)  // 14 and 15: of the process, and of the kernel for it
      if (number >= 14) ticks += std::stod(word);
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

/// Waits until the job has worked for so many CPU seconds from now, or has ended.
inline void let_it_compute(support::Child& job, double seconds) {
  const double begin = cpu_seconds(job.pid());
  while (job.running() && cpu_seconds(job.pid()) < begin + seconds)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// Waits until a run has taken its folder, then until it has worked a little. A killed run leaves its own lock behind,
/// but the new one is written later.
inline void let_it_work(support::Child& child, const std::filesystem::path& out) {
  const auto lock = out / "lock";
  const auto taken_since = [&](std::filesystem::file_time_type begin) {
    std::error_code error;
    const auto written = std::filesystem::last_write_time(lock, error);
    return !error && written > begin;
  };
  const auto begin = std::filesystem::file_time_type::clock::now();
  while (child.running() && !taken_since(begin)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  let_it_compute(child, 0.2);
}

/// Sends SIGKILL to every rank, then to the launcher; returns when the launcher is gone.
inline void kill_job(support::Child& job) {
  std::vector<pid_t> ranks;
  collect_descendants(job.pid(), ranks);
  for (const auto rank : ranks) ::kill(rank, SIGKILL);
  job.signal(SIGKILL);
  job.wait();
}

}  // namespace tenex::crash_tests
