// Progress on stderr: on a terminal a bar that is redrawn; elsewhere a line after a second and then every 10 s.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "tenex/synthesis/solver_progress.hpp"

namespace tenex {

/// The state that a progress line shows.
struct ProgressState {
  std::size_t done = 0;  ///< points, with those of earlier runs
  std::size_t total = 0;
  std::size_t failed = 0;
  double points_per_second = 0;
  double seconds_left = -1;  ///< negative: not known yet
  bool draining = false;
  double fraction = -1;    ///< of the work; negative: not known, so that points are counted
  std::string phase = {};  ///< what the run does before points are evaluated; empty: it evaluates
};

/// "1:02:03", "4:05" or "12s". Negative: "?".
[[nodiscard]] std::string to_clock_text(double seconds);
/// One line without a newline: with a bar of `bar_width` characters, or none where it is 0. Pure.
[[nodiscard]] std::string progress_line(const ProgressState& state, std::size_t bar_width);
/// The same with a bar, in at most `columns` characters: the bar is shorter where they are few, then the end is cut.
[[nodiscard]] std::string fitted_progress_line(const ProgressState& state, std::size_t columns);

/// The characters of a line on the terminal that the file descriptor is, 0 where it is none or does not tell.
[[nodiscard]] std::size_t terminal_columns(int descriptor);

/// One line without a newline about a solver that works: epochs, time, bound, gap, nodes, seconds. Pure.
[[nodiscard]] std::string solver_line(const SolverMoment& moment);
/// Shows the first moment of each `seconds` that solvers take, none of the first ones. Thread-safe if `show` is.
[[nodiscard]] SolverProgress once_in(double seconds, SolverProgress show);

/// Draws to stderr at a bounded rate. Used by one thread.
class ProgressReporter {
 public:
  /// `quiet`: never draws.
  ProgressReporter(bool quiet, std::size_t done_before);
  /// Whether update() would draw.
  [[nodiscard]] bool is_due() const { return !quiet_ && Clock::now() >= next_; }
  /// Draws if it is time: ten times a second on a terminal, every 10 s elsewhere. Sets points_per_second to that of
  /// this run.
  void update(ProgressState state);
  /// Writes a line of its own, even if `quiet`.
  void say(const std::string& text);
  /// Draws the last state and ends the bar's line.
  void finish(ProgressState state);

 private:
  using Clock = std::chrono::steady_clock;
  void draw(ProgressState state);
  bool quiet_;
  bool terminal_;
  std::size_t done_before_;
  Clock::time_point start_;
  Clock::time_point next_;
  std::size_t last_length_ = 0;
};

}  // namespace tenex
