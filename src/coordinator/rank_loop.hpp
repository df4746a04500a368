// The main loop of a rank: rank 0 leads, the others follow; the same code runs over MPI, over mailboxes in tests and
// alone.
//
// The loop's thread passes messages, reads signals and shows progress; it never waits but in a sleep that adapts from
// 50 us to 2 ms (a blocking receive would burn a core). Evaluation is the engine's thread, writing is the committer's.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "coordinator/engine.hpp"
#include "coordinator/node_leases.hpp"
#include "coordinator/transport.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/coordinator/coordinator.hpp"
#include "tenex/coordinator/signals.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

/// Leaves the process at once with this exit code, without destructors: when a launcher kills within a second, or a
/// user insists.
using LeaveProcess = std::function<void(int)>;
[[nodiscard]] LeaveProcess leave_process();

/// RunOptions with nothing left open.
struct RankSetup {
  std::filesystem::path out;
  EngineOptions engine;
  OpenOptions open;
  bool quiet = false;
  LogLevel log_level = LogLevel::off;
  EvaluatePoint evaluate_point;
  EstimatePoint estimate_point;
  std::function<std::uint64_t()> count_memory_kills;
  std::function<void()> on_lost_rank;  ///< may be empty
  LeaveProcess leave_the_dead;         ///< how a rank leaves when rank 0 is dead; empty: as on a signal
  std::chrono::duration<double> silence{60};
  double whole_time_limit = 0;  ///< seconds from the start, for messages; 0: none
  NodeMap nodes;                ///< by rank; empty: every rank has a node of its own
};

/// Fills in threads, memory, time limit and functions. `ranks_on_host` share its memory.
[[nodiscard]] RankSetup resolve(const RunOptions& options, int ranks_on_host);

/// Rank 0: opens the folder, leases, evaluates too, waits for all others, merges. Errors: as of run_with_mpi, those of
/// all ranks.
[[nodiscard]] Result<RunReport> lead(const Study& study, const RankSetup& setup, Transport& transport,
                                     const LeaveProcess& leave = leave_process());
/// Any other rank. Returns when rank 0 says that the run is over, with rank 0's errors and counts.
[[nodiscard]] Result<RunReport> follow(const Study& study, const RankSetup& setup, Transport& transport,
                                       const LeaveProcess& leave = leave_process());

}  // namespace tenex
