// The main loop of a rank: rank 0 leads, the others follow. The same code runs over MPI, with mailboxes in tests, and
// with one rank.
//
// The loop's thread passes messages, reads signals and shows progress. It never blocks, but sleeps for 50 us to 2 ms
// between rounds (a blocking receive would keep a core busy). The runner's thread evaluates, and the committer's thread
// writes.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "coordinator/node_leases.hpp"
#include "coordinator/point_runner.hpp"
#include "coordinator/transport.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/coordinator/coordinator.hpp"
#include "tenex/coordinator/signals.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

/// Leaves the process at once with this exit code, without destructors: when a launcher would kill it within a second,
/// or a user insists.
using LeaveProcess = std::function<void(int)>;
[[nodiscard]] LeaveProcess leave_process();

/// RunOptions with every default replaced by its value.
struct RankSetup {
  std::filesystem::path out;
  PointRunnerOptions runner;
  OpenOptions open;
  bool quiet = false;
  LogLevel log_level = LogLevel::off;
  EvaluatePoint evaluate_point;
  EstimatePoint estimate_point;
  std::function<std::uint64_t()> count_memory_kills;
  std::function<void()> on_lost_rank;  ///< may be empty
  LeaveProcess leave_the_dead;         ///< leaves the process after rank 0 has died; empty: as on a signal
  std::chrono::duration<double> silence{60};
  std::chrono::duration<double> time_to_commit{10};
  double whole_time_limit = 0;  ///< seconds from the start, for messages; 0: none
  NodeMap nodes;                ///< by rank; empty: every rank has a node of its own
};

/// Fills in threads, memory, time limit and functions. `ranks_on_host` ranks share the host's memory.
[[nodiscard]] RankSetup resolve(const RunOptions& options, int ranks_on_host);

/// Runs rank 0: opens the folder, leases, evaluates too, waits for all others, merges. Errors: as run_with_mpi(), from
/// all ranks.
[[nodiscard]] Result<RunReport> lead(const Study& study, const RankSetup& setup, Transport& transport,
                                     const LeaveProcess& leave = leave_process());
/// Runs any other rank. Returns when rank 0 says that the run is over, with rank 0's errors and counts.
[[nodiscard]] Result<RunReport> follow(const Study& study, const RankSetup& setup, Transport& transport,
                                       const LeaveProcess& leave = leave_process());

}  // namespace tenex
