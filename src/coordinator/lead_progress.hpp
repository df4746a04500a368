// Reports the progress of the whole run: on stderr, in the folder for `tenex status`, and on an interrupt.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "coordinator/open_work.hpp"
#include "coordinator/rank_loop.hpp"
#include "peer.hpp"
#include "search_phase.hpp"
#include "tenex/coordinator/progress.hpp"
#include "tenex/store/run_progress.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

/// The state of the run at one moment, as rank 0 knows it.
struct RunMoment {
  const std::vector<Peer>& peers;
  const OpenWork* work = nullptr;       ///< null: not made yet
  const SearchPhase* search = nullptr;  ///< null when no rounds of a search are left
  std::size_t other_rows = 0;           ///< rows written for points that no rank evaluated: pruned or given up
  std::size_t given_up = 0;             ///< of these: rows of points that were given up
  double time_left = std::numeric_limits<double>::infinity();  ///< of the time limit
  bool draining = false;
};

/// Used by the loop's thread.
class LeadProgress {
 public:
  /// All three must outlive it.
  LeadProgress(const Study& study, const RankSetup& setup, const FolderState& state, Estimates& estimates);

  /// Called in every round: writes each report that is due, and these lines about solvers of rank 0.
  void tell(const RunMoment& moment, const std::vector<std::string>& solver_lines);
  /// Draws the last state, and announces the merge if every point has a row.
  void finish(const RunMoment& moment);
  /// Answers a first interrupt at once: which points finish first, how long that may take, and how to end now.
  /// `by_key`: it was Ctrl-C, not a signal of the batch system.
  void answer_interrupt(const RunMoment& moment, bool by_key);
  /// Writes a line of its own to stderr.
  void say(const std::string& text) { reporter_.say(text); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    RunningNote note;
    PointAtWork work;
  };
  [[nodiscard]] std::vector<Running> running_points(const std::vector<Peer>& peers);
  /// The state with its fraction and time left. `running` gets the running points, the longest first.
  [[nodiscard]] ProgressState state_of(const RunMoment& moment, std::vector<RunningNote>& running);

  const Study& study_;
  const FolderState& folder_;
  Estimates& estimates_;
  ProgressReporter reporter_;
  ProgressFile file_;
  Clock::time_point next_write_;
  bool written_ = false;  ///< the progress file has been written
  double shown_fraction_ = 0;
};

}  // namespace tenex
