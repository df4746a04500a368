// Kills a launcher with all its ranks at once, as a node that fails does.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <fstream>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex::crash_tests {

/// The processes below `pid`, through /proc: mpirun puts its ranks into process groups of their own.
inline void collect_descendants(pid_t pid, std::vector<pid_t>& into) {
  std::ifstream children("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  for (pid_t child = 0; children >> child;) {
    into.push_back(child);
    collect_descendants(child, into);
  }
}

/// SIGKILL for every rank, then for the launcher; returns when it is gone.
inline void kill_job(support::Child& job) {
  std::vector<pid_t> ranks;
  collect_descendants(job.pid(), ranks);
  for (const auto rank : ranks) ::kill(rank, SIGKILL);
  job.signal(SIGKILL);
  job.wait();
}

}  // namespace tenex::crash_tests
