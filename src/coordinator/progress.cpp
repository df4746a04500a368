// The text of the progress line, and when to draw it.
#include "tenex/coordinator/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace tenex {

namespace {

constexpr std::size_t terminal_bar_width = 30;
constexpr auto terminal_interval = std::chrono::milliseconds(100);
constexpr auto first_line = std::chrono::seconds(1);
constexpr auto line_interval = std::chrono::seconds(10);

}  // namespace

std::string to_clock_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  const auto whole = std::llround(std::ceil(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string progress_line(const ProgressState& state, std::size_t bar_width) {
  const bool weighed = state.fraction >= 0;
  const double share = weighed            ? state.fraction
                       : state.total == 0 ? 1.0
                                          : static_cast<double>(state.done) / static_cast<double>(state.total);
  std::string line;
  if (bar_width > 0) {
    const auto filled = std::min(bar_width, static_cast<std::size_t>(share * static_cast<double>(bar_width)));
    line = "[" + std::string(filled, '#') + std::string(bar_width - filled, '.') + "] ";
  }
  // Rounded down, so that only a finished run shows 100 %.
  const auto percent = static_cast<int>(std::floor(share * 100));
  line += fmt::format("{}/{} points", state.done, state.total);
  line += weighed ? fmt::format(", {}% of the work", percent) : fmt::format(" ({}%)", percent);
  if (state.points_per_second > 0) line += fmt::format(", {:.3g} points/s", state.points_per_second);
  if (!state.phase.empty()) line += ", " + state.phase;
  if (state.failed > 0) line += fmt::format(", {} not ok", state.failed);
  if (state.draining) {
    line += ", finishing running points";
    if (state.seconds_left > 0) line += fmt::format(" ({})", to_clock_text(state.seconds_left));
  } else if (state.done < state.total) {
    line += ", ETA " + to_clock_text(state.seconds_left);
  }
  return line;
}

std::string fitted_progress_line(const ProgressState& state, std::size_t columns) {
  constexpr std::size_t kShortestBar = 5;
  constexpr std::size_t kAround = 3;  // the bar's brackets and the blank after it
  const auto text = progress_line(state, 0);
  const auto room = columns > text.size() + kAround ? columns - text.size() - kAround : 0;
  if (room >= kShortestBar) return progress_line(state, std::min(room, terminal_bar_width));
  return text.substr(0, columns);
}

std::size_t terminal_columns(int descriptor) {
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string solver_line(const SolverMoment& moment) {
  const auto in_us = [](SimTime time) { return static_cast<double>(time.count()) / kPicosecondsPerMicrosecond; };
  std::string line;
  if (moment.epochs >= 0) line += fmt::format("{} epochs, ", moment.epochs);
  if (moment.time > SimTime::zero())
    line += fmt::format("time {:.6g}us, bound {:.6g}us, gap {:.3g} %", in_us(moment.time), in_us(moment.bound),
                        100 * moment.gap);
  else
    line += "no schedule yet";
  return line + fmt::format(", {} nodes, {:.1f}s in solvers", moment.nodes, moment.seconds);
}

SolverProgress once_in(double seconds, SolverProgress show) {
  struct Pace {
    std::mutex mutex;
    double last = 0;  ///< seconds in solvers at the moment shown last
  };
  return [pace = std::make_shared<Pace>(), seconds, show = std::move(show)](const SolverMoment& moment) {
    {
      const std::lock_guard lock(pace->mutex);
      if (moment.seconds < pace->last) pace->last = 0;  // of another result
      if (moment.seconds - pace->last < seconds) return;
      pace->last = moment.seconds;
    }
    show(moment);
  };
}

ProgressReporter::ProgressReporter(bool quiet, std::size_t done_before)
    : quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      done_before_(done_before),
      start_(Clock::now()),
      next_(terminal_ ? start_ : start_ + first_line) {}

void ProgressReporter::update(ProgressState state) {
  if (!is_due()) return;
  next_ = terminal_ ? Clock::now() + terminal_interval : Clock::now() + line_interval;
  draw(std::move(state));
}

void ProgressReporter::say(const std::string& text) {
  const auto line = (terminal_ && last_length_ > 0 ? "\n" : "") + text + "\n";
  last_length_ = 0;  // the bar is drawn anew below this line
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

void ProgressReporter::finish(ProgressState state) {
  if (quiet_) return;
  draw(std::move(state));
  if (terminal_) std::fputc('\n', stderr);
}

void ProgressReporter::draw(ProgressState state) {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  if (elapsed > 0) state.points_per_second = static_cast<double>(state.done - done_before_) / elapsed;
  // The last column stays free: some terminals wrap a line that fills it.
  const auto columns = terminal_ ? terminal_columns(STDERR_FILENO) : 0;
  std::string line = !terminal_    ? progress_line(state, 0)
                     : columns > 1 ? fitted_progress_line(state, columns - 1)
                                   : progress_line(state, terminal_bar_width);
  if (terminal_) {
    const auto length = line.size();
    const auto before = columns > 1 ? std::min(last_length_, columns - 1) : last_length_;
    if (length < before) line.append(before - length, ' ');
    last_length_ = length;
    line.insert(0, "\r");
  } else {
    line += '\n';
  }
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

}  // namespace tenex
