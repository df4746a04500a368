// Counts and outlook of a run, computed from the reports of all ranks.
#include "lead_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "coordinator/work_progress.hpp"

namespace tenex {

namespace {

// A run that ends before this writes no progress file.
constexpr auto first_write = std::chrono::milliseconds(500);
constexpr auto write_interval = std::chrono::seconds(1);
constexpr std::size_t most_notes = 64;

std::string phase_of(const RunMoment& moment) {
  if (moment.search == nullptr) return {};
  return fmt::format("search round {} of {}", moment.search->stage() + 1, moment.search->rounds());
}

}  // namespace

LeadProgress::LeadProgress(const Study& study, const RankSetup& setup, const FolderState& state, Estimates& estimates)
    : study_(study),
      folder_(state),
      estimates_(estimates),
      reporter_(setup.quiet, state.done_count - state.elsewhere),
      file_(setup.out),
      next_write_(Clock::now() + first_write) {}

std::vector<LeadProgress::Running> LeadProgress::running_points(const std::vector<Peer>& peers) {
  std::vector<Running> points;
  const auto now = Clock::now();
  for (std::size_t r = 0; r < peers.size(); ++r) {
    const double since = std::chrono::duration<double>(now - peers[r].heard).count();
    for (const auto& running : peers[r].report.running) {
      const auto estimate = estimates_.of(running.point);
      PointAtWork work{estimates_.kind(running.point), estimate.seconds, estimate.threaded,
                       static_cast<int>(running.threads), running.elapsed + since};
      RunningNote note{study_.points.key(running.point), static_cast<std::uint32_t>(r), running.threads, work.elapsed};
      points.push_back({note, work});
    }
  }
  return points;
}

ProgressState LeadProgress::state_of(const RunMoment& moment, std::vector<RunningNote>& running) {
  ProgressState state;
  state.done = folder_.done_count - folder_.elsewhere + moment.other_rows;
  state.total = study_.points.size() - folder_.elsewhere;
  state.failed = folder_.failed_count + moment.given_up;
  state.draining = moment.draining;
  state.phase = phase_of(moment);
  WorkAtHand work;
  work.occupied = folder_.occupied_seconds;
  work.threads = 0;
  for (const auto& peer : moment.peers) {
    state.done += static_cast<std::size_t>(peer.report.evaluated);
    state.failed += static_cast<std::size_t>(peer.report.failed);
    work.occupied += peer.report.occupied_seconds;
    work.threads += peer.lost ? 0 : peer.threads;
  }
  if (moment.work == nullptr || moment.search != nullptr) return state;
  work.expected = &moment.work->expected_work();
  work.costs = moment.work->costs();
  work.longest_waiting = moment.work->longest_waiting();
  work.draining = moment.draining;
  const auto points = running_points(moment.peers);
  for (const auto& point : points) work.running.push_back(point.work);
  const auto outlook = look_ahead(work);
  double longest = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    running.push_back(points[i].note);
    running.back().left_seconds = outlook.running_left[i];
    longest = std::max(longest, outlook.running_left[i]);
  }
  std::ranges::sort(running, std::greater(), &RunningNote::left_seconds);
  // At the time limit the run ends when the points that it has begun have ended.
  state.seconds_left = std::min(outlook.seconds_left, std::max(moment.time_left, longest));
  // What is left may grow when a point takes longer than expected; what is shown as done never shrinks.
  shown_fraction_ = state.done < state.total ? std::max(shown_fraction_, std::min(outlook.fraction, 0.9999)) : 1;
  state.fraction = shown_fraction_;
  return state;
}

void LeadProgress::tell(const RunMoment& moment, const std::vector<std::string>& solver_lines) {
  for (const auto& line : solver_lines) say(line);
  const bool write = Clock::now() >= next_write_;
  if (!write && !reporter_.is_due()) return;
  std::vector<RunningNote> running;
  const auto state = state_of(moment, running);
  reporter_.update(state);
  if (!write) return;
  written_ = true;
  next_write_ = Clock::now() + write_interval;
  running.resize(std::min(running.size(), most_notes));
  file_.put({folder_.incarnation, state.done, state.fraction, state.seconds_left, state.draining, state.phase,
             std::move(running)});
}

void LeadProgress::finish(const RunMoment& moment) {
  std::vector<RunningNote> running;
  const auto state = state_of(moment, running);
  reporter_.finish(state);
  if (!written_ || state.done < state.total) return;
  file_.put({folder_.incarnation, state.done, 1, -1, false, "rows are being merged", {}});
}

void LeadProgress::answer_interrupt(const RunMoment& moment, bool by_key) {
  std::vector<RunningNote> running;
  (void)state_of(moment, running);
  std::string first = "running points finish first";
  if (!running.empty())
    first = fmt::format("{} finish{} first (the longest is expected to take {} more)",
                        running.size() == 1 ? "one running point" : fmt::format("{} running points", running.size()),
                        running.size() == 1 ? "es" : "", to_clock_text(running.front().left_seconds));
  say(fmt::format("{}: no further point begins, {}{}; the same command continues",
                  by_key ? "interrupted" : "asked to stop by a signal", first,
                  by_key ? "; press Ctrl-C again to end now" : ""));
}

}  // namespace tenex
