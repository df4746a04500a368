// Kills a launcher with all its ranks at once, as a failing node does.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <fstream>
#include <string>
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

/// Sends SIGKILL to every rank, then to the launcher; returns when the launcher is gone.
inline void kill_job(support::Child& job) {
  std::vector<pid_t> ranks;
  collect_descendants(job.pid(), ranks);
  for (const auto rank : ranks) ::kill(rank, SIGKILL);
  job.signal(SIGKILL);
  job.wait();
}

}  // namespace tenex::crash_tests
