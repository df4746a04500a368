// What rank 0 tells of the whole run: on stderr, in the folder for `tenex status`, and when it is interrupted.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "coordinator/rank_loop.hpp"
#include "coordinator/work_plan.hpp"
#include "peer.hpp"
#include "search_phase.hpp"
#include "tenex/coordinator/progress.hpp"
#include "tenex/store/run_progress.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

/// What rank 0 knows at one moment.
struct RunMoment {
  const std::vector<Peer>& peers;
  const WorkPlan* plan = nullptr;       ///< null: not made yet
  const SearchPhase* search = nullptr;  ///< whose rounds are not over; null: points are evaluated
  std::size_t other_rows = 0;           ///< written for points that no rank evaluated: pruned or given up
  std::size_t given_up = 0;             ///< of these
  double time_left = std::numeric_limits<double>::infinity();  ///< of the time limit
  bool draining = false;
};

/// Used by the loop's thread.
class LeadProgress {
 public:
  /// All three must outlive it.
  LeadProgress(const Study& study, const RankSetup& setup, const FolderState& state, Estimates& estimates);

  /// To be called in every round: tells what is due to be told.
  void tell(const RunMoment& moment);
  /// Draws the last state, and tells that the merge is next where every point has a row.
  void finish(const RunMoment& moment);
  /// Answers a first interrupt at once: what finishes first, how long that may take, and how to end now. `by_key`: it
  /// was Ctrl-C, not a signal of the batch system.
  void answer_interrupt(const RunMoment& moment, bool by_key);
  /// A line of its own on stderr.
  void say(const std::string& text) { reporter_.say(text); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    RunningNote note;
    PointAtWork work;
  };
  [[nodiscard]] std::vector<Running> running_points(const std::vector<Peer>& peers);
  /// The state with fraction and time left; with the points that run, the one that takes longest first.
  [[nodiscard]] ProgressState state_of(const RunMoment& moment, std::vector<RunningNote>& running);

  const Study& study_;
  const FolderState& folder_;
  Estimates& estimates_;
  ProgressReporter reporter_;
  ProgressFile file_;
  Clock::time_point next_write_;
  bool written_ = false;  ///< the file
};

}  // namespace tenex
